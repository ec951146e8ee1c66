// Values from nothing but attributes and shapes: Constant, ConstantOfShape, Range, EyeLike, Shape, Size.
#include <algorithm>
#include <cmath>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

Result<Tensor> constant_of(const Node& node) {
    if (node.has("value")) return node.get("value", Tensor());
    if (node.has("value_float")) return Tensor::scalar(static_cast<float>(node.get("value_float", 0.0)));
    if (node.has("value_int")) return Tensor::scalar(node.integer("value_int", 0));
    if (node.has("value_ints")) {
        const Dims values = node.get("value_ints", Dims());
        return Tensor::i64({static_cast<std::int64_t>(values.size())}, values);
    }
    if (node.has("value_floats")) {
        const auto values = node.get("value_floats", std::vector<double>());
        const std::vector<float> rounded(values.begin(), values.end());
        return Tensor::f32({static_cast<std::int64_t>(rounded.size())}, rounded);
    }
    return fail(ErrorCode::unsupported, "export the model again", "a Constant without a numeric value");
}

Result<void> infer_constant(Inference& inference) {
    VIRIDIAN_TRY(const Tensor tensor, constant_of(inference.node()));
    inference.set(0, tensor.type(), shape_of(tensor.dims()));
    return {};
}

constexpr auto constant = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(const Tensor tensor, constant_of(call.node));
    call.outputs[0] = array_of<scalar_of<decltype(call)>>(tensor);
    return {};
};

Tensor fill_of(const Node& node) { return node.get("value", Tensor(ElementType::f32, {1})); }

Result<void> infer_constant_of_shape(Inference& inference) {
    std::optional<Shape> out;
    if (const auto dims = constant_integers(inference, 0)) {
        VIRIDIAN_TRY(element_count(*dims));
        out = shape_of(*dims);
    } else if (const auto rank = length_of(inference, 0)) {
        out = Shape(static_cast<std::size_t>(*rank));
    }
    inference.set(0, fill_of(inference.node()).type(), std::move(out));
    return {};
}

constexpr auto constant_of_shape = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(const Dims dims, integers(call, 0));
    const Tensor fill = fill_of(call.node);
    if (fill.count() != 1)
        return fail(ErrorCode::malformed, "export the model again", "ConstantOfShape's value is one number");
    const Array<Scalar> value = array_of<Scalar>(fill);
    VIRIDIAN_TRY(Array<Scalar> y, call.make(fill.type(), dims));
    if (y.floating())
        std::fill(y.real.begin(), y.real.end(), value.real[0]);
    else
        std::fill(y.integer.begin(), y.integer.end(), value.integer[0]);
    call.outputs[0] = std::move(y);
    return {};
};

std::int64_t range_length(double start, double limit, double step) {
    const double count = std::ceil((limit - start) / step);
    return count > 0 && count < 0x1p62 ? static_cast<std::int64_t>(count)
           : count > 0                 ? reference_limit + 1
                                       : 0;
}

Result<void> infer_range(Inference& inference) {
    Dimension length;
    const Tensor* start = inference.constant(0);
    const Tensor* limit = inference.constant(1);
    const Tensor* step = inference.constant(2);
    if (start != nullptr && limit != nullptr && step != nullptr && start->count() == 1 &&
        limit->count() == 1 && step->count() == 1 && step->number(0) != 0)
        length = Dimension(range_length(start->number(0), limit->number(0), step->number(0)));
    inference.set(0, inference.element(0), Shape{length});
    return {};
}

constexpr auto range = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& start = *call.input(0);
    const Array<Scalar>& step = *call.input(2);
    for (std::size_t i = 0; i < 3; ++i)
        if (call.input(i)->count() != 1 || call.input(i)->type != start.type)
            return fail(ErrorCode::mismatch, "check the model", "Range takes three scalars of one type");
    const auto number = [&](std::size_t i) {
        const Array<Scalar>& x = *call.input(i);
        return x.floating() ? static_cast<double>(x.real[0]) : static_cast<double>(x.integer[0]);
    };
    if (number(2) == 0) return fail(ErrorCode::mismatch, "check the model", "Range cannot have the step 0");
    VIRIDIAN_TRY(Array<Scalar> y, call.make(start.type, {range_length(number(0), number(1), number(2))}));
    for (std::size_t i = 0; i < y.real.size(); ++i)
        y.real[i] = static_cast<Scalar>(number(0) + static_cast<double>(i) * number(2));
    for (std::size_t i = 0; i < y.integer.size(); ++i)
        y.integer[i] = start.integer[0] + static_cast<std::int64_t>(i) * step.integer[0];
    call.outputs[0] = std::move(y);
    return {};
};

ElementType stated_type(const Node& node, ElementType otherwise) {
    return element_type_of_onnx(node.integer("dtype", 0)).value_or(otherwise);
}

Result<void> infer_eye(Inference& inference) {
    inference.set(0, stated_type(inference.node(), inference.element(0)), inference.shape(0));
    return {};
}

constexpr auto eye = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Dims& dims = call.input(0)->dims;
    if (dims.size() != 2)
        return fail(ErrorCode::mismatch, "check the model's shapes", "EyeLike of rank {}", dims.size());
    VIRIDIAN_TRY(call.outputs[0], call.make(stated_type(call.node, call.input(0)->type), dims));
    Array<Scalar>& y = call.outputs[0];
    const std::int64_t k = call.node.integer("k", 0);
    for (std::int64_t i = 0; i < dims[0]; ++i) {
        if (k >= dims[1] || k <= -dims[0] || i + k < 0 || i + k >= dims[1]) continue;
        const auto at = static_cast<std::size_t>(i * dims[1] + i + k);
        if (y.floating())
            y.real[at] = Scalar(1);
        else
            y.integer[at] = 1;
    }
    return {};
};

// [start, end) of the dimensions, as a slice with step 1.
std::pair<std::int64_t, std::int64_t> part_of_shape(const Node& node, std::int64_t rank) {
    const auto clamp = [rank](std::int64_t axis) {
        return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    };
    const std::int64_t start = clamp(node.integer("start", 0));
    return {start, std::max(start, clamp(node.integer("end", rank)))};
}

Result<void> infer_shape(Inference& inference) {
    Dimension length;
    if (const auto rank = rank_of(inference, 0)) {
        const auto [start, end] = part_of_shape(inference.node(), *rank);
        length = Dimension(end - start);
    }
    inference.set(0, ElementType::i64, Shape{length});
    return {};
}

constexpr auto shape = [](auto& call) -> Result<void> {
    const Dims& dims = call.input(0)->dims;
    const auto [start, end] = part_of_shape(call.node, call.input(0)->rank());
    VIRIDIAN_TRY(call.outputs[0], call.make(ElementType::i64, {end - start}));
    call.outputs[0].integer.assign(dims.begin() + start, dims.begin() + end);
    return {};
};

Result<void> infer_size(Inference& inference) {
    inference.set(0, ElementType::i64, Shape{});
    return {};
}

constexpr auto size = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(call.outputs[0], call.make(ElementType::i64, {}));
    call.outputs[0].integer[0] = call.input(0)->count();
    return {};
};

}  // namespace

std::span<const OperatorRow> constant_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Constant", {0, 0}, infer_constant, polynomial_kernel(constant), {}),
        movement_row("ConstantOfShape", {1, 1}, infer_constant_of_shape, polynomial_kernel(constant_of_shape),
                     {.precision = precision::rounds_nothing}),
        movement_row("Range", {3, 3}, infer_range, real_kernel(range), {.precision = precision::counts}),
        movement_row("EyeLike", {1, 1}, infer_eye, polynomial_kernel(eye), {.sets = {.bf16 = 22}}),
        movement_row("Shape", {1, 1}, infer_shape, polynomial_kernel(shape),
                     {.precision = precision::rounds_nothing}),
        movement_row("Size", {1, 1}, infer_size, polynomial_kernel(size),
                     {.precision = precision::rounds_nothing}),
    };
    return rows;
}

}  // namespace viridian::graph
