// Operators on the bits of integers.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/elementwise/elementwise.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/broadcasting.hpp"

namespace viridian::graph {
namespace {

Result<void> integers_only(const Node& node, bool floating) {
    if (floating) return fail(ErrorCode::mismatch, "add a Cast", "{} works on integers only", node.op);
    return {};
}

template <class Function>
constexpr OperatorRow on_bits(std::string_view name, Function, int since = oldest_operator_set) {
    return elementwise_row(
        name, {2, 2}, infer_broadcast, real_kernel([](auto& call) -> Result<void> {
            VIRIDIAN_TRY(integers_only(call.node, call.input(0)->floating()));
            const auto f = for_node(Function{}, call.node);
            return broadcast_elements(call, call.input(0)->type, [f](auto a, auto b) -> decltype(a) {
                if constexpr (std::is_integral_v<decltype(a)>)
                    return static_cast<decltype(a)>(
                        f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
                else
                    return a;
            });
        }),
        {.elements = Elements::pointwise, .sets = {.any = since}});
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

}  // namespace

std::span<const OperatorRow> bitwise_operators() {
    static constexpr OperatorRow rows[] = {
        on_bits("BitShift", Shift{}),
        on_bits(
            "BitwiseAnd", [](std::uint64_t a, std::uint64_t b) { return a & b; }, 18),
        on_bits(
            "BitwiseOr", [](std::uint64_t a, std::uint64_t b) { return a | b; }, 18),
        on_bits(
            "BitwiseXor", [](std::uint64_t a, std::uint64_t b) { return a ^ b; }, 18),
        unary_row("BitwiseNot", precision::unlisted, complement, {.sets = {.any = 18}}),
    };
    return rows;
}

}  // namespace viridian::graph
