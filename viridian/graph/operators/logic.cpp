// Comparisons and logic: results are boolean.
#include <cmath>

#include "viridian/graph/operators/broadcasting.hpp"
#include "viridian/graph/operators/families.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_comparison(Inference& inference) {
    VIRIDIAN_TRY(infer_broadcast(inference));
    inference.set(0, ElementType::boolean, inference.outputs()[0].shape);
    return {};
}

template <class Function>
constexpr OperatorRow comparison(std::string_view name, Function) {
    return {.name = name,
            .domain = "",
            .inputs = {2, 2},
            .outputs = {1, 1},
            .operator_class = OperatorClass::elementwise,
            .safety = NumericSafety::clear,
            .infer = infer_comparison,
            .reference = real_kernel([](auto& call) -> Result<void> {
                return broadcast_elements(call, ElementType::boolean, Function{});
            })};
}

Result<void> infer_predicate(Inference& inference) {
    inference.set(0, ElementType::boolean, inference.shape(0));
    return {};
}

// Of one input; `Function` sees the node and an element as double.
template <class Function>
constexpr OperatorRow predicate(std::string_view name, Function) {
    return {.name = name,
            .domain = "",
            .inputs = {1, 1},
            .outputs = {1, 1},
            .operator_class = OperatorClass::elementwise,
            .safety = NumericSafety::clear,
            .infer = infer_predicate,
            .reference = real_kernel([](auto& call) -> Result<void> {
                using Scalar = scalar_of<decltype(call)>;
                const auto& x = *call.input(0);
                auto& y = call.outputs[0] = Array<Scalar>(ElementType::boolean, x.dims);
                for (std::size_t i = 0; i < y.integer.size(); ++i) {
                    const double element =
                        x.floating() ? static_cast<double>(x.real[i]) : static_cast<double>(x.integer[i]);
                    y.integer[i] = Function{}(call.node, element) ? 1 : 0;
                }
                return {};
            })};
}

constexpr auto is_infinite = [](const Node& node, double x) {
    return std::isinf(x) && node.integer(x > 0 ? "detect_positive" : "detect_negative", 1) != 0;
};

constexpr OperatorRow rows[] = {
    comparison("Equal", [](auto a, auto b) { return a == b; }),
    comparison("Less", [](auto a, auto b) { return a < b; }),
    comparison("LessOrEqual", [](auto a, auto b) { return a <= b; }),
    comparison("Greater", [](auto a, auto b) { return a > b; }),
    comparison("GreaterOrEqual", [](auto a, auto b) { return a >= b; }),
    comparison("And", [](auto a, auto b) { return a != 0 && b != 0; }),
    comparison("Or", [](auto a, auto b) { return a != 0 || b != 0; }),
    comparison("Xor", [](auto a, auto b) { return (a != 0) != (b != 0); }),
    predicate("Not", [](const Node&, double x) { return x == 0; }),
    predicate("IsNaN", [](const Node&, double x) { return std::isnan(x); }),
    predicate("IsInf", is_infinite),
};

}  // namespace

std::span<const OperatorRow> logic_operators() { return rows; }

}  // namespace viridian::graph
