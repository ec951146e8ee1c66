#pragma once
// Job is one call of `optimize` under way: each member function is one step, in the order in which
// optimize.cpp calls them.
#include "viridian/base/listener.hpp"
#include "viridian/optimize/result.hpp"

namespace viridian::optimize {

class Job {
  public:
    Job(const graph::Graph& original, Costs& costs, execute::Device* device, const OptimizeOptions& options,
        Listener& listener);
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    // Folds constants (the baseline's graph), then applies the rules that always pay (where the search
    // begins).
    Result<void> rewrite();
    // Computes what the original means on the proof's inputs, with the reference kernels. Nothing without a
    // device.
    Result<void> compute_reference();
    Result<void> forecast_prices();
    // The plan of the folded graph by the first kernel that the library offers, which limits and mixes refer
    // to.
    Result<void> plan_baseline();
    // Searches equal graphs for the one with the cheapest plan.
    Result<void> search();
    // Plans the graph that was found, proves the plan, and plans again without the kernels that are to blame.
    Result<void> plan_and_prove();
    // Runs both plans in turn, with their steps one by one.
    Result<void> measure();
    Result<void> find_frontier();
    // Everything that the steps found. The job is empty afterwards.
    Result<Optimized> result();

  private:
    Result<void> plan_and_prove(const graph::Graph& graph);
    Result<void> record_again();
    [[nodiscard]] Result<prove::TensorSets> proof_inputs(int count) const;

    const graph::Graph& original_;
    Costs& costs_;
    execute::Device* device_;
    Listener& listener_;
    Optimized out_;
    graph::Graph folded_, rewritten_;
    rewrite::Certificate only_folded_;
    std::optional<ProofTask> task_;
    cost::Recording recording_;
    cost::Source source_;  // prices, recorded on the way if the user asked for that
    search::AssignOptions assign_;
    bool stopped_ = false;  // the user ended the search
};

// `original` with constants and shapes folded, and no more. The applications are appended to `certificate`.
[[nodiscard]] Result<graph::Graph> fold(const graph::Graph& original, const std::vector<std::string>& without,
                                        rewrite::Certificate& certificate);

}  // namespace viridian::optimize
