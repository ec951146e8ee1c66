#include "viridian/rewrite/certify/linear_instance.hpp"

namespace viridian::rewrite {

LinearInstance linear_instance(RandomGraph& g, bool matmul) {
    LinearInstance made;
    std::vector<ValueId> inputs;
    switch (g.extent(0, matmul ? 3 : 2)) {
        case 0: {
            const std::int64_t group = g.extent(1, 2);
            const std::int64_t in = g.extent(1, 3) * group;
            made.channels = g.extent(1, 3) * group;
            made.after = g.extent(1, 2);
            Dims x = {g.extent(1, 2), in};
            Dims w = {made.channels, in / group};
            for (std::int64_t i = 0; i < made.after; ++i) {
                x.push_back(g.extent(3, 6));
                w.push_back(g.extent(1, 3));
            }
            inputs = {g.input(x), g.constant(w)};
            if (g.coin()) inputs.push_back(g.constant({made.channels}));
            made.output = g.add(op::Conv, inputs, {{"group", group}});
            break;
        }
        case 1: {
            const std::int64_t group = g.extent(1, 3);
            const std::int64_t in = g.extent(1, 3) * group;
            const std::int64_t per_group = g.extent(1, 3);
            made.channels = per_group * group;
            made.after = 2;
            inputs = {g.input({g.extent(1, 2), in, g.extent(2, 4), g.extent(2, 5)}),
                      g.constant({in, per_group, 2, 3})};
            if (g.coin()) inputs.push_back(g.constant({made.channels}));
            made.output = g.add(op::ConvTranspose, inputs, {{"group", group}, {"strides", Dims{2, 1}}});
            break;
        }
        case 2: {
            const std::int64_t in = g.extent(1, 5);
            const std::int64_t transposed = g.extent(0, 1);
            made.channels = g.extent(1, 6);
            inputs = {g.input({g.extent(1, 4), in}),
                      g.constant(transposed != 0 ? Dims{made.channels, in} : Dims{in, made.channels})};
            if (g.coin()) inputs.push_back(g.constant(g.coin() ? Dims{made.channels} : Dims{}));
            made.output = g.add(op::Gemm, inputs, {{"transB", transposed}, {"alpha", 2.0}, {"beta", 3.0}});
            break;
        }
        default: {
            const std::int64_t in = g.extent(1, 5);
            made.channels = g.extent(1, 6);
            Dims x = {g.extent(2, 4), in};
            if (g.coin()) x.insert(x.begin(), g.extent(2, 3));
            made.output = g.add(op::MatMul, {g.input(x), g.constant({in, made.channels})});
            break;
        }
    }
    return made;
}

}  // namespace viridian::rewrite
