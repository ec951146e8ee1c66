#pragma once
// Holds what the strategies of one outer search share: the prices asked for, the rules, the budget and the
// counts. Each strategy keeps the graphs that it met (strategy.hpp). docs/search.md draws how they meet.
#include <chrono>

#include "viridian/search/assign/cached_source.hpp"
#include "viridian/search/graphs/local_estimate.hpp"
#include "viridian/search/graphs/strategy.hpp"

namespace viridian::search {

class SearchState {
  public:
    // `source` and `objective` must outlive it.
    SearchState(const cost::Source& source, const Objective& objective, const OuterOptions& options);
    SearchState(const SearchState&) = delete;
    SearchState& operator=(const SearchState&) = delete;

    // Assigns the given graph, from which both strategies start; the clock starts afterwards. Errors: those
    // of that assignment.
    Result<void> begin(const graph::Graph& graph);
    // The strategy whose best graph is the result, and the one that runs beside it if the method is `joint`.
    [[nodiscard]] Strategy& lead() { return lead_; }
    [[nodiscard]] Strategy& beside() { return beside_; }

    [[nodiscard]] const OuterOptions& options() const { return options_; }
    [[nodiscard]] const rewrite::Options& rules() const { return rules_; }
    // Says why the search must end now, if it must.
    [[nodiscard]] std::optional<EndedBy> stopped() const;
    [[nodiscard]] Seconds left() const;
    // From now on unknown prices are asked for even if no time is left.
    void ignore_time_limit() { timed_ = false; }

    // Simplifies the lead's best graph once more by all rules that always pay, computes its weights, and
    // solves it to proof. Errors: those of the rewriter and of the source.
    Result<OuterResult> finish() &&;

    // For the strategies. The whole graph's assignment; absent if a kernel or price is missing or the user
    // asked to stop, which is counted.
    Result<std::optional<Outcome>> assign_whole(const graph::Graph& graph);
    // What the estimate says of `graph`; absent as above.
    Result<std::optional<double>> estimate(LocalEstimate& estimate, const graph::Graph& graph);
    // Makes estimates of graphs made from this one, which `outcome` assigns; absent if whole graphs are
    // priced.
    void estimate_from(const graph::Graph& graph, const Outcome& outcome,
                       std::optional<LocalEstimate>& estimate) const;
    // What the other strategy found the graph of this structural hash to cost.
    [[nodiscard]] std::optional<double> known_to_other(const Strategy& asking, std::uint64_t hash) const;
    [[nodiscard]] double best_cost() const { return std::min(lead_.best_cost(), beside_.best_cost()); }
    void count_crowded_out() { ++result_.crowded_out; }
    void report_improvement() { result_.improvements.push_back(now()); }
    void report_progress() const {
        if (options_.progress) options_.progress(now());
    }

  private:
    [[nodiscard]] Result<Outcome> assign(const graph::Graph& graph, const AssignOptions& options) const;
    template <class T>
    Result<std::optional<T>> if_priced(Result<T> answer);
    [[nodiscard]] OuterProgress now() const;
    // Replaces stand-ins by computed weights; returns to the given graph if the certificate does not hold.
    Result<void> retrace();

    CachedSource source_;
    const Objective& objective_;
    OuterOptions options_;
    AssignOptions to_proof_;  // for the graph that is kept
    rewrite::Options rules_;
    rewrite::FoldCache folds_;
    std::chrono::steady_clock::time_point begin_;
    graph::Graph given_;
    Outcome given_outcome_;
    Strategy lead_{*this}, beside_{*this};
    OuterResult result_;
    bool timed_ = false;
    bool cancelled_ = false;
};

}  // namespace viridian::search
