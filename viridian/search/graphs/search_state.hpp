#pragma once
// A SearchState holds what the strategies of one outer search share: the prices asked for, the rules, the
// budget and the counts. Each strategy keeps the graphs that it met (strategy.hpp). docs/search.md draws
// how the strategies use it.
#include <chrono>

#include "viridian/search/assign/cached_source.hpp"
#include "viridian/search/graphs/local_estimate.hpp"
#include "viridian/search/graphs/strategy.hpp"

namespace viridian::search {

class SearchState {
  public:
    // Prepares a search. `source` and `objective` must outlive the object.
    SearchState(const cost::PriceSource& source, const Objective& objective, const OuterOptions& options);
    SearchState(const SearchState&) = delete;
    SearchState& operator=(const SearchState&) = delete;

    // Assigns the given graph, from which the strategies start; the clock starts afterwards. Errors: those
    // of that assignment.
    Result<void> begin(const graph::Graph& graph);
    // lead() is the strategy whose best graph becomes the result; beside() runs in turns with it if the
    // method is `joint`.
    [[nodiscard]] Strategy& lead() { return lead_; }
    [[nodiscard]] Strategy& beside() { return beside_; }

    [[nodiscard]] const OuterOptions& options() const { return options_; }
    [[nodiscard]] const rewrite::Options& rules() const { return rules_; }
    // Returns why the search must end now, or nothing if it may go on.
    [[nodiscard]] std::optional<EndedBy> stopped() const;
    // Returns the time that is left of the limit; it is negative once that is over.
    [[nodiscard]] Seconds left() const;
    // Lets unknown prices be asked for from now on even if no time is left.
    void ignore_time_limit() { timed_ = false; }

    // Makes the result from the lead's best graph. Constants that rules folded are computed now, because
    // stand-ins took the place of large ones during the search. If the certificate does not hold, the result
    // is the given graph. Unless the user cancelled the search, all rules that always pay are applied once
    // more, and the graph is solved to proof if they changed it or its gap is not 0; that answer is kept if
    // it is not worse. Errors: those of the rewriter and of the source.
    Result<OuterResult> finish() &&;

    // Returns the assignment of the whole graph, for the strategies. It is absent if a kernel or price is
    // missing, which is counted, or if time ran out or the user cancelled the search.
    Result<std::optional<Outcome>> assign_whole(const graph::Graph& graph);
    // Returns what `estimate` says of `graph`; it is absent in the same cases.
    Result<std::optional<double>> estimate(LocalEstimate& estimate, const graph::Graph& graph);
    // Sets `estimate` to one for graphs made from `graph`, which `outcome` assigns.
    void estimate_from(const graph::Graph& graph, const Outcome& outcome,
                       std::optional<LocalEstimate>& estimate) const;
    // Returns the cost that the strategy other than `asking` found for the graph of this structural hash,
    // or nothing.
    [[nodiscard]] std::optional<double> known_to_other(const Strategy& asking, std::uint64_t hash) const;
    [[nodiscard]] double best_cost() const { return std::min(lead_.best_cost(), beside_.best_cost()); }
    // Counts a graph that was dropped because too many cheaper ones waited.
    void count_crowded_out() { ++result_.crowded_out; }
    void report_improvement() { result_.improvements.push_back(now()); }
    void report_progress() const {
        if (options_.progress) options_.progress(now());
    }

  private:
    // Assigns a graph as a whole by `options`.
    [[nodiscard]] Result<Outcome> assign(const graph::Graph& graph, const AssignOptions& options) const;
    template <class T>
    // Returns the answer, or nothing in place of the errors that mean that the graph has no price.
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
