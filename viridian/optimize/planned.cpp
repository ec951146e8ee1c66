#include "viridian/optimize/planned.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <numeric>

#include "viridian/plan/step_flows.hpp"
#include "viridian/profile/interleaved.hpp"
#include "viridian/profile/weights.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/trace/record/recorder.hpp"

namespace viridian::optimize {

namespace {

// The prices that the solver chose the steps for. A copy that only the plan's layout asks for is unknown to
// the solver, so the source prices it.
Result<std::vector<cost::Price>> prices_of_steps(const plan::Plan& plan, const cost::PriceSource& source) {
    std::vector<cost::Price> prices;
    for (const plan::Step& step : plan.steps) {
        std::optional<cost::Price> price = step.price;
        invariant(price || step.kind == plan::Step::Kind::conversion, "a chosen kernel has a price");
        if (!price) {
            const plan::Buffer& from = plan.buffers[step.inputs[0]];
            VIRIDIAN_TRY(price,
                         source.conversion(from.dims, from.format, plan.buffers[step.outputs[0]].format));
        }
        prices.push_back(*std::move(price));
    }
    return prices;
}

// A plan on so many threads from end to end, at these prices.
struct Candidate {
    search::Outcome outcome;
    const cost::PriceSource* prices;
    int threads;
};

// The medians of prices are known within two percent each (execute::TimingProtocol). Between plans on
// different numbers of threads, whose prices share no measurement, a smaller difference than this one shows
// nothing.
constexpr double tie = 0.01;  // of the objective's value

// Returns the fastest plan that takes no more joules than `least` does, within what prices can tell apart;
// nothing unless joules alone are minimised.
Result<std::optional<search::Outcome>> fastest_as_lean(const search::Instance& instance,
                                                       const search::Objective& objective,
                                                       search::AssignOptions options,
                                                       const search::Metrics& least) {
    const bool joules_alone = objective.form == search::Objective::Form::sum && objective.terms.size() == 1 &&
                              objective.terms[0].metric == search::Metric::energy && !objective.limit;
    if (!joules_alone) return std::optional<search::Outcome>();
    options.start = least;  // what the limit is relative to
    search::Objective fastest;
    fastest.limit = search::Objective::Limit{search::Metric::energy, 1 + tie};
    auto found = search::solve(instance, fastest, options);
    if (!found.ok()) {
        if (!tells_of_no_plan(found.error())) return found.error();
        return std::optional<search::Outcome>();
    }
    found->assignment.value = found->totals.joules.value * objective.terms[0].factor;
    return std::optional(*std::move(found));
}

// The fastest of the plans whose value is as good as the least, within what prices can tell apart.
Candidate& best_of(std::vector<Candidate>& candidates) {
    double least = HUGE_VAL;
    for (const Candidate& one : candidates) least = std::min(least, one.outcome.assignment.value);
    Candidate* best = nullptr;
    for (Candidate& one : candidates) {
        if (one.outcome.assignment.value > (1 + tie) * least) continue;
        if (best == nullptr || one.outcome.totals.seconds < best->outcome.totals.seconds) best = &one;
    }
    return *best;
}

}  // namespace

Result<PlannedModel> make_planned(graph::Graph graph, execute::Device* device,
                                  const cost::PriceSource& source, const search::Objective& objective,
                                  const search::AssignOptions& options, const std::vector<PlanThreads>& fewer,
                                  std::optional<int> only_threads) {
    VIRIDIAN_TRY(const search::Instance instance, search::Instance::of(graph, source, options));
    VIRIDIAN_TRY(search::Outcome outcome, search::solve(instance, objective, options));
    std::vector<Candidate> candidates;
    const int all_threads = device == nullptr ? 0 : device->threads();
    const auto wanted = [&](int threads) { return !only_threads || threads == *only_threads; };
    double bound = outcome.assignment.bound;
    search::AssignOptions as_good = options;
    as_good.start = outcome.start;  // what the objective is relative to is the same plan
    const search::Metrics least = outcome.totals;
    if (wanted(all_threads)) candidates.push_back({std::move(outcome), &source, all_threads});
    if (!fewer.empty() && wanted(all_threads)) {
        VIRIDIAN_TRY(auto faster, fastest_as_lean(instance, objective, options, least));
        if (faster) candidates.push_back({*std::move(faster), &source, all_threads});
    }
    for (const PlanThreads& on : fewer) {
        if (!wanted(on.threads)) continue;
        VIRIDIAN_TRY(const search::Instance alone, search::Instance::of(graph, on.source, as_good));
        auto another = search::solve(alone, objective, as_good);
        if (!another.ok() && tells_of_no_plan(another.error())) continue;  // within the limit, for example
        VIRIDIAN_TRY(search::Outcome on_fewer, std::move(another));
        bound = std::min(bound, on_fewer.assignment.bound);
        candidates.push_back({std::move(on_fewer), &on.source, on.threads});
    }
    if (candidates.empty())
        return fail(ErrorCode::missing_entry, "allow other numbers of threads",
                    "no plan on {} threads keeps the limit", *only_threads);
    auto& [chosen, prices, threads] = best_of(candidates);
    chosen.assignment.bound = bound;
    VIRIDIAN_TRY(plan::Plan plan, plan::make_plan(graph, std::move(chosen.assignment)));
    plan.predicted_seconds = chosen.totals.seconds;
    PlannedModel planned{std::move(graph), std::move(plan),       nullptr,
                         chosen.totals,    chosen.totals.seconds, {}};
    VIRIDIAN_TRY(planned.prices, prices_of_steps(planned.plan, *prices));
    planned.plan.predicted_energy = total(planned.prices).energy;
    planned.plan.threads = threads;
    if (device == nullptr) return planned;
    planned.plan.device = device->fingerprint();
    planned.plan.library = device->library();
    VIRIDIAN_TRY(execute::check_offered(*device, planned.graph, planned.plan));  // a database is not trusted
    VIRIDIAN_TRY(planned.executable, device->prepare(planned.graph, planned.plan));
    return planned;
}

bool tells_of_no_plan(const Error& error) {
    switch (error.code) {
        case ErrorCode::missing_entry:     // none keeps the limit
        case ErrorCode::invalid_argument:  // none stays within --max-error
        case ErrorCode::unsupported:       // some region has no kernel
        case ErrorCode::limit_exceeded:    // it needs more memory than --memory allows
        case ErrorCode::out_of_memory:     // or than there is
        case ErrorCode::cancelled:         // none was found in time
        case ErrorCode::not_equal:         // none gives the original's outputs
            return true;
        default:
            return false;
    }
}

std::vector<int> step_threads(const plan::Plan& plan) {
    std::vector<int> threads;
    for (const plan::Step& step : plan.steps) {
        const int own = step.kind == plan::Step::Kind::kernel ? step.choice.threads : 0;
        threads.push_back(own == 0 ? plan.threads : own);
    }
    return threads;
}

double busy_threads(const PlannedModel& planned) {
    const std::vector<int> threads = step_threads(planned.plan);
    const bool priced = planned.prices.size() == threads.size();  // a plan from a file is not
    double seconds = 0, busy = 0;
    for (std::size_t s = 0; s < threads.size(); ++s) {
        const double weight = priced ? planned.prices[s].seconds.value : 1;
        seconds += weight;
        busy += weight * threads[s];
    }
    return seconds > 0 ? busy / seconds : planned.plan.threads;
}

Result<void> bring_up_to_date(PlannedModel& planned, const cost::PriceSource& source) {
    const cost::Price before = total(planned.prices);
    for (std::size_t s = 0; s < planned.plan.steps.size(); ++s) {
        const plan::Step& step = planned.plan.steps[s];
        if (step.kind != plan::Step::Kind::kernel) continue;  // conversions are priced once
        VIRIDIAN_TRY(const auto offered, source.choices(planned.graph, step.region));
        for (const cost::PricedChoice& priced : offered)
            if (priced.choice.key() == step.choice.key()) planned.prices[s] = priced.price;
    }
    const cost::Price now = total(planned.prices);
    planned.solved += now.seconds - before.seconds;
    planned.totals.seconds = planned.solved;
    planned.totals.joules += now.energy.value - before.energy.value;
    planned.plan.predicted_seconds = planned.solved;
    planned.plan.predicted_energy = now.energy;
    return {};
}

void bring_to_present(PlannedModel& planned, const profile::Drift& drift,
                      const profile::EnergyPricer* energy) {
    plan::Plan& plan = planned.plan;
    Seconds added;
    for (std::size_t s = 0; s < plan.steps.size(); ++s) {
        const plan::Step& step = plan.steps[s];
        const plan::Buffer& from = plan.buffers[step.inputs.empty() ? step.outputs[0] : step.inputs[0]];
        const profile::Work work =
            step.kind == plan::Step::Kind::kernel
                ? profile::Work::of(planned.graph, step.region)
                : profile::Work::of(from.dims, from.format, plan.buffers[step.outputs[0]].format);
        cost::Price& price = planned.prices[s];
        const double factor = drift.factor(work);
        added += price.seconds * (factor - 1);
        price.seconds = price.seconds * factor;
        price.low = price.low * factor;
        price.high = price.high * factor;
    }
    plan.predicted_seconds += added;
    planned.totals.seconds = plan.predicted_seconds;
    if (energy == nullptr || energy->meter) return;
    plan.predicted_energy = energy->estimate(
        plan.predicted_seconds, profile::memory_traffic(planned.graph, plan), busy_threads(planned));
    planned.totals.joules = plan.predicted_energy.value;
}

Seconds Measurement::kernels() const { return Seconds(std::accumulate(alone.begin(), alone.end(), 0.0)); }

cost::Price total(const std::vector<cost::Price>& prices) {
    cost::Price sum;
    for (const cost::Price& price : prices) {
        sum.seconds += price.seconds;
        sum.energy += price.energy;
    }
    return sum;
}

Result<std::vector<Measurement>> measure_interleaved(execute::Device& device,
                                                     const std::vector<const PlannedModel*>& planned,
                                                     const std::vector<graph::Tensor>& inputs,
                                                     Seconds latency) {
    std::vector<profile::InterleavedPlan> plans;
    for (const PlannedModel* one : planned) {
        VIRIDIAN_TRY(auto outputs, execute::output_tensors(one->graph));
        plans.push_back({&one->graph, &one->plan, {one->executable.get(), inputs, std::move(outputs)}});
    }
    profile::InterleavedProtocol protocol;
    protocol.steps_every = 2;
    protocol.latency = latency;
    VIRIDIAN_TRY(const auto measured, profile::measure_interleaved(device, plans, protocol));
    std::vector<Measurement> ran;
    for (std::size_t i = 0; i < measured.size(); ++i) {
        std::vector<double> alone;
        for (const Seconds step : measured[i].steps) alone.push_back(step.value);
        ran.push_back({measured[i].ran, measured[i].lost, {}, {}, {}, std::move(alone)});
    }
    return ran;
}

namespace {

// The first run's events, in order, say which path each step has.
Result<void> add_edges(const PlannedModel& planned, trace::Recorder& recorder) {
    std::vector<trace::PathId> path_of;
    const auto events = recorder.finish();
    while (path_of.size() < planned.plan.steps.size()) {
        VIRIDIAN_TRY(const auto batch, events->next());
        if (batch.empty()) return {};
        for (const trace::Event& event : batch) path_of.push_back(event.path);
    }
    std::map<std::pair<trace::PathId, trace::PathId>, std::uint64_t> counts;
    for (const auto& [from, to] : plan::step_flows(planned.graph, planned.plan))
        ++counts[{path_of[from], path_of[to]}];
    for (const auto& [ends, count] : counts)
        recorder.about().edges.push_back({ends.first, ends.second, count});
    return {};
}

}  // namespace

Result<std::unique_ptr<trace::Source>> record_runs(const PlannedModel& planned,
                                                   const std::vector<graph::Tensor>& inputs, int runs) {
    const std::size_t events = planned.plan.steps.size() * static_cast<std::size_t>(runs);
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(planned.graph));
    trace::Recorder recorder(1, static_cast<std::uint32_t>(std::max<std::size_t>(events, 1)));
    planned.executable->record(&recorder);
    Result<void> ran;
    for (int run = 0; run < runs && ran.ok(); ++run) ran = run_on(*planned.executable, inputs, outputs);
    planned.executable->record(nullptr);
    VIRIDIAN_TRY(std::move(ran));
    VIRIDIAN_TRY(add_edges(planned, recorder));
    return recorder.finish();
}

Result<std::vector<double>> step_seconds(const PlannedModel& planned,
                                         const std::vector<graph::Tensor>& inputs, int runs) {
    const std::size_t steps = planned.plan.steps.size();
    if (steps == 0) return std::vector<double>();
    VIRIDIAN_TRY(const auto events, record_runs(planned, inputs, runs));
    std::vector<std::vector<double>> times(steps);
    std::size_t next = 0;
    for (;;) {
        VIRIDIAN_TRY(const auto batch, events->next());
        if (batch.empty()) break;
        for (const trace::Event& event : batch)
            times[next++ % steps].push_back(static_cast<double>(event.end - event.start) * 1e-9);
    }
    std::vector<double> medians;
    for (auto& list : times) medians.push_back(summarize(std::move(list)).median);
    return medians;
}

Result<void> set_energy(Measurement& measured, const PlannedModel& planned,
                        const profile::EnergyPricer& energy, const std::vector<graph::Tensor>& inputs) {
    const Summary& seconds = measured.seconds;
    if (!energy.meter) {
        const Bytes moved = profile::memory_traffic(planned.graph, planned.plan);
        const double busy = busy_threads(planned);
        measured.energy = energy.estimate(Seconds(seconds.median), moved, busy);
        for (const double times : {energy.model.factor, 1 / energy.model.factor})
            measured.divided_otherwise.push_back(
                energy.model.with_static_power(times)
                    .estimate(Seconds(seconds.median), busy, cost::InstructionClass::vector, moved)
                    .value);
        return {};
    }
    const execute::Timing timing{Seconds(seconds.minimum), Seconds(seconds.median), Seconds(seconds.low),
                                 Seconds(seconds.high),    seconds.count,           Bytes(0)};
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(planned.graph));
    const auto repeat = [&](Seconds at_least, const execute::Window& window) -> Result<void> {
        Result<void> ran;
        window([&] {
            const auto start = std::chrono::steady_clock::now();
            while (ran.ok() &&
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() <
                       at_least.value)
                ran = run_on(*planned.executable, inputs, outputs);
        });
        return ran;
    };
    VIRIDIAN_TRY(measured.energy, energy.measure(timing, repeat));
    return {};
}

}  // namespace viridian::optimize
