#include "viridian/optimize/result.hpp"

#include "viridian/base/json.hpp"
#include "viridian/optimize/layers.hpp"
#include "viridian/optimize/precision_result.hpp"
#include "viridian/plan/precision.hpp"

namespace viridian::optimize {
namespace {

Json predicted_json(const PlannedModel& planned) {
    return {{"predicted",
             {{"seconds", planned.plan.predicted_seconds.value},
              {"joules", to_json(planned.plan.predicted_energy)}}},
            {"kernels", planned.plan.steps.size()}};
}

Json side_json(const Side& side) {
    Json json = predicted_json(side.planned);
    if (!side.measured) return json;
    // The plan was chosen by the database's prices; what the same steps took beside the runs is a fairer
    // prediction.
    json["predicted"]["database"] = json["predicted"];
    const Measurement& measured = *side.measured;
    const cost::Price now = total(measured.prices);
    json["predicted"]["seconds"] = now.seconds.value;
    json["predicted"]["joules"] = to_json(now.energy);
    json["ran"] = {{"seconds", measured.seconds.median}, {"minimum", measured.seconds.minimum},
                   {"low", measured.seconds.low},        {"high", measured.seconds.high},
                   {"runs", measured.seconds.count},     {"joules", to_json(measured.energy)}};
    json["memory_bytes"] = side.planned.executable->memory().value;
    return json;
}

Json assignment_json(const plan::Assignment& assignment) {
    return {{"solver", assignment.solver},
            {"value", assignment.value},
            {"bound", assignment.bound},
            {"gap", assignment.gap()}};
}

Json rewrites_json(const rewrite::Certificate& certificate) {
    Json list = Json::array();
    for (const rewrite::Application& entry : certificate)
        list.push_back({{"rule", entry.rule},
                        {"node", entry.node},
                        {"removed", entry.removed},
                        {"before", fmt::format("{:016x}", entry.before)},
                        {"after", fmt::format("{:016x}", entry.after)}});
    return list;
}

Json search_json(const OptimizeOptions& options, const search::OuterResult& result) {
    Json progress = Json::array();
    for (const search::OuterProgress& step : result.improvements)
        progress.push_back({{"graphs", step.graphs}, {"seconds", step.seconds.value}, {"best", step.best}});
    return {{"method", search::name_of(options.method)},
            {"alpha", options.alpha},
            {"budget", text(options.budget)},
            {"graphs", result.graphs},
            {"seconds", result.seconds.value},
            {"ended_by", search::name_of(result.ended_by)},
            {"unpriced", result.unpriced},
            {"crowded_out", result.crowded_out},
            {"improvements", std::move(progress)}};
}

Json frontier_json(const search::Frontier& frontier) {
    Json vertices = Json::array();
    for (const search::Outcome& vertex : frontier.vertices)
        vertices.push_back({{"seconds", vertex.totals.seconds.value},
                            {"joules", vertex.totals.joules.value},
                            {"watts", (vertex.totals.joules / vertex.totals.seconds).value},
                            {"proven", vertex.assignment.gap() <= 0}});
    return {{"vertices", std::move(vertices)}, {"unresolved", frontier.unresolved}};
}

}  // namespace

bool Optimized::uses_bf16() const {
    return plan::rounds(optimized.planned.graph, optimized.planned.plan.assignment);
}

cost::Residual Optimized::residual(const std::string& name) const {
    const plan::Plan& plan = optimized.planned.plan;
    return {
        name,         fmt::format("{:016x}", plan.graph_hash),   plan.device,
        plan.threads, total(optimized.measured->prices).seconds, Seconds(optimized.measured->seconds.median)};
}

Json Optimized::to_json() const {
    const plan::Plan& plan = optimized.planned.plan;
    Json json = {{"schema", "viridian.optimize/1"}, {"model", model}, {"device", device}};
    if (recorded_file.empty()) {
        json["fingerprint"] = plan.device;
        json["library"] = plan.library;
        json["threads"] = plan.threads;
    } else {
        json["recorded"] = {{"file", recorded_file}, {"schema", recorded_schema}};
    }
    json["objective"] = search::text(options.objective);
    json["meter"] = meter;
    json["baseline"] = side_json(baseline);
    json["optimized"] = side_json(optimized);
    json["assignment"] = assignment_json(plan.assignment);
    json["rewrites"] = rewrites_json(certificate);
    json["search"] = search_json(options, search);
    if (forecast) json["forecast"] = forecast->json();
    if (proof) {
        json["verification"] = proof->json();
        if (rewrites_dropped) json["verification"]["rewrites_dropped"] = true;
        json["database"] = {{"hits", prices.hits}, {"misses", prices.misses}, {"again", prices.again}};
        if (options.bf16) json["precision"] = precision_json(optimized.planned, proof->forbidden);
    }
    json["layers"] =
        layers_json(optimized.planned, step_prices(),
                    optimized.measured ? optimized.measured->step_seconds : std::vector<double>());
    if (frontier) json["frontier"] = frontier_json(*frontier);
    if (slow) json["warnings"] = Json::array({*slow});
    json["elapsed_seconds"] = elapsed.value;
    return json;
}

}  // namespace viridian::optimize
