#pragma once
// The exact time-energy frontier of a network (docs/method.md, 8). Minimising the sum of convex costs under a
// deadline is the dual of a flow whose arcs are longer the slower a unit runs (Fulkerson 1961, Kelley 1961).
// Sending flow along longest paths first visits every breakpoint of E(T), from the slowest plan to the
// fastest; the flow sent so far is -dE/dT. All lengths, flows and costs are integers: nothing is rounded.
//
// Between two breakpoints little changes, so everything is kept: the nodes that tight arcs (length = the time
// between their ends) reach from the source stand still, in a tree; all others fall with the deadline, so
// their times are kept relative to it. An arc from a standing to a falling node becomes tight at one known
// deadline: an event. When the tree reaches the sink, flow is sent along it, and the nodes that hung on
// closed arcs hang themselves elsewhere or fall (as in Boykov and Kolmogorov 2004). Where many paths are
// tight at once (balanced stages) Dinic's phases finish what one path does not.
#include <cstdint>
#include <vector>

#include "viridian/pipeline/exact/event_queue.hpp"
#include "viridian/pipeline/exact/residual.hpp"

namespace viridian::pipeline {

// Event times (primal) and flows (dual) at one deadline: all that `certify` needs.
struct FlowSolution {
    Nanoseconds time = 0;
    std::vector<Nanoseconds> start, finish;                                      // per unit
    std::vector<std::int64_t> unit, from_rank, from_data, from_source, to_sink;  // nanowatts per unit's arcs
    std::int64_t total = 0;                                                      // -dE/dT just below `time`
};

class ParametricFlow {
  public:
    // At the longest time: every unit at its cheapest. The network must fit (`Residual::fits`).
    explicit ParametricFlow(const Network& network);

    [[nodiscard]] Nanoseconds time() const { return time_; }
    [[nodiscard]] Int128 cost() const { return cost_; }
    // -dE/dT between this time and the one before (slower); 0 at first.
    [[nodiscard]] std::int64_t slope() const { return total_; }

    // On to the next breakpoint, or to `deadline` if that comes first; false when already there or at the
    // fastest.
    bool advance(Nanoseconds deadline = 0);
    [[nodiscard]] FlowSolution solution() const;
    void solution(FlowSolution& into) const;  // the same, into old memory

  private:
    enum class Side : std::uint8_t { falling, standing, orphan };
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    [[nodiscard]] bool tight(int a, int from) const {  // between nodes that both stand
        return graph_.arc(a).room > 0 &&
               value_[at(graph_.arc(a).to)] - value_[at(from)] == graph_.arc(a).length;
    }
    void meet(int a, int from);  // an open arc from a standing to a falling node: tight now, or later
    void stand(int node, int by);
    void spread();  // through tight arcs from the nodes that newly stand
    void fall(int node);

    bool open();             // sends flow until the sink is not reached; false when it has no limit
    bool send_along_tree();  // false: no limit
    bool finish_with_phases();
    void collect_orphans();
    void adopt_orphans();
    void drop_orphans();
    bool levels();
    bool blocking_flow();

    Residual graph_;
    std::vector<Nanoseconds> value_;  // of a falling node: minus `time_`
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
