#pragma once
// Makes a random Conv, ConvTranspose, Gemm or MatMul with constant weights. Rules that fold scales and shifts
// into such an operator are tried on random graphs, and these graphs start with it.
#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {

// A LinearInstance is the output of that operator, with the number and the axis of its channels.
struct LinearInstance {
    ValueId output = ValueId::none;
    std::int64_t channels = 1;
    std::int64_t after = 0;  // number of axes after the channel axis

    // Draws the dims of a constant that is one number, or one for each channel.
    [[nodiscard]] Dims channel_dims(RandomGraph& g) const {
        if (g.extent(0, 3) == 0) return g.coin() ? Dims{} : Dims{1};
        Dims dims = {channels};
        dims.resize(static_cast<std::size_t>(after + 1), 1);
        if (g.coin()) dims.insert(dims.begin(), 1);
        return dims;
    }
};

// Adds a random Conv, ConvTranspose or Gemm to `g`; if `matmul` is true, it may be a MatMul too.
LinearInstance linear_instance(RandomGraph& g, bool matmul);

}  // namespace viridian::rewrite
