#pragma once
// A PlannedModel is a graph with its plan. The functions below make it ready to run, run it, and measure
// what it costs.
#include "viridian/base/statistics.hpp"
#include "viridian/cost/source.hpp"
#include "viridian/execute/device.hpp"
#include "viridian/optimize/prices/costs.hpp"
#include "viridian/profile/energy.hpp"
#include "viridian/profile/on_demand.hpp"
#include "viridian/search/assign/solvers.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::optimize {

struct PlannedModel {
    graph::Graph graph;
    plan::Plan plan;
    std::unique_ptr<execute::Executable> executable;  // null for a plan that is not run
    search::Metrics totals;                           // predicted
    Seconds solved;                                   // what the solver expected, before bring_to_present()
    std::vector<cost::Price> prices;                  // predicted, by step of the plan
};

// Prices the graph's regions, solves the assignment and lays out the plan. `fewer` are the prices of plans on
// fewer threads, the best of which is taken if it is better; with `only_threads` plans on that many threads
// from end to end are the only ones. With a device the plan carries its fingerprint and its kernels are made
// ready to run; without one (null) the plan cannot be run. Errors: missing_entry if there is no plan on
// `only_threads`, and those of pricing, solving and preparing.
[[nodiscard]] Result<PlannedModel> make_planned(graph::Graph graph, execute::Device* device,
                                                const cost::PriceSource& source,
                                                const search::Objective& objective,
                                                const search::AssignOptions& options,
                                                const std::vector<PlanThreads>& fewer = {},
                                                std::optional<int> only_threads = {});

// Says whether an error only tells that there is no such plan: none keeps the limit, fits into memory, has a
// kernel for every region, was found in time, or gives the original's outputs. Any other error is a fault,
// and whoever leaves the plan out must not leave out the error.
[[nodiscard]] bool tells_of_no_plan(const Error& error);

// Returns on how many threads each step of the plan runs.
[[nodiscard]] std::vector<int> step_threads(const plan::Plan& plan);
// Returns how many threads are busy on average while the model runs, by the predicted seconds of its steps;
// by their number if they have no prices.
[[nodiscard]] double busy_threads(const PlannedModel& planned);

// Changes what is predicted of `planned` to the prices that `source` gives now, which may have been measured
// again since. Kernels that `source` no longer offers keep their prices. Errors: those of pricing.
[[nodiscard]] Result<void> bring_up_to_date(PlannedModel& planned, const cost::PriceSource& source);

// Changes what is predicted of `planned` as the machine changed since its prices were asked for. `energy`
// prices the joules anew if they are estimated; measured ones stay.
void bring_to_present(PlannedModel& planned, const profile::Drift& drift,
                      const profile::EnergyPricer* energy);

// A Measurement is what the runs of one plan took.
struct Measurement {
    Summary seconds;  // of whole runs
    double lost = 0;  // share of the runs' time that other processes took (profile::TimeSlice)
    Energy energy;    // of one run
    // If `energy` is an estimate: what it is if static power takes more of the whole than the model says, and
    // less, by the model's factor either way. Empty if it was metered.
    std::vector<Joules> divided_otherwise;
    std::vector<double> step_seconds;  // medians of recorded runs, by step of the plan
    std::vector<double> alone;         // seconds of each step, timed by itself in turn with the runs

    // Returns the sum of `alone`. It is no prediction: it is taken beside the runs, from the same plan.
    [[nodiscard]] Seconds kernels() const;
};

// Runs the plans in turn, with their steps one by one, and returns `seconds` and `alone` of each. `latency`
// is the core-to-core latency for which the plans were predicted (profile::InterleavedProtocol). Errors:
// those of running and timing.
[[nodiscard]] Result<std::vector<Measurement>> measure_interleaved(
    execute::Device& device, const std::vector<const PlannedModel*>& planned,
    const std::vector<graph::Tensor>& inputs, Seconds latency);

// Sets the joules of one run of `planned`, whose `seconds` are known. A meter measures while the plan runs on
// `inputs`. Errors: those of the meter and of running.
Result<void> set_energy(Measurement& measured, const PlannedModel& planned,
                        const profile::EnergyPricer& energy, const std::vector<graph::Tensor>& inputs);

// Records `runs` runs and returns their trace: one event per step and run; edges say which step reads the
// data of which other. Errors: those of running.
[[nodiscard]] Result<std::unique_ptr<trace::Source>> record_runs(const PlannedModel& planned,
                                                                 const std::vector<graph::Tensor>& inputs,
                                                                 int runs);
// Returns the median seconds of each step over `runs` recorded runs. Errors: those of running.
[[nodiscard]] Result<std::vector<double>> step_seconds(const PlannedModel& planned,
                                                       const std::vector<graph::Tensor>& inputs, int runs);
// Returns the sum of seconds and of energy; the interval of the time stays zero.
[[nodiscard]] cost::Price total(const std::vector<cost::Price>& prices);

}  // namespace viridian::optimize
