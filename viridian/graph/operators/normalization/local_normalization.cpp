// LRN, LpNormalization, MeanVarianceNormalization: normalisations without learnt weights.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/lines.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_lrn(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(expect_rank(inference, 0, 2));
    if (inference.node().integer("size", 0) < 1)
        return wrong_attribute("`size` of node `{}` must be positive", inference.node().name);
    return keep_type(inference);
}

// Y = X / (bias + alpha / size · Σ X²)^beta over the `size` channels around its own.
constexpr auto local_response = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const std::int64_t size = call.node.integer("size", 1);
    const double alpha = call.node.get("alpha", 1e-4) / static_cast<double>(size);
    const double beta = call.node.get("beta", 0.75);
    const double bias = call.node.get("bias", 1.0);
    const Lines channels(x.dims, 1);
    for (std::int64_t line = 0; line < channels.count; ++line)
        for (std::int64_t c = 0; c < channels.length; ++c) {
            double squares = 0;
            const std::int64_t last = std::min(channels.length - 1, c + size / 2);
            for (std::int64_t i = std::max<std::int64_t>(0, c - (size - 1) / 2); i <= last; ++i) {
                const auto value = static_cast<double>(x.real[channels.at(line, i)]);
                squares += value * value;
            }
            call.outputs[0].real[channels.at(line, c)] = static_cast<Scalar>(
                static_cast<double>(x.real[channels.at(line, c)]) / std::pow(bias + alpha * squares, beta));
        }
    return {};
};

// How many channels a sum runs over at most: a larger `size` reaches beyond them all.
std::int64_t lrn_size(const Operation& operation) {
    return std::min(operation.node.integer("size", 1), 2 * operation.inputs[0].dims()[1]);
}

Flop lrn_flop(const Operation& operation) {
    return Flop((2 * lrn_size(operation) + 4) * count_of(operation.outputs[0]));
}

IterationSpace lrn_space(const Operation& operation) { return summed_over(operation, lrn_size(operation)); }

Result<void> infer_lp(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    if (const auto& x = inference.shape(0))
        VIRIDIAN_TRY(
            normalize_axis(inference.node().integer("axis", -1), static_cast<std::int64_t>(x->size())));
    if (const std::int64_t p = inference.node().integer("p", 2); p != 1 && p != 2)
        return wrong_attribute("`p` of node `{}` must be 1 or 2", inference.node().name);
    return keep_type(inference);
}

// Y = X / ‖line‖ₚ; a line of zeros stays.
constexpr auto lp_normalization = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", -1), x.rank()));
    const bool euclidean = call.node.integer("p", 2) == 2;
    const Lines lines(x.dims, axis);
    for (std::int64_t line = 0; line < lines.count; ++line) {
        double sum = 0;
        for (std::int64_t i = 0; i < lines.length; ++i) {
            const auto value = static_cast<double>(x.real[lines.at(line, i)]);
            sum += euclidean ? value * value : std::abs(value);
        }
        const double norm = euclidean ? std::sqrt(sum) : sum;
        for (std::int64_t i = 0; i < lines.length; ++i)
            call.outputs[0].real[lines.at(line, i)] =
                static_cast<Scalar>(norm == 0 ? 0 : static_cast<double>(x.real[lines.at(line, i)]) / norm);
    }
    return {};
};

Flop lp_flop(const Operation& operation) { return Flop(3 * count_of(operation.outputs[0])); }

IterationSpace lp_space(const Operation& operation) {
    const Dims dims = operation.inputs[0].dims();
    std::int64_t axis = operation.node.integer("axis", -1);
    if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
    IterationSpace space;
    for (const std::int64_t dimension : dims)
        space.push_back({dimension, static_cast<std::int64_t>(space.size()) == axis});
    return space;
}

// Axes of a MeanVarianceNormalization, as flags.
Result<std::vector<bool>> reduced_axes(const Node& node, std::int64_t rank) {
    std::vector<bool> reduced(static_cast<std::size_t>(rank));
    for (const std::int64_t entry : node.get("axes", Dims{0, 2, 3})) {
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(entry, rank));
        reduced[static_cast<std::size_t>(axis)] = true;
    }
    return reduced;
}

Result<void> infer_mean_variance(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    if (const auto& x = inference.shape(0))
        VIRIDIAN_TRY(reduced_axes(inference.node(), static_cast<std::int64_t>(x->size())));
    return keep_type(inference);
}

// Y = (X − mean) / (sqrt(variance) + 1e-9) over the given axes.
constexpr auto mean_variance = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const std::vector<bool> reduced, reduced_axes(call.node, x.rank()));
    Dims kept = x.dims;
    for (std::size_t axis = 0; axis < kept.size(); ++axis)
        if (reduced[axis]) kept[axis] = 1;
    const std::vector<std::int64_t> cell = broadcast_index(kept, x.dims);
    std::vector<double> sum(static_cast<std::size_t>(product(kept)));
    std::vector<double> squares(sum.size());
    const double count = static_cast<double>(x.count()) / static_cast<double>(sum.size());
    for (std::size_t i = 0; i < cell.size(); ++i)
        sum[static_cast<std::size_t>(cell[i])] += static_cast<double>(x.real[i]) / count;
    for (std::size_t i = 0; i < cell.size(); ++i) {
        const auto at = static_cast<std::size_t>(cell[i]);
        const double distance = static_cast<double>(x.real[i]) - sum[at];
        squares[at] += distance * distance / count;
    }
    for (std::size_t i = 0; i < cell.size(); ++i) {
        const auto at = static_cast<std::size_t>(cell[i]);
        call.outputs[0].real[i] =
            static_cast<Scalar>((static_cast<double>(x.real[i]) - sum[at]) / (std::sqrt(squares[at]) + 1e-9));
    }
    return {};
};

Flop mean_variance_flop(const Operation& operation) { return Flop(6 * count_of(operation.outputs[0])); }

IterationSpace mean_variance_space(const Operation& operation) {
    IterationSpace space;
    for (const std::int64_t dimension : operation.inputs[0].dims()) space.push_back({dimension, false});
    if (const auto reduced = reduced_axes(operation.node, static_cast<std::int64_t>(space.size()));
        reduced.ok())
        for (std::size_t axis = 0; axis < space.size(); ++axis) space[axis].reduced = (*reduced)[axis];
    return space;
}

}  // namespace

std::span<const OperatorRow> local_normalization_operators() {
    static constexpr OperatorRow rows[] = {
        normalization_row("LRN", {1, 1}, infer_lrn, real_kernel(local_response),
                          {.precision = precision::f32_statistics,
                           .samples = Samples::apart,
                           .flop = lrn_flop,
                           .iteration_space = lrn_space}),
        normalization_row("LpNormalization", {1, 1}, infer_lp, real_kernel(lp_normalization),
                          {.precision = precision::f32_statistics,
                           .sets = {.bf16 = 22},
                           .flop = lp_flop,
                           .iteration_space = lp_space}),
        normalization_row("MeanVarianceNormalization", {1, 1}, infer_mean_variance,
                          real_kernel(mean_variance),
                          {.flop = mean_variance_flop, .iteration_space = mean_variance_space}),
    };
    return rows;
}

}  // namespace viridian::graph
