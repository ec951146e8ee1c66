// Operators on the bits of integers.
#include "viridian/graph/operators/broadcasting.hpp"
#include "viridian/graph/operators/elementwise.hpp"
#include "viridian/graph/operators/families.hpp"

namespace viridian::graph {
namespace {

Result<void> integers_only(const Node& node, bool floating) {
    if (floating) return fail(ErrorCode::mismatch, "add a Cast", "{} works on integers", node.op);
    return {};
}

template <class Function>
constexpr OperatorRow row(std::string_view name, Function) {
    return {.name = name,
            .domain = "",
            .inputs = {2, 2},
            .outputs = {1, 1},
            .operator_class = OperatorClass::elementwise,
            .safety = NumericSafety::deny,
            .infer = infer_broadcast,
            .reference = real_kernel([](auto& call) -> Result<void> {
                VIRIDIAN_TRY(integers_only(call.node, call.input(0)->floating()));
                const auto f = for_node(Function{}, call.node);
                return broadcast_elements(call, call.input(0)->type, [f](auto a, auto b) -> decltype(a) {
                    if constexpr (std::is_integral_v<decltype(a)>)
                        return static_cast<decltype(a)>(
                            f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
                    else
                        return a;
                });
            })};
}

// Shifts are of unsigned types only; a shift by the width or more leaves nothing.
struct Shift {
    auto operator()(const Node& node) const {
        return [left = node.get("direction", std::string()) == "LEFT"](std::uint64_t a, std::uint64_t b) {
            return b >= 64 ? 0 : left ? a << b : a >> b;
        };
    }
};

constexpr auto complement = [](auto x) -> decltype(x) {
    if constexpr (std::is_integral_v<decltype(x)>)
        return ~x;
    else
        return x;
};

constexpr OperatorRow rows[] = {
    row("BitShift", Shift{}),
    row("BitwiseAnd", [](std::uint64_t a, std::uint64_t b) { return a & b; }),
    row("BitwiseOr", [](std::uint64_t a, std::uint64_t b) { return a | b; }),
    row("BitwiseXor", [](std::uint64_t a, std::uint64_t b) { return a ^ b; }),
    unary_row("BitwiseNot", NumericSafety::deny, complement),
};

}  // namespace

std::span<const OperatorRow> bitwise_operators() { return rows; }

}  // namespace viridian::graph
