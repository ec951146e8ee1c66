#pragma once
// Residual is the residual graph of a network, on which `ParametricFlow` sends flow (docs/pipeline.md,
// "Exact"). Nodes 2u and 2u + 1 are the start and the finish of unit u; source and sink follow. Every arc has
// a mate in the opposite direction, and the arcs of a node are numbered consecutively. A unit stands for
// parallel arcs, called pieces, of length duration[j] and capacity slope[j] - slope[j - 1]; the last has no
// limit. Pieces fill one after the other. One pair of arcs therefore suffices for a unit: its forward arc is
// the piece that takes flow next, and its backward arc the piece that took flow last.
//
// 64 bits suffice: no flow exceeds the sum over units of their steepest slope (every finite cut holds each
// unit at most once), and `fits` refuses networks where that sum reaches `unlimited`.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "viridian/pipeline/network.hpp"

namespace viridian::pipeline {

struct Arc {
    Nanoseconds length = 0;  // the head is at least this much later than the tail
    std::int64_t room = 0;   // flow that it can still take, nanowatts; 0: closed
    std::int32_t to = -1;    // its head
    std::int32_t mate = -1;  // the arc in the opposite direction
};

class Residual {
  public:
    static constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max() / 2;

    // Returns whether all flows of `network` fit 64 bits.
    [[nodiscard]] static bool fits(const Network& network);
    explicit Residual(const Network& network);

    [[nodiscard]] int source() const { return 2 * units_; }
    [[nodiscard]] int sink() const { return 2 * units_ + 1; }
    [[nodiscard]] int nodes() const { return 2 * units_ + 2; }
    // The arcs that leave `node` have the numbers from `begin` to `end` - 1.
    [[nodiscard]] int begin(int node) const { return first_[static_cast<std::size_t>(node)]; }
    [[nodiscard]] int end(int node) const { return first_[static_cast<std::size_t>(node) + 1]; }
    [[nodiscard]] const Arc& arc(int a) const { return arcs_[static_cast<std::size_t>(a)]; }
    [[nodiscard]] const Arc& mate(int a) const { return arc(arc(a).mate); }
    [[nodiscard]] int arcs() const { return static_cast<int>(arcs_.size()); }

    // Sends `amount` of flow along the open arc `a`, at most its room. Returns true if that used up the arc;
    // the next piece of a unit then takes its place.
    bool push(int a, std::int64_t amount);

    // These return flow in nanowatts: through a unit, into its start from the unit before it on its rank,
    // from the unit whose data it needs and from the source, and from its finish to the sink.
    [[nodiscard]] std::int64_t through(int unit) const;
    [[nodiscard]] std::int64_t from_rank(int unit) const { return sent(rank_[at(unit)]); }
    [[nodiscard]] std::int64_t from_data(int unit) const { return sent(data_[at(unit)]); }
    [[nodiscard]] std::int64_t from_source(int unit) const { return sent(source_[at(unit)]); }
    [[nodiscard]] std::int64_t to_sink(int unit) const { return sent(sink_[at(unit)]); }

  private:
    struct Piece {
        std::int32_t index = 0;
        std::int64_t amount = 0;
    };
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    [[nodiscard]] std::int64_t sent(std::int32_t a) const { return a < 0 ? 0 : mate(a).room; }
    void refresh(int unit);

    const Network& network_;
    int units_;
    std::vector<std::int32_t> first_;
    std::vector<Arc> arcs_;
    std::vector<Piece> piece_;                               // per unit: the piece that takes flow next
    std::vector<std::int32_t> rank_, data_, source_, sink_;  // per unit: that arc, or -1
};

}  // namespace viridian::pipeline
