// Normalisations by the statistics of the example itself: Y = (X − mean) / sqrt(variance + ε) · scale + bias
// over rows (LayerNormalization, RMSNormalization without the mean), channels (InstanceNormalization) or
// groups of channels (GroupNormalization).
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

struct Moments {
    double mean = 0;
    double inverse = 1;  // 1 / sqrt(variance + ε)
};

template <class Scalar>
Moments moments_of(std::span<const Scalar> values, double epsilon, bool centred = true) {
    const auto count = static_cast<double>(values.size());
    Moments moments;
    if (centred) {
        for (const Scalar& value : values) moments.mean += static_cast<double>(value);
        moments.mean /= count;
    }
    double squares = 0;
    for (const Scalar& value : values) {
        const double distance = static_cast<double>(value) - moments.mean;
        squares += distance * distance;
    }
    moments.inverse = 1 / std::sqrt(squares / count + epsilon);
    return moments;
}

// LayerNormalization and RMSNormalization take the trailing axes from `axis`; the moments keep the leading
// ones.
Result<void> infer_rows(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    const auto& x = inference.shape(0);
    std::optional<Shape> moments = x;
    if (x) {
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", -1),
                                                             static_cast<std::int64_t>(x->size())));
        for (std::size_t i = static_cast<std::size_t>(axis); i < x->size(); ++i) (*moments)[i] = Dimension(1);
        for (std::size_t i = 1; i < 3; ++i) {
            if (!inference.has_input(i) || !inference.shape(i)) continue;
            VIRIDIAN_TRY(expect_rank(inference, i, 0, x->size()));
            const Shape& scale = *inference.shape(i);
            for (std::size_t j = 0; j < scale.size(); ++j)
                if (const Dimension& extent = scale.end()[-1 - static_cast<std::ptrdiff_t>(j)];
                    extent.value() != 1 && differ(extent, x->end()[-1 - static_cast<std::ptrdiff_t>(j)]))
                    return wrong_shape("{} scales {} by {}", inference.node().op, text(inference.input(0)),
                                       text(inference.input(i)));
        }
    }
    const ElementType statistics =
        inference.node().integer("stash_type", 1) == 1 ? ElementType::f32 : inference.element(0);
    inference.set(0, inference.element(0), x);
    inference.set(1, statistics, moments);
    inference.set(2, statistics, moments);
    return {};
}

template <class CallType>
Result<void> normalize_rows(CallType& call, bool centred) {
    using Scalar = scalar_of<CallType>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>* scale = call.input(1);
    const Array<Scalar>* bias = centred ? call.input(2) : nullptr;
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", -1), x.rank()));
    const auto length =
        static_cast<std::size_t>(product(std::span(x.dims).subspan(static_cast<std::size_t>(axis))));
    const double epsilon = call.node.get("epsilon", 1e-5);
    const auto from = [&](const Array<Scalar>* array) {
        return array == nullptr ? std::vector<std::int64_t>() : broadcast_index(array->dims, x.dims);
    };
    const std::vector<std::int64_t> from_scale = from(scale);
    const std::vector<std::int64_t> from_bias = from(bias);
    for (std::size_t row = 0; length > 0 && row < x.real.size() / length; ++row) {
        const Moments moments = moments_of(std::span(x.real).subspan(row * length, length), epsilon, centred);
        for (std::size_t i = row * length; i < (row + 1) * length; ++i) {
            double y = (static_cast<double>(x.real[i]) - moments.mean) * moments.inverse;
            if (scale != nullptr)
                y *= static_cast<double>(scale->real[static_cast<std::size_t>(from_scale[i])]);
            if (bias != nullptr) y += static_cast<double>(bias->real[static_cast<std::size_t>(from_bias[i])]);
            call.outputs[0].real[i] = static_cast<Scalar>(y);
        }
        if (call.outputs.size() > 1) call.outputs[1].real[row] = static_cast<Scalar>(moments.mean);
        if (call.outputs.size() > 2) call.outputs[2].real[row] = static_cast<Scalar>(moments.inverse);
    }
    return {};
}

constexpr auto layer_normalization = [](auto& call) { return normalize_rows(call, true); };
constexpr auto rms_normalization = [](auto& call) { return normalize_rows(call, false); };

// InstanceNormalization and GroupNormalization: X [N,C,spatial…], scale and bias one per channel.
Result<void> infer_groups(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(expect_rank(inference, 0, 2));
    if (const auto& x = inference.shape(0)) {
        const std::int64_t groups = inference.node().integer("num_groups", 1);
        if (groups < 1 || ((*x)[1].known() && (*x)[1].value() % groups != 0))
            return wrong_shape("{} splits {} into {} groups", inference.node().op, text(inference.input(0)),
                               groups);
        VIRIDIAN_TRY(expect_shape(inference, 1, {(*x)[1]}));
        VIRIDIAN_TRY(expect_shape(inference, 2, {(*x)[1]}));
    }
    return keep_type(inference);
}

template <class CallType>
Result<void> normalize_groups(CallType& call, std::int64_t groups) {
    using Scalar = scalar_of<CallType>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const double epsilon = call.node.get("epsilon", 1e-5);
    const auto channels = static_cast<std::size_t>(x.dims[1]);
    const auto plane = static_cast<std::size_t>(product(std::span(x.dims).subspan(2)));
    const std::size_t length = groups < 1 ? 0 : channels / static_cast<std::size_t>(groups) * plane;
    for (std::size_t group = 0; length > 0 && group < x.real.size() / length; ++group) {
        const Moments moments = moments_of(std::span(x.real).subspan(group * length, length), epsilon);
        for (std::size_t i = group * length; i < (group + 1) * length; ++i) {
            const std::size_t channel = i / plane % channels;
            call.outputs[0].real[i] =
                static_cast<Scalar>((static_cast<double>(x.real[i]) - moments.mean) * moments.inverse *
                                        static_cast<double>(call.input(1)->real[channel]) +
                                    static_cast<double>(call.input(2)->real[channel]));
        }
    }
    return {};
}

constexpr auto instance_normalization = [](auto& call) -> Result<void> {
    return normalize_groups(call, call.input(0)->rank() > 1 ? call.input(0)->dims[1] : 1);
};
constexpr auto group_normalization = [](auto& call) -> Result<void> {
    return normalize_groups(call, call.node.integer("num_groups", 1));
};

// Mean 1, distance 1, variance 2, scaling 3.
Flop normalization_flop(const Operation& operation) { return Flop(7 * count_of(operation.outputs[0])); }

IterationSpace rows_space(const Operation& operation) {
    const Dims dims = operation.inputs[0].dims();
    std::int64_t axis = operation.node.integer("axis", -1);
    if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
    IterationSpace space;
    for (const std::int64_t dimension : dims)
        space.push_back({dimension, static_cast<std::int64_t>(space.size()) >= axis});
    return space;
}

IterationSpace instance_space(const Operation& operation) {
    IterationSpace space;
    for (const std::int64_t dimension : operation.inputs[0].dims())
        space.push_back({dimension, space.size() > 1});
    return space;
}

IterationSpace group_space(const Operation& operation) {
    const Dims dims = operation.inputs[0].dims();
    const std::int64_t groups = operation.node.integer("num_groups", 1);
    IterationSpace space = {{dims[0], false}, {groups, false}, {dims[1] / groups, true}};
    for (std::size_t i = 2; i < dims.size(); ++i) space.push_back({dims[i], true});
    return space;
}

}  // namespace

std::span<const OperatorRow> normalization_operators() {
    static constexpr OperatorRow rows[] = {
        normalization_row("LayerNormalization", {2, 3}, infer_rows, real_kernel(layer_normalization),
                          {.outputs = {1, 3},
                           .precision = precision::f32_statistics,
                           .samples = Samples::behind_axis,
                           .flop = normalization_flop,
                           .iteration_space = rows_space}),
        normalization_row("RMSNormalization", {2, 2}, infer_rows, real_kernel(rms_normalization),
                          {.precision = precision::f32_statistics,
                           .sets = {.any = 23},
                           .flop = normalization_flop,
                           .iteration_space = rows_space}),
        normalization_row("InstanceNormalization", {3, 3}, infer_groups, real_kernel(instance_normalization),
                          {.precision = precision::f32_statistics,
                           .samples = Samples::apart,
                           .sets = {.bf16 = 22},
                           .flop = normalization_flop,
                           .iteration_space = instance_space}),
        normalization_row("GroupNormalization", {3, 3}, infer_groups, real_kernel(group_normalization),
                          {.precision = precision::f32_statistics,
                           .samples = Samples::apart,
                           .sets = {.any = 18},
                           .flop = normalization_flop,
                           .iteration_space = group_space}),
    };
    return rows;
}

}  // namespace viridian::graph
