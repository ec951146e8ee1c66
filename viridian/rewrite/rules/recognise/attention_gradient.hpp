#pragma once
// Reads the gradient of attention from the nodes that differentiation makes.
#include <optional>
#include <vector>

#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// Everything that is read on the way: y = (Softmax(hide(q·k·scale + masks)) · kept · kept_scale)·v.
struct GradientOfAttention {
    ValueId q = ValueId::none, k = ValueId::none, v = ValueId::none, dy = ValueId::none;
    ValueId kept = ValueId::none;
    std::vector<ValueId> masks;
    ValueId flags = ValueId::none;  // which scores `hidden_score` stands for
    bool flags_keep = true;         // those whose flag is false
    double hidden_score = 0;
    double scale = 1, kept_scale = 1;
    ValueId turned_v = ValueId::none;  // vᵀ, as the backward part reads it
    std::int64_t rank = 0;             // of the scores
    ValueId dq = ValueId::none, dk = ValueId::none, dv = ValueId::none;
};

// Returns the gradient of attention whose SoftmaxGrad is `node`, or nothing: if something else reads what
// lies between, if the probabilities are an output, or if one node could not compute it all.
[[nodiscard]] std::optional<GradientOfAttention> gradient_of_attention(const Editor& editor,
                                                                       const Node& node);

}  // namespace viridian::rewrite
