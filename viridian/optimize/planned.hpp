#pragma once
// Makes a graph with its plan ready to run, runs it, and measures what it costs.
#include "viridian/base/statistics.hpp"
#include "viridian/cost/source.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/profile/energy.hpp"
#include "viridian/profile/on_demand.hpp"
#include "viridian/search/assign/solvers.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::optimize {

struct PlannedModel {
    graph::Graph graph;
    plan::Plan plan;
    std::unique_ptr<execute::Executable> executable;  // null for a plan that is only looked at
    search::Metrics totals;                           // predicted
    std::vector<cost::Price> prices;                  // predicted, by step of the plan
};

// Prices the graph's regions, solves the assignment and lays out the plan. With a device the plan carries its
// fingerprint and its kernels are made ready to run; without one (null) the plan can only be looked at.
[[nodiscard]] Result<PlannedModel> make_planned(graph::Graph graph, execute::Device* device,
                                                const cost::Source& source,
                                                const search::Objective& objective,
                                                const search::AssignOptions& options);

struct Measurement {
    Summary seconds;                   // of whole runs
    Energy energy;                     // of one run
    std::vector<double> step_seconds;  // medians, by step of the plan
    std::vector<cost::Price> prices;   // of the steps, timed one by one in turn with the runs
};

// Runs these against each other, in turn with their steps one by one: `seconds` and `prices` of each. Joules
// of a step are the predicted ones, for the time it took now.
[[nodiscard]] Result<std::vector<Measurement>> measure_interleaved(
    execute::Device& device, const std::vector<const PlannedModel*>& planned,
    const std::vector<graph::Tensor>& inputs);

// Records `runs` runs: one event per step and run; edges say which step reads whose data.
[[nodiscard]] Result<std::unique_ptr<trace::Source>> record_runs(const PlannedModel& planned,
                                                                 const std::vector<graph::Tensor>& inputs,
                                                                 int runs);
// Median seconds of each step over `runs` recorded runs.
[[nodiscard]] Result<std::vector<double>> step_seconds(const PlannedModel& planned,
                                                       const std::vector<graph::Tensor>& inputs, int runs);
// Joules of one run that takes `seconds`.
[[nodiscard]] Result<Energy> run_energy(const PlannedModel& planned, const profile::EnergyPricer& energy,
                                        const Summary& seconds, const std::vector<graph::Tensor>& inputs);

[[nodiscard]] cost::Price total(const std::vector<cost::Price>& prices);

}  // namespace viridian::optimize
