#pragma once
// fuse() divides a graph into regions that one kernel each can compute, by the rules of SUBSTATION (Ivanov et
// al., "Data Movement Is All You Need", MLSys 2021, section IV): two operators fuse if their iteration spaces
// are the same, or if the only difference is that one of them reduces. Nothing is priced: the rules fuse
// maximally. docs/movement.md explains them with examples.
#include <optional>
#include <string_view>

#include "viridian/base/units.hpp"
#include "viridian/movement/walk.hpp"

namespace viridian::movement {

enum class FusionRule : std::uint8_t {
    none,       // an operator of the user's model is a region, and so is each of its gradients
    published,  // the rules of the paper
    free,       // the same rules, to which contractions are operators like others
};
[[nodiscard]] std::string_view name_of(FusionRule rule);
[[nodiscard]] std::optional<FusionRule> parse_fusion_rule(std::string_view name);

// A Region is a set of nodes that one kernel computes, in the order in which they run. Views belong to none.
struct Region {
    std::vector<graph::NodeId> nodes;
    // The loops that the nodes share; empty for a node without a Walk, such as a contraction, which is a
    // region of its own. If the region fuses partially, only the first `shared_loops` loops are common to all
    // nodes, and the others are those of the first part.
    graph::IterationSpace loops;
    std::size_t shared_loops = 0;
    std::vector<graph::ValueId> reads;   // what it reads from outside, each tensor once, behind all views
    std::vector<graph::ValueId> writes;  // what others read of it
};

// Words are elements of tensors, whatever their type: SUBSTATION counts data movement in them (section
// III-A).
struct Words {
    std::int64_t read = 0;
    std::int64_t written = 0;
    [[nodiscard]] std::int64_t moved() const { return read + written; }
};
// Returns the words of one value; 0 if its type is unknown.
[[nodiscard]] std::int64_t words_in(const graph::Graph& graph, graph::ValueId value);
// Returns the words that the kernel of `region` moves at least. Values of unknown type count as nothing.
[[nodiscard]] Words words_of(const graph::Graph& graph, const Region& region);
// Returns the bytes of these words, by the types of the values.
[[nodiscard]] Bytes bytes_of(const graph::Graph& graph, const Region& region);

struct Fusion {
    // In topological order. Nodes of single elements, such as a count of steps, are left out.
    std::vector<Region> regions;
};

// Words of fast memory: one MiB of f32, the second cache of many cores.
inline constexpr std::int64_t usual_fast_words = 1 << 18;

// Divides `graph` by `rule`. A node of unknown types is a region of its own. Four patterns are looked for
// between two operators that are no contractions, until none is left: (1) one reads the other in the same
// space; (2) the same, and one of them reduces; (3) siblings read one tensor, or parts of one stacked tensor,
// in the same space; (4) partial fusion: one reads the other, and they share their outermost independent
// loops. No region reads its own result through another one. Regions stay within the forward part, the
// gradients or the update of a training step. If an operator may join either of two, gradients of parameters
// come before those of activations, as in the paper's Table III.
//
// By the rule `free` products of matrices fuse too: with what reads their result, with others that are
// stacked on the same operand, and with what computes an operand of theirs. A region with a product of the
// last kind keeps in fast memory, for one pass of its shared loops, the operands of all its nodes except
// products that read nothing of the region; these are at most `fast_words` words. Errors: malformed (a
// cycle).
[[nodiscard]] Result<Fusion> fuse(const graph::Graph& graph, FusionRule rule,
                                  std::int64_t fast_words = usual_fast_words);

}  // namespace viridian::movement
