// Element-wise operators of two inputs with numpy's broadcasting.
#include "viridian/graph/operators/broadcasting.hpp"
#include "viridian/graph/operators/families.hpp"

namespace viridian::graph {
namespace {

template <class Function>
constexpr OperatorRow row(std::string_view name, NumericSafety safety, Function) {
    return {.name = name,
            .domain = "",
            .inputs = {2, 2},
            .outputs = {1, 1},
            .operator_class = OperatorClass::elementwise,
            .safety = safety,
            .infer = infer_broadcast,
            .reference = polynomial_kernel([](auto& call) -> Result<void> {
                return broadcast_elements(call, call.input(0)->type, Function{});
            })};
}

constexpr OperatorRow rows[] = {
    row("Add", NumericSafety::infer, [](auto a, auto b) { return a + b; }),
    row("Sub", NumericSafety::infer, [](auto a, auto b) { return a - b; }),
    row("Mul", NumericSafety::infer, [](auto a, auto b) { return a * b; }),
};

}  // namespace

std::span<const OperatorRow> arithmetic_operators() { return rows; }

}  // namespace viridian::graph
