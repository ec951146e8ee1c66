#include "viridian/graph/operators/shape_rules.hpp"

#include <algorithm>
#include <limits>

#include "viridian/graph/reference/broadcasting.hpp"

namespace viridian::graph {

Result<void> keep_type(Inference& inference) {
    inference.set(0, inference.element(0), inference.shape(0));
    return {};
}

Result<void> expect_floating(const Inference& inference, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < std::min(last + 1, inference.input_count()); ++i) {
        const ElementType type = inference.element(i);
        if (inference.has_input(i) && type != ElementType::undefined && !is_floating(type))
            return wrong_shape("input {} of {} is {}, it must be floating", i, inference.node().op,
                               name_of(type));
    }
    return {};
}

Result<void> expect_integer(const Inference& inference, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < std::min(last + 1, inference.input_count()); ++i) {
        const ElementType type = inference.element(i);
        if (inference.has_input(i) && type != ElementType::undefined && is_floating(type))
            return wrong_shape("input {} of {} is {}, it must hold integers", i, inference.node().op,
                               name_of(type));
    }
    return {};
}

Result<void> expect_products(const Inference& inference) {
    ElementType first = ElementType::undefined;
    for (std::size_t i = 0; i < inference.input_count(); ++i) {
        const ElementType type = inference.element(i);
        if (!inference.has_input(i) || type == ElementType::undefined) continue;
        if (!is_floating(type) && size_of(type) < 4)
            return wrong_shape("input {} of {} is {}, it must be floating, or an integer of 32 or 64 bits", i,
                               inference.node().op, name_of(type));
        if (first != ElementType::undefined && type != first)
            return wrong_shape("{} multiplies {} by {}", inference.node().op, name_of(first), name_of(type));
        first = type;
    }
    return {};
}

Result<void> expect_rank(const Inference& inference, std::size_t i, std::size_t least, std::size_t most) {
    if (!inference.has_input(i) || !inference.shape(i)) return {};
    const std::size_t rank = inference.shape(i)->size();
    if (rank < least || rank > most)
        return wrong_shape("input {} of {} has rank {}", i, inference.node().op, rank);
    return {};
}

Result<void> expect_shape(const Inference& inference, std::size_t i, const Shape& wanted) {
    if (!inference.has_input(i) || !inference.shape(i)) return {};
    const Shape& shape = *inference.shape(i);
    if (shape.size() != wanted.size() || !std::equal(shape.begin(), shape.end(), wanted.begin(),
                                                     [](auto& a, auto& b) { return !differ(a, b); }))
        return wrong_shape("input {} of {} is {}, it must be {}", i, inference.node().op,
                           text(inference.input(i)), text({inference.element(i), wanted}));
    return {};
}

Result<std::optional<Shape>> matmul_shape(const Inference& inference, std::size_t a, std::size_t b) {
    VIRIDIAN_TRY(expect_rank(inference, a, 1));
    VIRIDIAN_TRY(expect_rank(inference, b, 1));
    if (!inference.shape(a) || !inference.shape(b)) return std::optional<Shape>();
    Shape left = *inference.shape(a);
    Shape right = *inference.shape(b);
    const bool row = left.size() == 1;
    const bool column = right.size() == 1;
    if (row) left.insert(left.begin(), Dimension(1));
    if (column) right.emplace_back(1);
    if (differ(left.back(), right.end()[-2]))
        return wrong_shape("{} multiplies {} by {}", inference.node().op, text(inference.input(a)),
                           text(inference.input(b)));
    const Dimension m = left.end()[-2];
    const Dimension n = right.back();
    left.resize(left.size() - 2);
    right.resize(right.size() - 2);
    VIRIDIAN_TRY(std::optional<Shape> out, broadcast_shapes({left, right}));
    if (out && !row) out->push_back(m);
    if (out && !column) out->push_back(n);
    return out;
}

std::int64_t capped_product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

std::int64_t product(std::span<const std::int64_t> dims) {
    std::int64_t count = 1;
    for (const std::int64_t dimension : dims) count *= dimension;
    return count;
}

IterationSpace summed_over(const Operation& operation, std::span<const std::int64_t> sizes) {
    IterationSpace space;
    for (const std::int64_t dimension : operation.outputs[0].dims()) space.push_back({dimension, false});
    for (const std::int64_t size : sizes) space.push_back({size, true});
    return space;
}

std::int64_t count_of(const TensorType& type) { return product(type.dims()); }

}  // namespace viridian::graph
