#pragma once
// The exact time-energy frontier of a network (docs/method.md §8). Minimising the sum of convex costs under a
// deadline is the dual of a flow whose arcs are longer the slower a unit runs (Fulkerson 1961, Kelley 1961):
// one unit is parallel arcs of length duration[j] and capacity slope[j] - slope[j - 1], the last without
// limit. Sending flow along longest paths first visits every breakpoint of E(T), from the slowest plan to the
// fastest; the flow sent so far is -dE/dT. Each phase is one Dijkstra over reduced lengths and one blocking
// flow (Dinic) over the tight arcs. All lengths, flows and costs are integers: nothing is rounded on the way.
#include <cstdint>
#include <optional>
#include <vector>

#include "viridian/pipeline/network.hpp"

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
    explicit ParametricFlow(const Network& network);  // at the longest time: every unit at its cheapest

    [[nodiscard]] Nanoseconds time() const { return potential_.back(); }
    [[nodiscard]] Int128 cost() const { return cost_; }
    // -dE/dT between this time and the one before (slower); 0 at first.
    [[nodiscard]] std::int64_t slope() const { return total_; }

    // On to the next breakpoint, or to `deadline` if that comes first; false when already there or at the
    // fastest.
    bool advance(Nanoseconds deadline = 0);
    [[nodiscard]] FlowSolution solution() const;

  private:
    struct UnitArc {  // residual of the parallel arcs: where flow goes next and where it came from last
        std::int32_t piece = 0;
        std::int64_t amount = 0;          // in that piece
        Nanoseconds forward_length = 0;   // of that piece
        Nanoseconds backward_length = 0;  // of the last piece with flow; -1: none
    };
    [[nodiscard]] int source() const { return 2 * units_; }
    [[nodiscard]] int sink() const { return 2 * units_ + 1; }
    [[nodiscard]] std::int64_t forward_room(int unit) const;
    [[nodiscard]] std::int64_t backward_room(int unit) const;
    void push_unit(int unit, std::int64_t amount);
    void refresh(int unit);

    struct Residual {
        int to = -1;  // -1: no such arc now
        Nanoseconds slack = 0;
    };
    [[nodiscard]] Residual residual(int node, int slot) const;
    [[nodiscard]] int slots(int node) const;
    [[nodiscard]] std::int64_t room(int node, int slot) const;
    void push(int node, int slot, std::int64_t amount);

    bool reach();     // levels over tight arcs from the source; true if the sink is reached
    bool saturate();  // blocking flow; false when it has no limit (the fastest time)
    Nanoseconds shift(
        Nanoseconds most);  // lowers potentials by at most `most`; returns by how much the sink fell

    const Network& network_;
    int units_;
    std::vector<std::int32_t> follower_, second_follower_;  // units that need this unit's data, or -1
    std::vector<std::int32_t> initial_;                     // units without predecessors
    std::vector<std::uint8_t> final_;                       // 1: without successors
    std::vector<Nanoseconds> potential_;                    // start and finish of every unit, source, sink
    std::vector<UnitArc> arc_;
    std::vector<std::int64_t> flow_rank_, flow_data_, flow_source_, flow_sink_;
    std::vector<std::int32_t> level_, queue_;
    std::vector<std::uint16_t> next_slot_;
    std::vector<std::int32_t> next_initial_;
    std::vector<Nanoseconds> distance_;
    std::vector<std::pair<Nanoseconds, std::int32_t>> heap_;
    std::vector<std::pair<std::int32_t, std::int32_t>> path_;
    std::int64_t total_ = 0;
    Int128 cost_ = 0;
    struct Border {  // an arc out of the reached set that is not tight
        Nanoseconds slack;
        std::int32_t to, from;
    };
    std::vector<Border> border_;
    std::vector<std::int32_t> parent_, settled_;
    bool reached_ = false;  // levels lead to the sink
    bool fastest_ = false;
};

}  // namespace viridian::pipeline
