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
    Json json = {{"solver", assignment.solver},
                 {"value", assignment.value},
                 {"bound", assignment.bound},
                 {"gap", assignment.gap()}};
    if (assignment.cheapest_kernels) json["cheapest_kernels"] = *assignment.cheapest_kernels;
    return json;
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

enum class End { low, middle, high };

// A View picks one of the values that a side which ran may truly have: the lower end, the middle or the upper
// end of its seconds and metered joules; for estimated joules also an entry of `divided_otherwise`.
struct View {
    End end = End::middle;
    std::optional<std::size_t> division = {};
};

search::Metrics ran_totals(const Side& side, View view) {
    const Measurement& ran = *side.measured;
    const auto at_end = [&](double low, double middle, double high) {
        return view.end == End::low ? low : view.end == End::high ? high : middle;
    };
    search::Metrics totals = side.planned.totals;
    totals.seconds = Seconds(at_end(ran.seconds.low, ran.seconds.median, ran.seconds.high));
    if (ran.energy.provenance.kind == Provenance::Kind::estimated) {
        const Joules value = view.division ? ran.divided_otherwise[*view.division] : ran.energy.value;
        totals.joules = value * (totals.seconds.value / ran.seconds.median);
    } else {
        totals.joules = Joules(at_end(ran.energy.low.value, ran.energy.value.value, ran.energy.high.value));
    }
    return totals;
}

// What `objective` minimises, of `before` divided by that of `after`. What a model of energy gets wrong of
// the whole is the same for both, but not how it divides power between the cores that work and all else: the
// interval covers both ends of the times and every division.
Ratio ratio_of(const Side& before, const Side& after, search::Objective objective) {
    objective.limit.reset();
    const auto ratio = [&](View of_before, View of_after) {
        const search::Metrics start = ran_totals(before, {End::middle, of_before.division});
        return objective.value(ran_totals(before, of_before), start) /
               objective.value(ran_totals(after, of_after), start);
    };
    Ratio result{ratio({}, {}), ratio({End::low}, {End::high}), ratio({End::high}, {End::low})};
    for (std::size_t i = 0; i < after.measured->divided_otherwise.size(); ++i) {
        result.low = std::min(result.low, ratio({End::low, i}, {End::high, i}));
        result.high = std::max(result.high, ratio({End::high, i}, {End::low, i}));
    }
    return result;
}

// Between plans on different numbers of threads a smaller difference than this shows nothing.
constexpr double no_difference = 0.01;

Json rivals_json(const std::vector<Rival>& rivals) {
    Json list = Json::array();
    for (const Rival& rival : rivals)
        list.push_back({{"threads", rival.side.planned.plan.threads}, {"plan", side_json(rival.side)}});
    return list;
}

}  // namespace

bool Optimized::uses_bf16() const {
    return plan::rounds(optimized.planned.graph, optimized.planned.plan.assignment);
}

std::vector<cost::Residual> Optimized::residuals(const std::string& name) const {
    std::vector<cost::Residual> all;
    const auto add = [&](const Side& side, double corrected_by) {
        const plan::Plan& plan = side.planned.plan;
        all.push_back({name, fmt::format("{:016x}", plan.graph_hash), plan.device, plan.threads,
                       plan.predicted_seconds, side.measured->kernels(),
                       Seconds(side.measured->seconds.median), "", corrected_by});
    };
    add(optimized, correction);
    for (const Rival& rival : rivals) add(rival.side, rival.correction);
    return all;
}

Ratio Optimized::speedup() const {
    const Summary& before = baseline.measured->seconds;
    const Summary& after = optimized.measured->seconds;
    return {before.median / after.median, before.low / after.high, before.high / after.low};
}

Ratio Optimized::energy_ratio() const {
    search::Objective energy;
    energy.terms = {{search::Metric::energy, 1}};
    return ratio_of(baseline, optimized, energy);
}

Ratio Optimized::gain() const { return ratio_of(baseline, optimized, options.objective); }

bool Optimized::is_better(const Side& one, const Side& other) const {
    const search::Metrics start = ran_totals(baseline, {});
    const search::Metrics its = ran_totals(one, {}), others = ran_totals(other, {});
    const search::Objective& objective = options.objective;
    if (const bool keeps = objective.within_limit(its, start); keeps != objective.within_limit(others, start))
        return keeps;
    const double value = objective.value(its, start), than = objective.value(others, start);
    if (std::max(value, than) > (1 + no_difference) * std::min(value, than)) return value < than;
    return its.seconds * (1 + no_difference) < others.seconds;
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
    if (!rivals.empty()) json["on_other_threads"] = rivals_json(rivals);
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
