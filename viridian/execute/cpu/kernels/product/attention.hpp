#pragma once
// Reads a region as attention, (Softmax(q·k·scale + masks) · kept · kept_scale)·v over any number of heads,
// or as its gradient.
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

// An AttentionRegion is this product. `heads` below are the positions of all leading dimensions of the
// result.
struct AttentionRegion {
    // An operand with its extents, seen as [leading dimensions of the result…, rows, columns]; leading
    // extents of 1 are repeated.
    struct Operand {
        graph::ValueId value = graph::ValueId::none;
        graph::Dims dims;
    };
    Operand q, k, v;              // [heads, rows, size], [heads, size, keys], [heads, keys, columns]
    std::vector<Operand> masks;   // added to the scores, at most two
    std::vector<Operand> scales;  // of the scores, a number for each head
    double scale = 1;
    // Boolean flags say which scores `value` stands for: those that are true, or, with `keeps`, the others.
    struct Hidden {
        Operand flags;
        bool keeps = true;
        double value = 0;
    };
    std::optional<Hidden> hidden;
    std::optional<Operand> kept;  // boolean: the probabilities that a dropout keeps
    double kept_scale = 1;        // what it multiplies them by
    Operand dy;                   // of a gradient alone: that of the result, [heads, rows, columns]
    graph::Dims leading;
    std::int64_t rows = 0, keys = 0, size = 0, columns = 0;
    [[nodiscard]] std::int64_t heads() const;
};

// Returns the attention that the region computes, or nothing. The region is the chain that
// plan::candidate_regions finds: a product, element-wise steps, a Softmax along the last axis, those of a
// dropout, a product. Where(flags, scores, number) hides scores, if it is the last of the first steps.
[[nodiscard]] std::optional<AttentionRegion> attention_region(const Task& task);

// Returns the attention of which the region's only node, an AttentionGrad, is the gradient, or nothing. The
// rewrite rule recognise_attention_gradient makes this node and says what it computes. All outputs are read.
[[nodiscard]] std::optional<AttentionRegion> attention_gradient(const Task& task);

}  // namespace viridian::execute::cpu
