// Where: y = condition ? a : b. Clip: y = min(max(x, low), high), NaN kept.
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/broadcasting.hpp"

namespace viridian::graph {
namespace {

Result<void> check_choice(ElementType condition, ElementType a, ElementType b) {
    if (!is_floating(condition) && a == b) return {};
    return fail(ErrorCode::mismatch, "add a Cast", "Where chooses between {} and {} by {}", name_of(a),
                name_of(b), name_of(condition));
}

Result<void> infer_where(Inference& inference) {
    VIRIDIAN_TRY(infer_broadcast(inference));
    const ElementType a = inference.element(1), b = inference.element(2);
    if (a != ElementType::undefined && b != ElementType::undefined)
        VIRIDIAN_TRY(check_choice(inference.element(0), a, b));
    inference.set(0, inference.element(1), inference.outputs()[0].shape);
    return {};
}

constexpr auto where = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& condition = *call.input(0);
    const Array<Scalar>& a = *call.input(1);
    const Array<Scalar>& b = *call.input(2);
    VIRIDIAN_TRY(check_choice(condition.type, a.type, b.type));
    VIRIDIAN_TRY(Dims dims, broadcast(condition.dims, a.dims));
    VIRIDIAN_TRY(dims, broadcast(dims, b.dims));
    VIRIDIAN_TRY(Array<Scalar> y, call.make(a.type, dims));
    const auto from_condition = broadcast_index(condition.dims, dims);
    const auto from_a = broadcast_index(a.dims, dims);
    const auto from_b = broadcast_index(b.dims, dims);
    const auto choose = [&](auto& to, const auto& first, const auto& second) {
        for (std::size_t i = 0; i < to.size(); ++i)
            to[i] = condition.integer[static_cast<std::size_t>(from_condition[i])] != 0
                        ? first[static_cast<std::size_t>(from_a[i])]
                        : second[static_cast<std::size_t>(from_b[i])];
    };
    choose(y.real, a.real, b.real);
    choose(y.integer, a.integer, b.integer);
    call.outputs[0] = std::move(y);
    return {};
};

Result<void> infer_clip(Inference& inference) {
    for (const std::size_t bound : {std::size_t{1}, std::size_t{2}}) {
        if (!inference.has_input(bound)) continue;
        const auto& shape = inference.shape(bound);
        const bool several = shape && std::any_of(shape->begin(), shape->end(), [](const Dimension& d) {
                                 return d.known() && d.value() != 1;
                             });
        const ElementType element = inference.element(bound);
        if (several || (element != ElementType::undefined && element != inference.element(0)))
            return fail(ErrorCode::mismatch, "check the model", "Clip's bounds are scalars of its type");
    }
    inference.set(0, inference.element(0), inference.shape(0));
    return {};
}

constexpr auto clip = [](auto& call) -> Result<void> {
    call.outputs[0] = *call.input(0);
    auto& y = call.outputs[0];
    for (const std::size_t bound : {std::size_t{1}, std::size_t{2}}) {
        const auto* limit = call.input(bound);
        if (limit == nullptr || limit->type == ElementType::undefined) continue;
        if (limit->count() != 1 || limit->type != y.type)
            return fail(ErrorCode::mismatch, "check the model", "Clip's bounds are scalars of its type");
        const bool low = bound == 1;
        const auto apply = [low](auto& elements, auto edge) {
            for (auto& element : elements)
                if (low ? element < edge : edge < element) element = edge;
        };
        if (y.floating()) {
            apply(y.real, limit->real[0]);
        } else if (y.type == ElementType::u64) {
            const auto edge = static_cast<std::uint64_t>(limit->integer[0]);
            for (auto& element : y.integer) {
                const auto bits = static_cast<std::uint64_t>(element);
                if (low ? bits < edge : edge < bits) element = limit->integer[0];
            }
        } else {
            apply(y.integer, limit->integer[0]);
        }
    }
    return {};
};

constexpr OperatorFacts choosing_one = {.precision = precision::only_moves, .elements = Elements::pointwise};

}  // namespace

std::span<const OperatorRow> selection_operators() {
    static constexpr OperatorRow rows[] = {
        elementwise_row("Where", {3, 3}, infer_where, polynomial_kernel(where), choosing_one),
        elementwise_row("Clip", {1, 3}, infer_clip, real_kernel(clip), choosing_one),
    };
    return rows;
}

}  // namespace viridian::graph
