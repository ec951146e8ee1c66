// Conv: Y[n,m,o] = B[m] + sum over c, k of X[n,c, o·stride + k·dilation − pad] · W[m,c,k], in any number of
// spatial dimensions, with groups. X is [N,C,spatial…], W [M,C/group,kernel…].
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/multiply.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_convolution_convolution(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    const auto& x = inference.shape(0);
    const auto& w = inference.shape(1);
    std::optional<Shape> out;
    if (x && w) {
        if (x->size() != w->size() || x->size() < 3)
            return wrong_shape("Conv reads ranks {} and {}", x->size(), w->size());
        const std::int64_t group = inference.node().integer("group", 1);
        const Dimension& channels = (*x)[1];
        const Dimension& weights = (*w)[1];
        if (group < 1 || (channels.known() && channels.value() % group != 0) ||
            ((*w)[0].known() && (*w)[0].value() % group != 0))
            return wrong_shape("Conv splits {} into {} groups", text(inference.input(0)), group);
        if (channels.known() && weights.known() && channels.value() != capped_product(weights.value(), group))
            return wrong_shape("Conv reads {} channels, its weights expect {} x {} groups", channels.value(),
                               weights.value(), group);
        VIRIDIAN_TRY(expect_shape(inference, 2, {(*w)[0]}));
        VIRIDIAN_TRY(const Windows windows, Windows::of(inference.node(), Shape(w->begin() + 2, w->end())));
        out = Shape{(*x)[0], (*w)[0]};
        for (std::size_t axis = 0; axis + 2 < x->size(); ++axis) {
            VIRIDIAN_TRY(Dimension extent, windows.output(axis, (*x)[axis + 2]));
            out->push_back(std::move(extent));
        }
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// The inputs under output cells first … first + width of one image and group, one row per (channel, kernel
// cell): a convolution is then a matrix product.
template <class Scalar>
void gather_columns(const Scalar* planes, std::int64_t channels, std::int64_t plane,
                    const std::vector<std::int64_t>& cells, std::int64_t taps, std::int64_t first,
                    std::int64_t width, Scalar* columns) {
    for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t k = 0; k < taps; ++k, columns += width)
            for (std::int64_t o = 0; o < width; ++o) {
                const std::int64_t cell = cells[static_cast<std::size_t>((first + o) * taps + k)];
                columns[o] = cell < 0 ? Scalar(0) : planes[c * plane + cell];
            }
}

constexpr auto convolve = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    using Wide = Accumulator<Scalar>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& w = *call.input(1);
    const Array<Scalar>* bias = call.input(2);
    Array<Scalar>& y = call.outputs[0];
    const Grid from(Dims(x.dims.begin() + 2, x.dims.end()));
    const Grid to(Dims(y.dims.begin() + 2, y.dims.end()));
    const Grid kernel(Dims(w.dims.begin() + 2, w.dims.end()));
    VIRIDIAN_TRY(const Windows windows, Windows::of(call.node, shape_of(kernel.extents)));
    const std::int64_t group = call.node.integer("group", 1);
    const std::int64_t channels = w.dims[1];
    const std::int64_t filters = w.dims[0] / group;
    const std::int64_t depth = channels * kernel.count;
    // The input cell under (output cell, kernel cell), −1 in the padding: the same for every channel and
    // image.
    VIRIDIAN_TRY(const std::vector<std::int64_t> cells, windows.cells(from, to, kernel));
    const std::int64_t most =
        std::clamp<std::int64_t>((1 << 20) / std::max<std::int64_t>(depth, 1), 64, 4096);
    std::vector<Scalar> columns(static_cast<std::size_t>(depth * std::min(most, to.count)));
    std::vector<Wide> sums(static_cast<std::size_t>(filters * std::min(most, to.count)));
    for (std::int64_t image = 0; image < x.dims[0] * group; ++image)
        for (std::int64_t first = 0; first < to.count; first += most) {
            const std::int64_t width = std::min(most, to.count - first);
            gather_columns(x.real.data() + image * channels * from.count, channels, from.count, cells,
                           kernel.count, first, width, columns.data());
            const std::int64_t filter = image % group * filters;
            for (std::int64_t m = 0; m < filters; ++m)
                std::fill_n(
                    sums.begin() + m * width, width,
                    bias == nullptr ? Wide(0) : Wide(bias->real[static_cast<std::size_t>(filter + m)]));
            multiply_add<Scalar>(filters, width, depth, {w.real.data() + filter * depth, depth, 1},
                                 {columns.data(), width, 1}, sums.data());
            for (std::int64_t m = 0; m < filters; ++m)
                std::transform(sums.begin() + m * width, sums.begin() + (m + 1) * width,
                               y.real.begin() + (image * filters + m) * to.count + first,
                               [](Wide sum) { return static_cast<Scalar>(sum); });
        }
    return {};
};

// Multiply and add count two.
Flop convolution_flop_convolution(const Operation& operation) {
    std::int64_t count = 2;
    for (const std::int64_t dimension : operation.outputs[0].dims()) count *= dimension;
    const Dims w = operation.inputs[1].dims();
    for (std::size_t i = 1; i < w.size(); ++i) count *= w[i];
    return Flop(count);
}

IterationSpace convolution_space_convolution(const Operation& operation) {
    const Dims w = operation.inputs[1].dims();
    return summed_over(operation, std::span(w).subspan(1));
}

}  // namespace

std::span<const OperatorRow> convolution_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row("Conv", {2, 3}, infer_convolution_convolution, polynomial_kernel(convolve),
                        {.precision = precision::f32_sums,
                         .samples = Samples::apart,
                         .sets = {.bf16 = 22},
                         .flop = convolution_flop_convolution,
                         .iteration_space = convolution_space_convolution}),
    };
    return rows;
}

}  // namespace viridian::graph
