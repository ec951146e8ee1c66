#pragma once
// Makes a random operator with constant weights, for the instances of the rules that fold scales and shifts
// into it.
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

struct LinearInstance {
    ValueId output = ValueId::none;
    std::int64_t channels = 1;
    std::int64_t after = 0;  // number of axes behind the channels

    // Draws the dims of a constant that is one number, or one for each channel.
    [[nodiscard]] Dims channel_dims(RandomGraph& g) const {
        if (g.extent(0, 3) == 0) return g.coin() ? Dims{} : Dims{1};
        Dims dims = {channels};
        dims.resize(static_cast<std::size_t>(after + 1), 1);
        if (g.coin()) dims.insert(dims.begin(), 1);
        return dims;
    }
};

// Draws a Conv, ConvTranspose or Gemm, or a MatMul too if `matmul`.
LinearInstance linear_instance(RandomGraph& g, bool matmul);

}  // namespace viridian::rewrite
