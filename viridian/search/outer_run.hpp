#pragma once
// One outer search under way: prices graphs, remembers those seen and the best, knows when to stop.
#include <chrono>
#include <set>
#include <unordered_map>

#include "viridian/search/outer.hpp"
#include "viridian/search/reassign.hpp"
#include "viridian/search/remember.hpp"

namespace viridian::search {

// A graph on the way, and how the given one becomes it.
struct Place {
    graph::Graph graph;
    rewrite::Certificate certificate;
    double cost = 0;
    bool exact = true;       // the cost is that of the whole graph's assignment
    std::uint64_t hash = 0;  // structural, once priced
};

class OuterRun {
  public:
    OuterRun(const cost::Source& source, const Objective& objective, const OuterOptions& options);

    [[nodiscard]] const OuterOptions& options() const { return options_; }
    [[nodiscard]] const rewrite::Options& rules() const { return rules_; }
    [[nodiscard]] std::size_t graphs() const { return best_.graphs; }  // priced so far
    [[nodiscard]] double best_cost() const { return best_.outcome.assignment.value; }
    [[nodiscard]] Place best() const { return {best_.graph, best_.certificate, best_cost()}; }

    // Two runs from one graph, in turns: budgets and progress count both, and estimates are shared. Refers to
    // the other.
    void share_with(const OuterRun& other) { other_ = &other; }
    // Takes the other's best where that is better.
    void adopt(const OuterRun& other);

    // Prices the first graph; the clock starts after it.
    Result<void> begin(const graph::Graph& graph);
    // Why the search shall end now, if it shall.
    [[nodiscard]] std::optional<EndedBy> stopped() const;
    [[nodiscard]] Seconds left() const;

    // The graph that the next ones are made from, by one substitution or more. Assigns it as a whole; false
    // where it cannot be. `place` stays where it is until the next call.
    Result<bool> stand_on(Place& place);
    // Prices a graph made from that one and keeps it waiting while below α times the best. False: it was seen
    // before, some kernel or price is missing, or the user asked to stop. The best is kept.
    Result<bool> price(Place& place);
    // The same, but that a new best stays an estimate, and that a graph seen before has the cost it had then.
    Result<bool> estimate(Place& place);
    // The same as price(), assigned as a whole; the best only where it costs less than `below`.
    Result<bool> price_whole(Place& place, double below = infinite);

    // What the search may go on from.
    void wait_for(Place place) { waiting_.insert({place.cost, 0, std::move(place)}); }
    // The cheapest that waits.
    std::optional<Place> next();

    // From here on prices are asked for whatever time is left.
    void ask_freely() { searching_ = false; }

    // The best, simplified once more with all rules that always pay, and assigned without haste.
    Result<OuterResult> finish() &&;

  private:
    struct Waiting {
        double cost = 0;
        std::size_t number = 0;  // first come, first served among equals
        Place place;
    };
    struct Cheaper {
        bool operator()(const Waiting& a, const Waiting& b) const {
            return a.cost != b.cost ? a.cost < b.cost : a.number < b.number;
        }
    };
    [[nodiscard]] Result<Outcome> assign(const graph::Graph& graph, const AssignOptions& options) const;
    Result<bool> price(Place& place, bool confirm);  // its hash is known
    // What the other run found this graph to cost.
    [[nodiscard]] std::optional<double> known_elsewhere(std::uint64_t hash) const;
    // Nothing where a kernel or price is missing, or the user asked to stop.
    Result<std::optional<Outcome>> try_assign(const graph::Graph& graph);
    template <class T>
    Result<std::optional<T>> if_priced(Result<T> answer);
    void keep(const Place& place);
    [[nodiscard]] OuterProgress now() const;

    // With the weights in place of their stand-ins; back to the given graph where that does not work out.
    Result<void> retrace();

    Remembered remembered_;
    const Objective& objective_;
    OuterOptions options_;
    AssignOptions unhurried_;
    rewrite::Options rules_;
    rewrite::FoldCache folds_;
    std::chrono::steady_clock::time_point begin_;
    std::unordered_map<std::uint64_t, double> seen_;  // by structural hash: infinite where it has no price
    std::set<Waiting, Cheaper> waiting_;
    Outcome base_;
    std::optional<Reassigner> near_;
    graph::Graph given_;
    Outcome given_outcome_;
    OuterResult best_;
    bool searching_ = false;
    bool cancelled_ = false;
    const OuterRun* other_ = nullptr;
};

// EAGO, Algorithm 1: prices all graphs one substitution away from the cheapest that waits. False: nothing is
// left.
Result<bool> expand(OuterRun& run);
// The same until a budget ends it or nothing is left.
Result<void> backtrack(OuterRun& run);
// Joint changes from here, in turns with Algorithm 1 in a run of its own, until neither finds more or a
// budget ends it. What was priced on the way waits.
Result<void> improve_jointly(OuterRun& run, Place from, OuterRun& beside);

// Rules of the whole network, applied to one graph at a few of its nodes, from the last to the first.
Result<std::vector<Place>> whole_changes(const Place& from, const rewrite::Options& options);
// Prices them; true where one of them is now the best, by a margin.
Result<bool> try_changes(OuterRun& run, std::vector<Place> changes);

}  // namespace viridian::search
