#pragma once
// unary_row() makes the row of an element-wise operator of one input, y = f(x). The function takes x.
// If it depends on attributes, it takes the node and returns the function of x. Elements are computed in
// double; integers are computed exactly if `f` takes `auto`.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {

// This shape rule gives output 0 the type of input 0.
[[nodiscard]] inline Result<void> infer_same(Inference& inference) {
    inference.set(0, inference.element(0), inference.shape(0));
    return {};
}

// Returns the function of one element: `f` itself, or f(node) if `f` takes a node.
template <class Function>
auto for_node(Function f, const Node& node) {
    if constexpr (std::is_invocable_v<Function, double> ||
                  std::is_invocable_v<Function, std::uint64_t, std::uint64_t>)
        return f;
    else
        return f(node);
}

// Sets output 0 to the function of each element of input 0.
template <class Scalar, class Function>
Result<void> each_element(Call<Scalar>& call, Function function) {
    const auto f = for_node(function, call.node);
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(call.outputs[0], call.make(x.type, x.dims));
    Array<Scalar>& y = call.outputs[0];
    for (std::size_t i = 0; i < x.real.size(); ++i)
        if constexpr (std::is_same_v<Scalar, PrimeField>)
            y.real[i] = f(x.real[i]);
        else
            y.real[i] = static_cast<Scalar>(f(static_cast<double>(x.real[i])));
    for (std::size_t i = 0; i < x.integer.size(); ++i) y.integer[i] = to_integer(f(x.integer[i]));
    return {};
}

// Returns the row of an operator that applies `Function` to each element. `facts` may say more; the
// relation of the elements is set here.
template <class Function>
constexpr OperatorRow unary_row(std::string_view name, const Precision& precision, Function,
                                OperatorFacts facts = {}) {
    facts.precision = precision;
    facts.elements = Elements::pointwise;
    return elementwise_row(
        name, {1, 1}, infer_same,
        real_kernel([](auto& call) -> Result<void> { return each_element(call, Function{}); }), facts);
}

}  // namespace viridian::graph
