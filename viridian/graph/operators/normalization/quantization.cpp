// QuantizeLinear, DequantizeLinear (per tensor, per axis, per block) and DynamicQuantizeLinear.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/quantized.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

// Where element i of x finds its scale.
struct Granularity {
    std::int64_t stride = 1;  // elements after the axis
    std::int64_t length = 1;  // entries along the axis
    std::int64_t block = 0;   // 0: one scale per entry of the axis
    std::int64_t scales = 1;  // entries of the scale along the axis
    bool whole = true;        // one scale for all

    [[nodiscard]] std::size_t scale_of(std::size_t i) const {
        if (whole) return 0;
        const auto at = static_cast<std::int64_t>(i);
        const std::int64_t entry = at / stride % length;
        if (block == 0) return static_cast<std::size_t>(entry);
        return static_cast<std::size_t>((at / stride / length * scales + entry / block) * stride +
                                        at % stride);
    }
};

Result<Granularity> granularity(const Node& node, const Dims& x, const Dims& scale) {
    if (product(scale) == 1 && (scale.size() <= 1 || x.size() != scale.size())) return Granularity{};
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(x.size() == 1 ? 0 : node.integer("axis", 1),
                                                         static_cast<std::int64_t>(x.size())));
    Granularity g;
    g.whole = false;
    g.stride = product(std::span(x).subspan(static_cast<std::size_t>(axis) + 1));
    g.length = x[static_cast<std::size_t>(axis)];
    g.block = node.integer("block_size", 0);
    const auto blocks = [&](std::int64_t size) { return g.length / size + (g.length % size != 0 ? 1 : 0); };
    Dims wanted = {g.length};
    if (g.block > 0 || (scale.size() == x.size() && x.size() > 1)) {
        wanted = x;
        g.scales = scale.size() == x.size() ? scale[static_cast<std::size_t>(axis)] : 0;
        // An axis of length 0 has no block; 1 keeps the arithmetic defined.
        if (g.block <= 0) g.block = g.scales > 0 ? std::max<std::int64_t>(blocks(g.scales), 1) : 1;
        wanted[static_cast<std::size_t>(axis)] = blocks(g.block);
    }
    if (scale != wanted)
        return wrong_shape("the scale of node `{}` is {}, it must be {}", node.name,
                           text({ElementType::f32, shape_of(scale)}),
                           text({ElementType::f32, shape_of(wanted)}));
    return g;
}

Result<void> check_scale(const Inference& inference) {
    const TensorType& x = inference.input(0);
    const TensorType& scale = inference.input(1);
    if (x.known() && scale.known()) {
        VIRIDIAN_TRY(granularity(inference.node(), x.dims(), scale.dims()));
    }
    // If one scale serves the whole tensor, its zero point has one element. Some exporters write one of the
    // two as a scalar and the other as a vector of length 1; both mean the same.
    const auto is_one = [](const TensorType& type) {
        return type.known() && type.dims().size() <= 1 && product(type.dims()) == 1;
    };
    if (inference.has_input(2) && is_one(scale) && is_one(inference.input(2))) return {};
    if (scale.shape) VIRIDIAN_TRY(expect_shape(inference, 2, *scale.shape));
    return {};
}

// The type that an attribute or the zero point states.
ElementType stated(const Inference& inference, const char* attribute, std::size_t input,
                   ElementType otherwise) {
    if (const std::int64_t code = inference.node().integer(attribute, 0); code != 0)
        return element_type_of_onnx(code).value_or(ElementType::undefined);
    return inference.has_input(input) ? inference.element(input) : otherwise;
}

Result<void> infer_quantize(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 1, 1));
    VIRIDIAN_TRY(expect_integer(inference, 2, 2));
    VIRIDIAN_TRY(check_scale(inference));
    const ElementType type = stated(inference, "output_dtype", 2, ElementType::u8);
    if (type != ElementType::undefined && (is_floating(type) || type == ElementType::boolean))
        return wrong_attribute("node `{}` quantizes to {}", inference.node().name, name_of(type));
    inference.set(0, type, inference.shape(0));
    return {};
}

constexpr auto quantize = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& scale = *call.input(1);
    const Array<Scalar>* zero = call.input(2);
    Array<Scalar>& y = call.outputs[0];
    VIRIDIAN_TRY(const Granularity g, granularity(call.node, x.dims, scale.dims));
    for (std::size_t i = 0; i < y.integer.size(); ++i) {
        const std::size_t s = g.scale_of(i);
        // The division is of the model's type: in float it can land on another side of a half.
        const Scalar ratio = (x.floating() ? x.real[i] : static_cast<Scalar>(x.integer[i])) / scale.real[s];
        y.integer[i] = saturated(y.type, static_cast<double>(ratio), zero == nullptr ? 0 : zero->integer[s]);
    }
    return {};
};

Result<void> infer_dequantize(Inference& inference) {
    VIRIDIAN_TRY(expect_integer(inference, 0, 0));
    VIRIDIAN_TRY(expect_floating(inference, 1, 1));
    VIRIDIAN_TRY(expect_integer(inference, 2, 2));
    VIRIDIAN_TRY(check_scale(inference));
    const ElementType type = stated(inference, "output_dtype", 1, ElementType::undefined);
    if (type != ElementType::undefined && !is_floating(type))
        return wrong_attribute("node `{}` dequantizes to {}", inference.node().name, name_of(type));
    inference.set(0, type, inference.shape(0));
    return {};
}

constexpr auto dequantize = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& scale = *call.input(1);
    const Array<Scalar>* zero = call.input(2);
    VIRIDIAN_TRY(const Granularity g, granularity(call.node, x.dims, scale.dims));
    for (std::size_t i = 0; i < x.integer.size(); ++i) {
        const std::size_t s = g.scale_of(i);
        const std::int64_t level = x.integer[i] - (zero == nullptr ? 0 : zero->integer[s]);
        call.outputs[0].real[i] = static_cast<Scalar>(level) * scale.real[s];
    }
    return {};
};

Result<void> infer_dynamic(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    inference.set(0, ElementType::u8, inference.shape(0));
    inference.set(1, ElementType::f32, Shape{});
    inference.set(2, ElementType::u8, Shape{});
    return {};
}

// Scale and zero point from the data's own range, widened to hold zero.
constexpr auto quantize_dynamically = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    Scalar low = 0;
    Scalar high = 0;
    for (const Scalar value : x.real) {
        low = std::min(low, value);
        high = std::max(high, value);
    }
    const Scalar scale = (high - low) / Scalar(255);
    const std::int64_t zero =
        scale == 0 ? 0 : saturated(ElementType::u8, static_cast<double>(-low / scale), 0);
    for (std::size_t i = 0; i < x.real.size(); ++i)
        call.outputs[0].integer[i] =
            scale == 0 ? 0 : saturated(ElementType::u8, static_cast<double>(x.real[i] / scale), zero);
    if (call.outputs.size() > 1) call.outputs[1].real[0] = scale;
    if (call.outputs.size() > 2) call.outputs[2].integer[0] = zero;
    return {};
};

// Scaling, rounding, shift.
Flop quantization_flop(const Operation& operation) { return Flop(3 * count_of(operation.outputs[0])); }

}  // namespace

std::int64_t saturated(ElementType type, double level, std::int64_t zero) {
    const auto bits = static_cast<int>(8 * size_of(type));
    const double high = std::ldexp(1.0, is_signed(type) ? bits - 1 : bits) - 1;
    const double low = is_signed(type) ? -high - 1 : 0;
    const double value = std::nearbyint(level) + static_cast<double>(zero);  // half to even
    if (!(value > low)) return static_cast<std::int64_t>(low);               // not a number, too
    return to_integer(std::min(value, high));
}

std::span<const OperatorRow> quantization_operators() {
    static constexpr OperatorRow rows[] = {
        elementwise_row("QuantizeLinear", {2, 3}, infer_quantize, real_kernel(quantize),
                        {.flop = quantization_flop}),
        elementwise_row("DequantizeLinear", {2, 3}, infer_dequantize, real_kernel(dequantize),
                        {.flop = quantization_flop}),
        elementwise_row("DynamicQuantizeLinear", {1, 1}, infer_dynamic, real_kernel(quantize_dynamically),
                        {.outputs = {1, 3}, .flop = quantization_flop}),
    };
    return rows;
}

}  // namespace viridian::graph
