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
    const Measurement& measured = *side.measured;
    json["solved"] = {{"seconds", side.planned.solved.value}};
    json["timed_alone"] = {{"seconds", measured.kernels().value}};
    json["ran"] = {{"seconds", measured.seconds.median}, {"minimum", measured.seconds.minimum},
                   {"low", measured.seconds.low},        {"high", measured.seconds.high},
                   {"runs", measured.seconds.count},     {"lost_share", measured.lost},
                   {"joules", to_json(measured.energy)}};
    json["memory_bytes"] = side.planned.executable->memory().value;
    return json;
}

Json ratio_json(const Ratio& ratio) {
    return {{"value", ratio.value}, {"low", ratio.low}, {"high", ratio.high}};
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
    return {name,
            fmt::format("{:016x}", plan.graph_hash),
            plan.device,
            plan.threads,
            plan.predicted_seconds,
            optimized.measured->kernels(),
            Seconds(optimized.measured->seconds.median),
            "",
            correction};
}

Ratio Optimized::speedup() const {
    const Summary& before = baseline.measured->seconds;
    const Summary& after = optimized.measured->seconds;
    return {before.median / after.median, before.low / after.high, before.high / after.low};
}

// A model's own error is the same for both plans, and its joules follow the seconds, so the interval of the
// ratio is theirs. Metered joules have intervals of their own.
Ratio Optimized::energy_ratio() const {
    const Energy& before = baseline.measured->energy;
    const Energy& after = optimized.measured->energy;
    const double value = before.value / after.value;
    if (after.provenance.kind != Provenance::Kind::estimated)
        return {value, before.low / after.high, before.high / after.low};
    const Ratio time = speedup();
    return {value, value * time.low / time.value, value * time.high / time.value};
}

Ratio Optimized::gain() const {
    enum class End { low, middle, high };
    const auto ran_totals = [](const Side& side, End end) {
        const Measurement& ran = *side.measured;
        const auto of = [&](double low, double middle, double high) {
            return end == End::low ? low : end == End::high ? high : middle;
        };
        search::Metrics totals = side.planned.totals;
        totals.seconds = Seconds(of(ran.seconds.low, ran.seconds.median, ran.seconds.high));
        // The model's own error is the same for both plans.
        const Joules value = ran.energy.value;
        totals.joules = ran.energy.provenance.kind == Provenance::Kind::estimated
                            ? value * (totals.seconds.value / ran.seconds.median)
                            : Joules(of(ran.energy.low.value, value.value, ran.energy.high.value));
        return totals;
    };
    search::Objective objective = options.objective;
    objective.limit.reset();
    const search::Metrics start = ran_totals(baseline, End::middle);
    const auto ratio = [&](End before, End after) {
        return objective.value(ran_totals(baseline, before), start) /
               objective.value(ran_totals(optimized, after), start);
    };
    return {ratio(End::middle, End::middle), ratio(End::low, End::high), ratio(End::high, End::low)};
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
    if (optimized.measured)
        json["ratio"] = {{"seconds", ratio_json(speedup())},
                         {"joules", ratio_json(energy_ratio())},
                         {"objective", ratio_json(gain())},
                         {"kept_original", kept_original.has_value()}};
    if (optimized.measured) json["calibration"]["correction"] = correction;
    if (drift.then.known() && drift.now.known()) {
        json["calibration"]["arithmetic"] = drift.now.arithmetic / drift.then.arithmetic;
        json["calibration"]["memory"] = drift.now.memory / drift.then.memory;
    }
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
    json["layers"] = layers_json(optimized.planned, optimized.measured ? &*optimized.measured : nullptr);
    if (frontier) json["frontier"] = frontier_json(*frontier);
    if (slow) json["warnings"] = Json::array({*slow});
    json["elapsed_seconds"] = elapsed.value;
    return json;
}

}  // namespace viridian::optimize
