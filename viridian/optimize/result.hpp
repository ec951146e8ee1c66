#pragma once
// Defines the result of `optimize`: the plan of the given model, the better plan, the proof that both
// compute the same, and how the search went. Text, JSON and the page are all made from this struct.
#include "viridian/cost/recording.hpp"
#include "viridian/optimize/options.hpp"
#include "viridian/optimize/prices/costs.hpp"
#include "viridian/optimize/prove_plan.hpp"
#include "viridian/rewrite/certificate.hpp"
#include "viridian/search/objective/hull.hpp"

namespace viridian::optimize {

// A Side is one plan and, if it was run, what it took.
struct Side {
    PlannedModel planned;
    std::optional<Measurement> measured;
};

// A Ratio of two figures, with an interval of at least 95 %: from the ends of their own intervals.
struct Ratio {
    double value = 1, low = 1, high = 1;

    // Returns whether the interval lies above 1, so that a gain is shown.
    [[nodiscard]] bool is_gain() const { return low > 1; }
};

// A Rival is the best plan on another number of threads than the one that was chosen, and what it took.
struct Rival {
    Side side;
    ProvenPlan proof;       // its plan lies in `side`
    double correction = 1;  // of the seconds of its prices
};

struct Optimized {
    std::string model;   // name of the model's file, for people
    std::string device;  // the processor's name, or that of recorded prices
    std::string meter;   // the meter or model of the joules
    // These are the file and schema of recorded prices; empty if prices were measured. With recorded prices
    // nothing was run or proven.
    std::string recorded_file, recorded_schema;
    OptimizeOptions options;  // as the user gave them

    Side baseline;  // constants folded, each region by the first kernel that the library offers
    Side optimized;
    std::optional<ProvenPlan> proof;  // of `optimized`; its plan lies there, not here
    // The best plans on other numbers of threads, if the objective counts joules. All of them were run, and
    // `optimized` is the best as it ran: prices of different numbers of threads share no measurement.
    std::vector<Rival> rivals;
    bool rewrites_dropped = false;     // with any rewrite the outputs would differ by more than is allowed
    rewrite::Certificate certificate;  // from the model to the optimised graph, rule by rule
    std::uint64_t certified_hash = 0;  // structural hash of the graph that the certificate ends in
    search::OuterResult search;        // the course of the search
    std::optional<PriceForecast> forecast;  // prices that were known and missing beforehand
    profile::OnDemandCounts prices;         // how many were found, measured, measured again
    profile::Drift drift;   // of the machine, from when prices were asked for to just before the runs
    double correction = 1;  // of the seconds of the optimised plan's prices, learned from earlier runs
    std::optional<search::Frontier> frontier;
    std::optional<cost::Recording> recording;  // prices that were asked for, if `options.record`
    std::optional<std::string> slow;           // the next step if reference kernels take much of the time
    // The model as it was given, if the user asked to keep it unless a gain is shown, and none is.
    std::optional<graph::Graph> kept_original;
    Seconds elapsed;

    [[nodiscard]] bool uses_bf16() const;  // the optimised plan rounds more than the model does
    // Return the seconds and the joules of the baseline, divided by those of the optimised plan. Both plans
    // must have been run.
    [[nodiscard]] Ratio speedup() const;
    [[nodiscard]] Ratio energy_ratio() const;
    // Returns the same for what the objective minimises. Its terms that no run changes, such as flop, are
    // those of the plans.
    [[nodiscard]] Ratio gain() const;
    // Returns whether `one` is better than `other` as they ran: first by the limit of the objective, then by
    // what it minimises, and among equals by time.
    [[nodiscard]] bool is_better(const Side& one, const Side& other) const;
    // Returns what was expected of the optimised plan and of its rivals, and what they took. They must have
    // been run; `name` is kept as the name of the model.
    [[nodiscard]] std::vector<cost::Residual> residuals(const std::string& name) const;
    // Returns the result in the schema viridian.optimize/1 (docs/architecture.md, "Files"). Code that
    // writes files adds their names.
    [[nodiscard]] Json to_json() const;
};

// Returns the result as text for the terminal.
[[nodiscard]] std::string text(const Optimized& result);

}  // namespace viridian::optimize
