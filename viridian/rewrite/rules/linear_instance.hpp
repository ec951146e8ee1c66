#pragma once
// A random operator with constant weights, for the instances of rules that move scales and shifts into it.
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {

struct LinearInstance {
    ValueId output = ValueId::none;
    std::int64_t channels = 1;
    std::int64_t after = 0;  // axes behind the channels

    // Dims of a constant that is one number, or one per channel.
    [[nodiscard]] Dims channel_dims(Sketch& s) const {
        if (s.extent(0, 3) == 0) return s.coin() ? Dims{} : Dims{1};
        Dims dims = {channels};
        dims.resize(static_cast<std::size_t>(after + 1), 1);
        if (s.coin()) dims.insert(dims.begin(), 1);
        return dims;
    }
};

// Conv, ConvTranspose, Gemm or, where `matmul`, MatMul.
LinearInstance linear_instance(Sketch& s, bool matmul);

}  // namespace viridian::rewrite
