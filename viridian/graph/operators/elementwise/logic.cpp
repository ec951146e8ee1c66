// Comparisons and logic: results are boolean.
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/broadcasting.hpp"

namespace viridian::graph {
namespace {

bool takes_booleans(const Operator& op) {
    return op == op::And || op == op::Or || op == op::Xor || op == op::Not;
}

Result<void> check_operands(const Inference& inference) {
    if (!takes_booleans(inference.node().op)) return {};
    for (std::size_t i = 0; i < inference.input_count(); ++i)
        if (const ElementType own = inference.element(i);
            own != ElementType::undefined && own != ElementType::boolean)
            return fail(ErrorCode::mismatch, "add a Cast", "{} is given {}", inference.node().op,
                        text(inference.input(i)));
    return {};
}

Result<void> infer_comparison(Inference& inference) {
    VIRIDIAN_TRY(check_operands(inference));
    VIRIDIAN_TRY(infer_broadcast(inference));
    inference.set(0, ElementType::boolean, inference.outputs()[0].shape);
    return {};
}

template <class Function>
constexpr OperatorRow comparison(std::string_view name, const Precision& precision, Function) {
    return elementwise_row(name, {2, 2}, infer_comparison, real_kernel([](auto& call) -> Result<void> {
                               return broadcast_elements(call, ElementType::boolean, Function{});
                           }),
                           {.precision = precision, .elements = Elements::pointwise});
}

Result<void> infer_predicate(Inference& inference) {
    VIRIDIAN_TRY(check_operands(inference));
    inference.set(0, ElementType::boolean, inference.shape(0));
    return {};
}

// The row of an operator with one input: `Function` gets the node and an element as double.
template <class Function>
constexpr OperatorRow predicate(std::string_view name, const Precision& precision, Function) {
    return elementwise_row(name, {1, 1}, infer_predicate, real_kernel([](auto& call) -> Result<void> {
                               using Scalar = scalar_of<decltype(call)>;
                               const auto& x = *call.input(0);
                               VIRIDIAN_TRY(call.outputs[0], call.make(ElementType::boolean, x.dims));
                               Array<Scalar>& y = call.outputs[0];
                               for (std::size_t i = 0; i < y.integer.size(); ++i) {
                                   const double element = x.floating() ? static_cast<double>(x.real[i])
                                                                       : static_cast<double>(x.integer[i]);
                                   y.integer[i] = Function{}(call.node, element) ? 1 : 0;
                               }
                               return {};
                           }),
                           {.precision = precision, .elements = Elements::pointwise});
}

constexpr auto is_infinite = [](const Node& node, double x) {
    return std::isinf(x) && node.integer(x > 0 ? "detect_positive" : "detect_negative", 1) != 0;
};

}  // namespace

std::span<const OperatorRow> logic_operators() {
    static constexpr OperatorRow rows[] = {
        comparison("Equal", precision::compares, [](auto a, auto b) { return a == b; }),
        comparison("Less", precision::compares, [](auto a, auto b) { return a < b; }),
        comparison("LessOrEqual", precision::compares, [](auto a, auto b) { return a <= b; }),
        comparison("Greater", precision::compares, [](auto a, auto b) { return a > b; }),
        comparison("GreaterOrEqual", precision::compares, [](auto a, auto b) { return a >= b; }),
        comparison("And", precision::rounds_nothing, [](auto a, auto b) { return a != 0 && b != 0; }),
        comparison("Or", precision::rounds_nothing, [](auto a, auto b) { return a != 0 || b != 0; }),
        comparison("Xor", precision::rounds_nothing, [](auto a, auto b) { return (a != 0) != (b != 0); }),
        predicate("Not", precision::rounds_nothing, [](const Node&, double x) { return x == 0; }),
        predicate("IsNaN", precision::compares, [](const Node&, double x) { return std::isnan(x); }),
        predicate("IsInf", precision::compares, is_infinite),
    };
    return rows;
}

}  // namespace viridian::graph
