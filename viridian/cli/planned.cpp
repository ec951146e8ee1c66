#include "viridian/cli/planned.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "viridian/cli/data_flow.hpp"
#include "viridian/execute/proof.hpp"
#include "viridian/profile/one_spell.hpp"
#include "viridian/profile/weights.hpp"
#include "viridian/trace/recorder.hpp"

namespace viridian::cli {

Result<Planned> make_plan_only(graph::Graph graph, const cost::Source& source,
                               const search::Objective& objective, const search::AssignOptions& options) {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    VIRIDIAN_TRY(const search::Instance instance,
                 search::Instance::make(graph, regions, source, options.boundary, options.keep_f32));
    VIRIDIAN_TRY(search::Outcome outcome, search::solve(instance, objective, options));
    VIRIDIAN_TRY(plan::Plan plan, plan::make_plan(graph, std::move(outcome.assignment)));
    plan.predicted_seconds = Seconds(outcome.totals.seconds);
    Planned planned{std::move(graph), std::move(plan), nullptr, outcome.totals};
    VIRIDIAN_TRY(const std::vector<cost::Price> prices, step_prices(planned, source));
    planned.plan.predicted_energy = total(prices).energy;
    return planned;
}

Result<Planned> make_planned(graph::Graph graph, execute::Device& device, const cost::Source& source,
                             const search::Objective& objective, const search::AssignOptions& options) {
    VIRIDIAN_TRY(Planned planned, make_plan_only(std::move(graph), source, objective, options));
    planned.plan.device = device.fingerprint();
    planned.plan.library = device.library();
    planned.plan.threads = device.threads();
    VIRIDIAN_TRY(planned.executable, device.prepare(planned.graph, planned.plan));
    return planned;
}

Result<std::vector<cost::Price>> step_prices(const Planned& planned, const cost::Source& source) {
    std::vector<cost::Price> prices;
    for (const plan::Step& step : planned.plan.steps) {
        cost::Price price;
        if (step.kind == plan::Step::Kind::conversion) {
            const plan::Buffer& from = planned.plan.buffers[step.inputs[0]];
            VIRIDIAN_TRY(price, source.conversion(from.dims, from.format,
                                                  planned.plan.buffers[step.outputs[0]].format));
        } else {
            VIRIDIAN_TRY(const auto choices, source.choices(planned.graph, step.region));
            for (const cost::PricedChoice& priced : choices)
                if (priced.choice.key() == step.choice.key()) price = priced.price;
        }
        prices.push_back(std::move(price));
    }
    return prices;
}

cost::Price total(const std::vector<cost::Price>& prices) {
    cost::Price sum;
    for (const cost::Price& price : prices) {
        sum.seconds += price.seconds;
        sum.energy += price.energy;
    }
    return sum;
}

Result<std::vector<Ran>> run_in_one_spell(execute::Device& device, profile::OnDemand& costs,
                                          const std::vector<const Planned*>& planned,
                                          const std::vector<graph::Tensor>& inputs) {
    std::vector<profile::SpellPlan> plans;
    for (const Planned* one : planned) {
        VIRIDIAN_TRY(auto outputs, execute::output_tensors(one->graph));
        plans.push_back({&one->graph, &one->plan, {one->executable.get(), inputs, std::move(outputs)}});
    }
    profile::SpellProtocol protocol;
    protocol.steps_every = 2;
    VIRIDIAN_TRY(const auto spell, profile::measure_in_one_spell(device, plans, protocol));
    std::vector<Ran> ran;
    for (std::size_t i = 0; i < spell.size(); ++i) {
        VIRIDIAN_TRY(std::vector<cost::Price> prices, step_prices(*planned[i], costs.source()));
        for (std::size_t s = 0; s < prices.size(); ++s) {
            const double factor =
                prices[s].seconds.value > 0 ? spell[i].steps[s].value / prices[s].seconds.value : 1;
            prices[s].seconds = spell[i].steps[s];
            for (Seconds* end : {&prices[s].low, &prices[s].high}) *end = *end * factor;
            Energy& energy = prices[s].energy;
            for (Joules* joules : {&energy.value, &energy.low, &energy.high}) *joules = *joules * factor;
        }
        ran.push_back({spell[i].ran, {}, {}, std::move(prices)});
    }
    return ran;
}

namespace {

// The first run's events, in order, say which path each step has.
Result<void> add_edges(const Planned& planned, trace::Recorder& recorder) {
    std::vector<trace::PathId> path_of;
    const auto events = recorder.finish();
    while (path_of.size() < planned.plan.steps.size()) {
        VIRIDIAN_TRY(const auto batch, events->next());
        if (batch.empty()) return {};
        for (const trace::Event& event : batch) path_of.push_back(event.path);
    }
    std::map<std::pair<trace::PathId, trace::PathId>, std::uint64_t> counts;
    for (const auto& [from, to] : step_flows(planned.graph, planned.plan))
        ++counts[{path_of[from], path_of[to]}];
    for (const auto& [ends, count] : counts)
        recorder.about().edges.push_back({ends.first, ends.second, count});
    return {};
}

}  // namespace

Result<std::unique_ptr<trace::Source>> record_runs(const Planned& planned,
                                                   const std::vector<graph::Tensor>& inputs, int runs) {
    const std::size_t events = planned.plan.steps.size() * static_cast<std::size_t>(runs);
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(planned.graph));
    trace::Recorder recorder(1, static_cast<std::uint32_t>(std::max<std::size_t>(events, 1)));
    planned.executable->record(&recorder);
    Result<void> ran;
    for (int run = 0; run < runs && ran.ok(); ++run) ran = planned.executable->run(inputs, outputs);
    planned.executable->record(nullptr);
    VIRIDIAN_TRY(std::move(ran));
    VIRIDIAN_TRY(add_edges(planned, recorder));
    return recorder.finish();
}

Result<std::vector<double>> step_seconds(const Planned& planned, const std::vector<graph::Tensor>& inputs,
                                         int runs) {
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

Result<Energy> run_energy(const Planned& planned, const profile::EnergyPricer& energy, const Summary& seconds,
                          const std::vector<graph::Tensor>& inputs) {
    const Bytes weights = profile::weight_traffic(planned.graph, planned.plan);
    const execute::Timing timing{Seconds(seconds.minimum), Seconds(seconds.median), Seconds(seconds.low),
                                 Seconds(seconds.high),    seconds.count,           Bytes(0)};
    VIRIDIAN_TRY(std::vector<graph::Tensor> outputs, execute::output_tensors(planned.graph));
    return energy.price(timing, weights, [&](Seconds budget) -> Result<void> {
        const auto start = std::chrono::steady_clock::now();
        while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < budget.value)
            VIRIDIAN_TRY(planned.executable->run(inputs, outputs));
        return {};
    });
}

}  // namespace viridian::cli
