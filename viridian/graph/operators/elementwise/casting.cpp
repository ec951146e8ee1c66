// Cast and CastLike: to floating by rounding when stored, to integers by truncation, to boolean by x ≠ 0.
// What ONNX leaves open (a number outside the integer type) saturates at 64 bits, then wraps; NaN gives 0.
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

std::int64_t truncated(ElementType to, double x) {
    if (std::isnan(x)) return 0;
    if (to == ElementType::boolean) return x != 0 ? 1 : 0;
    if (to == ElementType::u64) {
        if (x >= 0x1p64) return -1;
        if (x >= 0x1p63) return static_cast<std::int64_t>(static_cast<std::uint64_t>(x));
    }
    return to_integer(x);
}

template <class Scalar>
Result<void> cast(Call<Scalar>& call, ElementType to) {
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(call.outputs[0], call.make(to, x.dims));
    Array<Scalar>& y = call.outputs[0];
    if (x.floating() && y.floating()) {
        y.real = x.real;
    } else if (x.floating()) {
        if constexpr (std::is_same_v<Scalar, PrimeField>)
            return fail(ErrorCode::unsupported, "certify the rule in double precision",
                        "a Cast to integers is not polynomial");
        else
            for (std::size_t i = 0; i < x.real.size(); ++i)
                y.integer[i] = truncated(to, static_cast<double>(x.real[i]));
    } else if (y.floating()) {
        for (std::size_t i = 0; i < x.integer.size(); ++i)
            if (std::is_same_v<Scalar, PrimeField> || x.type != ElementType::u64)
                y.real[i] = static_cast<Scalar>(x.integer[i]);
            else if constexpr (!std::is_same_v<Scalar, PrimeField>)
                y.real[i] = static_cast<Scalar>(static_cast<std::uint64_t>(x.integer[i]));
    } else {
        y.integer = x.integer;
        if (to == ElementType::boolean)
            for (std::int64_t& value : y.integer) value = value != 0 ? 1 : 0;
    }
    return {};
}

Result<ElementType> target(const Node& node) {
    const auto type = element_type_of_onnx(node.integer("to", 0));
    if (!type)
        return fail(ErrorCode::unsupported, "use a numeric type", "{} to ONNX type {}", node.op,
                    node.integer("to", 0));
    return *type;
}

Result<void> infer_cast(Inference& inference) {
    VIRIDIAN_TRY(const ElementType to, target(inference.node()));
    inference.set(0, to, inference.shape(0));
    return {};
}

Result<void> infer_cast_like(Inference& inference) {
    inference.set(0, inference.element(1), inference.shape(0));
    return {};
}

}  // namespace

std::span<const OperatorRow> casting_operators() {
    static constexpr OperatorRow rows[] = {
        elementwise_row("Cast", {1, 1}, infer_cast, polynomial_kernel([](auto& call) -> Result<void> {
                            VIRIDIAN_TRY(const ElementType to, target(call.node));
                            return cast(call, to);
                        }),
                        {.precision = precision::converts, .elements = Elements::pointwise}),
        elementwise_row(
            "CastLike", {2, 2}, infer_cast_like,
            polynomial_kernel([](auto& call) -> Result<void> { return cast(call, call.input(1)->type); }),
            {.precision = precision::converts}),
    };
    return rows;
}

}  // namespace viridian::graph
