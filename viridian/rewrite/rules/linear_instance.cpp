#include "viridian/rewrite/rules/linear_instance.hpp"

namespace viridian::rewrite {

LinearInstance linear_instance(Sketch& s, bool matmul) {
    LinearInstance made;
    std::vector<ValueId> inputs;
    switch (s.extent(0, matmul ? 3 : 2)) {
        case 0: {
            const std::int64_t group = s.extent(1, 2);
            const std::int64_t in = s.extent(1, 3) * group;
            made.channels = s.extent(1, 3) * group;
            made.after = s.extent(1, 2);
            Dims x = {s.extent(1, 2), in};
            Dims w = {made.channels, in / group};
            for (std::int64_t i = 0; i < made.after; ++i) {
                x.push_back(s.extent(3, 6));
                w.push_back(s.extent(1, 3));
            }
            inputs = {s.input(x), s.constant(w)};
            if (s.coin()) inputs.push_back(s.constant({made.channels}));
            made.output = s.add("Conv", inputs, {{"group", group}});
            break;
        }
        case 1: {
            const std::int64_t group = s.extent(1, 3);
            const std::int64_t in = s.extent(1, 3) * group;
            const std::int64_t per_group = s.extent(1, 3);
            made.channels = per_group * group;
            made.after = 2;
            inputs = {s.input({s.extent(1, 2), in, s.extent(2, 4), s.extent(2, 5)}),
                      s.constant({in, per_group, 2, 3})};
            if (s.coin()) inputs.push_back(s.constant({made.channels}));
            made.output = s.add("ConvTranspose", inputs, {{"group", group}, {"strides", Dims{2, 1}}});
            break;
        }
        case 2: {
            const std::int64_t in = s.extent(1, 5);
            const std::int64_t transposed = s.extent(0, 1);
            made.channels = s.extent(1, 6);
            inputs = {s.input({s.extent(1, 4), in}),
                      s.constant(transposed != 0 ? Dims{made.channels, in} : Dims{in, made.channels})};
            if (s.coin()) inputs.push_back(s.constant(s.coin() ? Dims{made.channels} : Dims{}));
            made.output = s.add("Gemm", inputs, {{"transB", transposed}, {"alpha", 2.0}, {"beta", 3.0}});
            break;
        }
        default: {
            const std::int64_t in = s.extent(1, 5);
            made.channels = s.extent(1, 6);
            Dims x = {s.extent(2, 4), in};
            if (s.coin()) x.insert(x.begin(), s.extent(2, 3));
            made.output = s.add("MatMul", {s.input(x), s.constant({in, made.channels})});
            break;
        }
    }
    return made;
}

}  // namespace viridian::rewrite
