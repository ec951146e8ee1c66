#pragma once
// ParametricFlow computes the exact time-energy frontier of a pipeline: the least energy E(T) for every
// deadline T (docs/method.md, section 8). Minimising the sum of convex unit costs under a deadline is the
// dual of a parametric minimum-cost flow, whose arcs get longer as their units run slower (Fulkerson 1961,
// Kelley 1961). The class sends flow along the longest paths first. In this way it visits every breakpoint of
// E(T), from the slowest plan to the fastest. The flow sent so far equals -dE/dT. All lengths, flows and
// costs are integers, so nothing is rounded.
//
// Every node of the residual graph (residual.hpp) has a time. An arc is tight if its length equals the time
// between its two ends. A node is standing if tight arcs lead to it from the source: its time stays the same
// while the deadline falls. Standing nodes form a tree. Every other node is falling: its time falls with the
// deadline, so it is stored relative to the deadline. An arc from a standing to a falling node becomes tight
// at one known deadline, which is kept as an event (event_queue.hpp). When the tree reaches the sink, flow is
// sent along it. This closes arcs, and the nodes behind them become orphans: each finds another tight arc
// from the tree or falls (as in Boykov and Kolmogorov 2004). If one path does not suffice because many paths
// are tight at once (balanced stages), Dinic's phases send the rest.
#include <cstdint>
#include <vector>

#include "viridian/pipeline/exact/event_queue.hpp"
#include "viridian/pipeline/exact/residual.hpp"

namespace viridian::pipeline {

// FlowSolution holds the event times (primal) and the flows (dual) at one deadline. `certify`
// (certificate.hpp) needs nothing else.
struct FlowSolution {
    Nanoseconds time = 0;                    // the deadline
    std::vector<Nanoseconds> start, finish;  // per unit
    // Per unit the flow in nanowatts through the unit and over its other arcs (see `Residual::through`).
    std::vector<std::int64_t> unit, from_rank, from_data, from_source, to_sink;
    std::int64_t total = 0;  // flow from source to sink, nanowatts; a subgradient -dE/dT at `time`
};

class ParametricFlow {
  public:
    // Begins at the longest useful time, at which every unit has its least cost. The network must fit
    // (`Residual::fits`).
    explicit ParametricFlow(const Network& network);

    // Returns the present deadline.
    [[nodiscard]] Nanoseconds time() const { return time_; }
    // Returns the least cost at that deadline, in attojoules above waiting.
    [[nodiscard]] Int128 cost() const { return cost_; }
    // Returns -dE/dT in nanowatts between the present deadline and the slower one visited before it. It is 0
    // before the first `advance`.
    [[nodiscard]] std::int64_t slope() const { return total_; }

    // Moves to the next faster breakpoint, or to `deadline` if that comes first. Returns false and moves
    // nowhere if `deadline` or the fastest plan is reached already.
    bool advance(Nanoseconds deadline = 0);
    // Returns times and flows at the present deadline. The second form reuses the memory of `into`.
    [[nodiscard]] FlowSolution solution() const;
    void solution(FlowSolution& into) const;

  private:
    enum class Side : std::uint8_t { falling, standing, orphan };
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    // Returns whether arc `a`, which leaves the node `from`, is open and tight. Both its ends must stand.
    [[nodiscard]] bool tight(int a, int from) const {
        return graph_.arc(a).room > 0 &&
               value_[at(graph_.arc(a).to)] - value_[at(from)] == graph_.arc(a).length;
    }
    // Handles the open arc `a` from the standing node `from` to a falling node. If the arc is tight now, its
    // head stands; otherwise the deadline at which it becomes tight is queued as an event.
    void meet(int a, int from);
    void stand(int node, int by);  // `by` is the tree's arc into `node`, -1 for the source
    void spread();                 // lets nodes stand that tight arcs reach from those that newly stand
    void fall(int node);

    // Sends flow until the tree no longer reaches the sink. Returns false if the flow has no limit, which
    // means that the present plan is the fastest.
    bool open();
    bool send_along_tree();     // sends flow along the tree's path to the sink; false: it has no limit
    bool finish_with_phases();  // sends all other flow by Dinic's algorithm; false: it has no limit
    void collect_orphans();     // adds the nodes whose path in the tree leads through an orphan
    void adopt_orphans();       // hangs orphans on other tight arcs
    void drop_orphans();        // lets the remaining orphans fall
    bool levels();              // Dinic's search by breadth; false if it does not reach the sink
    bool blocking_flow();       // Dinic's flow along those levels; false: it has no limit

    Residual graph_;
    std::vector<Nanoseconds> value_;  // a standing node's time; a falling node's time minus `time_`
    std::vector<Side> side_;
    std::vector<std::int32_t> parent_;  // the tree's arc into a standing node
    std::vector<std::int32_t> fresh_, orphans_, next_, level_, path_;
    EventQueue events_;
    Nanoseconds time_;
    std::int64_t total_ = 0;
    Int128 cost_ = 0;
    bool fastest_ = false;
};

}  // namespace viridian::pipeline
