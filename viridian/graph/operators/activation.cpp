// Element-wise operators of one input: y = f(x), shape and type kept.
#include <cmath>

#include "viridian/graph/operators/families.hpp"

namespace viridian::graph {
namespace {

Result<void> same_as_input(Inference& inference) {
    inference.set(0, inference.element(0), inference.shape(0));
    return {};
}

// y = f(x) on floating elements, computed in double (or in the scalar itself where that is wider or exact).
template <class Function>
constexpr Reference unary(Function) {
    return real_kernel([](auto& call) -> Result<void> {
        using Scalar = scalar_of<decltype(call)>;
        const auto& x = *call.input(0);
        call.outputs[0] = Array<Scalar>(x.type, x.dims);
        for (std::size_t i = 0; i < x.real.size(); ++i)
            call.outputs[0].real[i] =
                static_cast<Scalar>(Function{}(call.node, static_cast<double>(x.real[i])));
        for (std::size_t i = 0; i < x.integer.size(); ++i)
            call.outputs[0].integer[i] =
                static_cast<std::int64_t>(Function{}(call.node, static_cast<double>(x.integer[i])));
        return {};
    });
}

template <class Function>
constexpr OperatorRow row(std::string_view name, NumericSafety safety, Function function) {
    return {.name = name,
            .domain = "",
            .inputs = {1, 1},
            .outputs = {1, 1},
            .operator_class = OperatorClass::elementwise,
            .safety = safety,
            .infer = same_as_input,
            .reference = unary(function)};
}

constexpr OperatorRow rows[] = {
    row("Relu", NumericSafety::clear, [](const Node&, double x) { return x > 0    ? x
                                                                         : x == x ? 0
                                                                                  : x; }),
    row("Sigmoid", NumericSafety::infer, [](const Node&, double x) { return 1 / (1 + std::exp(-x)); }),
    row("Tanh", NumericSafety::infer, [](const Node&, double x) { return std::tanh(x); }),
};

}  // namespace

std::span<const OperatorRow> activation_operators() { return rows; }

}  // namespace viridian::graph
