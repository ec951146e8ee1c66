#pragma once
// A graph with its plan, made ready to run; and what it cost when it ran.
#include "viridian/base/statistics.hpp"
#include "viridian/cost/source.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/profile/energy.hpp"
#include "viridian/profile/on_demand.hpp"
#include "viridian/search/assign.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::cli {

struct Planned {
    graph::Graph graph;
    plan::Plan plan;
    std::unique_ptr<execute::Executable> executable;  // none of a plan that is only looked at
    search::Metrics totals;                           // predicted
};

// Regions, prices, assignment, layout of memory, kernels made ready.
[[nodiscard]] Result<Planned> make_planned(graph::Graph graph, execute::Device& device,
                                           const cost::Source& source, const search::Objective& objective,
                                           const search::AssignOptions& options);

// The same without a device: nothing that could run.
[[nodiscard]] Result<Planned> make_plan_only(graph::Graph graph, const cost::Source& source,
                                             const search::Objective& objective,
                                             const search::AssignOptions& options);

struct Ran {
    Summary seconds;                   // of whole runs
    Energy energy;                     // of one run
    std::vector<double> step_seconds;  // medians, by step of the plan
    std::vector<cost::Price> prices;   // of the steps, timed one by one in turn with the runs
};

// Runs these against each other, in turn with their steps one by one: `seconds` and `prices` of each. Joules
// of a step are the database's, for the time it took now.
[[nodiscard]] Result<std::vector<Ran>> run_in_one_spell(execute::Device& device, profile::OnDemand& costs,
                                                        const std::vector<const Planned*>& planned,
                                                        const std::vector<graph::Tensor>& inputs);

// Records `runs` runs: one event per step and run; edges say which step reads whose data.
[[nodiscard]] Result<std::unique_ptr<trace::Source>> record_runs(const Planned& planned,
                                                                 const std::vector<graph::Tensor>& inputs,
                                                                 int runs);
// Median seconds of each step over `runs` recorded runs.
[[nodiscard]] Result<std::vector<double>> step_seconds(const Planned& planned,
                                                       const std::vector<graph::Tensor>& inputs, int runs);
// Joules of one run that takes `seconds`.
[[nodiscard]] Result<Energy> run_energy(const Planned& planned, const profile::EnergyPricer& energy,
                                        const Summary& seconds, const std::vector<graph::Tensor>& inputs);

[[nodiscard]] cost::Price total(const std::vector<cost::Price>& prices);
// Predicted price of every step of the plan.
[[nodiscard]] Result<std::vector<cost::Price>> step_prices(const Planned& planned,
                                                           const cost::Source& source);

}  // namespace viridian::cli
