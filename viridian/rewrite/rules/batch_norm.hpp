#pragma once
// What batch normalisation with constant statistics does to a channel.
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

struct Affine {
    ValueId scale, shift;  // of dims [channels]
};

// A BatchNormalization in inference, with constant statistics.
[[nodiscard]] bool folds(const Editor& editor, const Node& norm);
// scale = γ/√(σ²+ε), shift = β − μ·scale.
[[nodiscard]] Affine affine_of(Editor& editor, const Node& norm);

}  // namespace viridian::rewrite
