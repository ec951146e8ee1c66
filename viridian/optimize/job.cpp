#include "viridian/optimize/job.hpp"

#include "viridian/base/units_text.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/optimize/prices/confirm_prices.hpp"
#include "viridian/optimize/reference_share.hpp"
#include "viridian/prove/inputs.hpp"

namespace viridian::optimize {
namespace {

void append(rewrite::Certificate& certificate, rewrite::Certificate more) {
    certificate.insert(certificate.end(), std::make_move_iterator(more.begin()),
                       std::make_move_iterator(more.end()));
}

// Limits are relative to the plan that is made with this objective.
search::Objective without_limit(search::Objective objective) {
    objective.limit.reset();
    return objective;
}

std::string describe(const search::OuterProgress& now, double first) {
    return fmt::format("{} graphs priced, {} waiting, best {:.6g} ({:+.2f} %)", now.graphs, now.waiting,
                       now.best, 100 * (now.best / first - 1));
}

// Names of the rules that do more than fold constants and shapes, and the names in `without`.
std::vector<std::string> all_but_folding(const std::vector<std::string>& without) {
    std::vector<std::string> names = without;
    for (const rewrite::Rule& rule : rewrite::rules())
        if (rule.name != "fold_shapes" && rule.name != "fold_constants" && rule.name != "remove_no_op")
            names.emplace_back(rule.name);
    return names;
}

}  // namespace

Result<graph::Graph> fold(const graph::Graph& original, const std::vector<std::string>& without,
                          rewrite::Certificate& certificate) {
    graph::Graph folded = original;
    VIRIDIAN_TRY(rewrite::Outcome outcome, rewrite::simplify(folded, {.without = all_but_folding(without)}));
    append(certificate, std::move(outcome.certificate));
    return folded;
}

Job::Job(const graph::Graph& original, Costs& costs, execute::Device* device, const OptimizeOptions& options,
         Listener& listener)
    : original_(original), costs_(costs), device_(device), listener_(listener), assign_(options.assign) {
    out_.options = options;
    out_.meter = costs.meter();
    out_.device = costs.device();
    out_.recorded_file = costs.file();
    out_.recorded_schema = costs.schema();
    recording_.device = out_.device;
    source_ = options.record ? recording_.recorded(costs_.source()) : costs_.source();
}

Job::~Job() { costs_.report_to(nullptr, nullptr); }

Result<void> Job::rewrite() {
    listener_.progress("rewriting the model");
    const std::vector<std::string>& without = out_.options.without;
    VIRIDIAN_TRY(folded_, fold(original_, without, out_.certificate));
    only_folded_ = out_.certificate;
    rewritten_ = folded_;
    VIRIDIAN_TRY(rewrite::Outcome rewrites, rewrite::simplify(rewritten_, {.without = without}));
    append(out_.certificate, std::move(rewrites.certificate));
    costs_.price_for(folded_);
    return {};
}

Result<prove::TensorSets> Job::proof_inputs(int count) const {
    prove::TensorSets sets = out_.options.inputs;
    if (!sets.empty() && original_.states().empty()) return sets;
    if (!sets.empty()) {  // states that the caller left out have their first values
        const std::size_t inputs = original_.inputs().size();
        VIRIDIAN_TRY(const auto all, prove::seeded_inputs(original_, out_.options.seed));
        for (std::vector<graph::Tensor>& set : sets)
            if (set.size() == inputs)
                set.insert(set.end(), all.begin() + static_cast<std::ptrdiff_t>(inputs), all.end());
        return sets;
    }
    for (int i = 0; i < count; ++i) {
        VIRIDIAN_TRY(auto set,
                     prove::seeded_inputs(original_, out_.options.seed + static_cast<std::uint64_t>(i)));
        sets.push_back(std::move(set));
    }
    return sets;
}

Result<void> Job::compute_reference() {
    if (device_ == nullptr) return {};
    listener_.progress("computing the original on the reference kernels");
    VIRIDIAN_TRY(const bool large, is_large(original_));
    const int proofs = out_.options.proofs != 0 ? out_.options.proofs : large ? 1 : 3;
    VIRIDIAN_TRY(prove::TensorSets inputs, proof_inputs(proofs));
    const prove::ReferenceCache cache = out_.options.reference.value_or(prove::ReferenceCache({}, ""));
    VIRIDIAN_TRY(prove::ReferenceOutputs expected, cache.outputs(original_, inputs, device_->threads()));
    task_.emplace(
        ProofTask{original_, std::move(inputs), std::move(expected), large, out_.options.max_error});
    return {};
}

Result<void> Job::forecast_prices() {
    listener_.progress("pricing regions");
    VIRIDIAN_TRY(costs_.calibrate());
    VIRIDIAN_TRY(out_.forecast, costs_.forecast({folded_, rewritten_}));
    if (out_.forecast && out_.forecast->missing() > 0)
        listener_.note(fmt::format("{}; Ctrl-C keeps what was measured{}", out_.forecast->text(),
                                   out_.options.method == search::OuterMethod::none
                                       ? ""
                                       : fmt::format(". Then the search, which measures what its graphs need "
                                                     "(--budget {})",
                                                     text(out_.options.budget))));
    costs_.report_to(&listener_, out_.forecast ? &*out_.forecast : nullptr);
    return {};
}

Result<void> Job::plan_baseline() {
    search::AssignOptions first = assign_;
    first.solver = &search::first_solver;
    const search::Objective objective = without_limit(out_.options.objective);
    VIRIDIAN_TRY(confirm_prices(folded_, costs_, objective, first, false));
    VIRIDIAN_TRY(out_.baseline.planned, make_planned(folded_, device_, source_, objective, first));
    assign_.start = out_.baseline.planned.totals;
    return {};
}

Result<void> Job::search() {
    const OptimizeOptions& options = out_.options;
    search::OuterOptions outer;
    outer.method = options.method;
    outer.alpha = options.alpha;
    outer.most_graphs = options.budget.graphs;
    outer.time_limit = options.budget.seconds;
    outer.assign = assign_;
    outer.rules.without = options.without;
    outer.cancelled = [&] { return listener_.cancelled(); };
    outer.progress = [&, first = 0.0](const search::OuterProgress& now) mutable {
        if (first == 0) first = now.best;
        listener_.progress(describe(now, first));
    };
    VIRIDIAN_TRY(out_.search, search::outer_search(rewritten_, source_, options.objective, outer));
    append(out_.certificate, std::move(out_.search.certificate));
    stopped_ = out_.search.ended_by == search::EndedBy::cancelled;
    costs_.report_to(nullptr, nullptr);  // whoever stopped the search gets what it found
    if (stopped_) listener_.progress("stopped: proving the best plan so far");
    return {};
}

Result<void> Job::plan_and_prove(const graph::Graph& graph) {
    const search::Objective& objective = out_.options.objective;
    // A plan names the nodes of its file, so it is the file's graph that is planned and proven.
    VIRIDIAN_TRY(graph::Graph written, onnx::as_written(graph));
    VIRIDIAN_TRY(graph::infer_types(written));
    if (device_ == nullptr) {
        VIRIDIAN_TRY(out_.optimized.planned, make_planned(written, nullptr, source_, objective, assign_));
        for (Side* side : {&out_.baseline, &out_.optimized}) {
            side->planned.plan.device = costs_.device();
            side->planned.plan.library = costs_.schema();
        }
        return {};
    }
    if (!stopped_) VIRIDIAN_TRY(confirm_prices(written, costs_, objective, assign_, true));
    listener_.progress("proving the plan");
    VIRIDIAN_TRY(ProvenPlan proven,
                 optimize::plan_and_prove(written, *task_, *device_, costs_, objective, assign_));
    out_.optimized.planned = std::move(proven.planned);
    out_.proof = std::move(proven);
    return find_rivals(written);
}

Result<void> Job::find_rivals(const graph::Graph& written) {
    constexpr double near = 1.5;  // a plan that is dearer than this by prediction is not run
    out_.rivals.clear();
    const std::vector<PlanThreads> fewer = costs_.on_fewer_threads();
    if (fewer.empty() || stopped_) return {};
    const search::Objective& objective = out_.options.objective;
    const search::Metrics start = assign_.start.value_or(out_.baseline.planned.totals);
    const double value = objective.value(out_.optimized.planned.totals, start);
    std::vector<int> counts = {device_->threads()};
    for (const PlanThreads& on : fewer) counts.push_back(on.threads);
    for (const int threads : counts) {
        if (threads == out_.optimized.planned.plan.threads) continue;
        listener_.progress(fmt::format("proving the best plan on {} threads", threads));
        auto proven =
            optimize::plan_and_prove(written, *task_, *device_, costs_, objective, assign_, threads);
        if (!proven.ok()) {
            if (!tells_of_no_plan(proven.error())) return proven.error();
            listener_.note(fmt::format("the best plan on {} is left out: {}", counted(threads, "thread"),
                                       proven.error().message));
            continue;
        }
        if (objective.value(proven->planned.totals, start) > near * value) continue;
        Side side{std::move(proven->planned), std::nullopt};
        out_.rivals.push_back({std::move(side), *std::move(proven)});
    }
    return {};
}

Result<void> Job::plan_and_prove() {
    VIRIDIAN_TRY(plan_and_prove_one());
    // Prices of the plan were measured again, and the first plan shares some of them.
    return bring_up_to_date(out_.baseline.planned, costs_.source());
}

Result<void> Job::plan_and_prove_one() {
    Result<void> done = plan_and_prove(out_.search.graph);
    if (done.ok() || done.error().code != ErrorCode::not_equal ||
        out_.certificate.size() <= only_folded_.size())
        return done;
    // The rewrites are equal in exact numbers, but not in those that this model holds: plan without any of
    // them.
    costs_.allow_all();
    out_.rewrites_dropped = true;
    out_.certificate = only_folded_;
    out_.search.graph = folded_;
    return plan_and_prove(folded_);
}

Result<void> Job::measure() {
    if (device_ == nullptr) return {};
    listener_.progress("running before and after and what they consist of, interleaved");
    // Predictions are of the machine as it is now, from prices of before; no run goes into them.
    VIRIDIAN_TRY(out_.drift, costs_.drift());
    std::vector<Side*> sides = {&out_.baseline, &out_.optimized};
    for (Rival& rival : out_.rivals) sides.push_back(&rival.side);
    std::vector<const PlannedModel*> planned;
    for (Side* side : sides) {
        bring_to_present(side->planned, out_.drift, costs_.energy());
        planned.push_back(&side->planned);
    }
    const std::vector<graph::Tensor>& inputs = task_->inputs[0];
    VIRIDIAN_TRY(std::vector<Measurement> measured,
                 measure_interleaved(*device_, planned, inputs, out_.drift.latency));
    const profile::EnergyPricer* energy = costs_.energy();
    for (std::size_t i = 0; i < sides.size(); ++i) {
        sides[i]->measured = std::move(measured[i]);
        if (energy == nullptr) continue;
        VIRIDIAN_TRY(set_energy(*sides[i]->measured, sides[i]->planned, *energy, inputs));
    }
    choose_by_runs();
    out_.correction = costs_.correction(out_.optimized.planned.plan.threads);
    for (Rival& rival : out_.rivals) rival.correction = costs_.correction(rival.side.planned.plan.threads);
    VIRIDIAN_TRY(out_.optimized.measured->step_seconds, step_seconds(out_.optimized.planned, inputs, 21));
    if (out_.options.keep_original && !out_.gain().is_gain()) out_.kept_original = original_;
    out_.slow = reference_share_note(out_.optimized.planned, out_.optimized.measured->step_seconds);
    return {};
}

void Job::choose_by_runs() {
    for (Rival& rival : out_.rivals) {
        if (!out_.is_better(rival.side, out_.optimized)) continue;
        std::swap(rival.side, out_.optimized);
        std::swap(rival.proof, *out_.proof);
    }
}

Result<void> Job::find_frontier() {
    if (!out_.options.frontier) return {};
    listener_.progress("best trades of time against energy");
    const graph::Graph& graph = out_.optimized.planned.graph;
    search::AssignOptions limited = assign_;
    const std::vector<graph::NodeId> no_winograd =
        out_.proof ? out_.proof->limits.no_winograd_bf16 : std::vector<graph::NodeId>();
    if (out_.proof) limited.keep_f32 = out_.proof->limits.keep_f32;
    const cost::PriceSource prices = costs_.source();
    const cost::PriceSource allowed = within(prices, no_winograd);
    VIRIDIAN_TRY(const search::Instance instance, search::Instance::of(graph, allowed, limited));
    VIRIDIAN_TRY(search::Frontier frontier, search::frontier(instance, limited));
    for (const PlanThreads& fewer : costs_.on_fewer_threads()) {
        const cost::PriceSource own = within(fewer.source, no_winograd);
        VIRIDIAN_TRY(const search::Instance alone, search::Instance::of(graph, own, limited));
        VIRIDIAN_TRY(search::Frontier more, search::frontier(alone, limited));
        frontier = search::merged(std::move(frontier), std::move(more));
    }
    out_.frontier = std::move(frontier);
    return {};
}

// Measured prices may have been confirmed since they were recorded; conversions are recorded as solvers ask
// for them.
Result<void> Job::record_again() {
    for (const graph::Graph* priced : {&out_.baseline.planned.graph, &out_.optimized.planned.graph}) {
        VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(*priced));
        VIRIDIAN_TRY(recording_.record_again(*priced, regions, costs_.source()));
        VIRIDIAN_TRY(ask_for_all({*priced}, source_));
    }
    return {};
}

Result<Optimized> Job::result() {
    out_.certified_hash = structural_hash(out_.search.graph);
    out_.prices = costs_.counts();
    if (out_.options.record) {
        if (device_ != nullptr) VIRIDIAN_TRY(record_again());
        out_.recording = std::move(recording_);
    }
    return std::move(out_);
}

}  // namespace viridian::optimize
