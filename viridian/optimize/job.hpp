#pragma once
// A Job is one call of `optimize` under way. Each member function is one step, in the order in which
// optimize.cpp calls them.
#include "viridian/base/listener.hpp"
#include "viridian/optimize/result.hpp"

namespace viridian::optimize {

class Job {
  public:
    // Begins a job. `device` may be null; all arguments except `options` must outlive it.
    Job(const graph::Graph& original, Costs& costs, execute::Device* device, const OptimizeOptions& options,
        Listener& listener);
    ~Job();
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    // Folds constants, which gives the baseline's graph, then applies the rules that always pay, which
    // gives the graph where the search begins.
    Result<void> rewrite();
    // Computes the outputs of the original on the inputs of the proof, with the reference kernels. Does
    // nothing without a device.
    Result<void> compute_reference();
    // Forecasts how long it takes to measure the prices that both graphs lack, and tells the listener.
    Result<void> forecast_prices();
    // Plans the folded graph by the first kernels that the library offers. Limits and mixes refer to this
    // plan.
    Result<void> plan_baseline();
    // Searches equal graphs for the one whose cheapest plan costs least, by the prices.
    Result<void> search();
    // Plans the graph that was found, proves the plan, and plans again without the kernels that are to
    // blame. If no plan passes, plans the graph that was only folded.
    Result<void> plan_and_prove();
    // Runs both plans in turn, and their steps one by one; where joules count, also the best plans on other
    // numbers of threads, and keeps the best as it ran. Does nothing without a device.
    Result<void> measure();
    // Finds the best trades of time against energy, if the user asked for them.
    Result<void> find_frontier();
    // Returns everything that the steps found. The job is empty afterwards.
    Result<Optimized> result();

  private:
    // Do this for the graph that was found or the one that was only folded, and for one graph.
    Result<void> plan_and_prove_one();
    Result<void> plan_and_prove(const graph::Graph& graph);
    // Plans `written` for other numbers of threads, if prices of those are known, and proves these plans.
    Result<void> find_rivals(const graph::Graph& written);
    // Makes the best of the plans that ran the optimised one.
    void choose_by_runs();
    // Records the prices of both plans' graphs again, because they may have been confirmed since.
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
    cost::PriceSource source_;  // prices, recorded on the way if the user asked for that
    search::AssignOptions assign_;
    bool stopped_ = false;  // the user ended the search
};

// Returns `original` with constants and shapes folded, and no more. `without` names rules that are not
// used. The applications are appended to `certificate`.
[[nodiscard]] Result<graph::Graph> fold(const graph::Graph& original, const std::vector<std::string>& without,
                                        rewrite::Certificate& certificate);

}  // namespace viridian::optimize
