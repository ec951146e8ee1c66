// DeformConv: a convolution whose taps are moved by learnt offsets and scaled by a mask (Dai et al., ICCV
// 2017; Zhu et al., CVPR 2019), in any number of spatial dimensions; between cells the input is interpolated
// linearly.
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/interpolation.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_deformable(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(expect_rank(inference, 0, 3, 10));
    const auto& x = inference.shape(0);
    const auto& w = inference.shape(1);
    std::optional<Shape> out;
    if (x && w) {
        const std::int64_t group = inference.node().integer("group", 1);
        const std::int64_t offsets = inference.node().integer("offset_group", 1);
        const auto splits = [](const Dimension& dimension, std::int64_t by) {
            return by >= 1 && (!dimension.known() || dimension.value() % by == 0);
        };
        if (x->size() != w->size() || !splits((*x)[1], group) || !splits((*w)[0], group) ||
            !splits((*x)[1], offsets) ||
            ((*x)[1].known() && (*w)[1].known() && (*x)[1].value() != capped_product((*w)[1].value(), group)))
            return wrong_shape("DeformConv reads {} with weights {}", text(inference.input(0)),
                               text(inference.input(1)));
        VIRIDIAN_TRY(const Windows windows, Windows::of(inference.node(), Shape(w->begin() + 2, w->end())));
        out = Shape{(*x)[0], (*w)[0]};
        std::int64_t taps = 1;
        bool known = true;
        for (std::size_t axis = 0; axis + 2 < x->size(); ++axis) {
            VIRIDIAN_TRY(Dimension extent, windows.output(axis, (*x)[axis + 2]));
            out->push_back(std::move(extent));
            known = known && (*w)[axis + 2].known();
            if (known) taps *= (*w)[axis + 2].value();
        }
        Shape expected = *out;
        const auto axes = static_cast<std::int64_t>(x->size()) - 2;
        expected[1] = known ? Dimension(capped_product(offsets, taps * axes)) : Dimension();
        VIRIDIAN_TRY(expect_shape(inference, 2, expected));
        expected[1] = known ? Dimension(capped_product(offsets, taps)) : Dimension();
        VIRIDIAN_TRY(expect_shape(inference, 4, expected));
        VIRIDIAN_TRY(expect_shape(inference, 3, {(*w)[0]}));
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// The cells around a point and their weights; cells outside are left out.
std::vector<Tap> around(const std::vector<double>& point, const Dims& extents) {
    std::vector<Tap> taps = {{0, 1}};
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        const double at = std::abs(point[axis]) < 1e15 ? point[axis] : -1e15;
        const double floor = std::floor(at);
        std::vector<Tap> product;
        for (const double cell : {floor, floor + 1}) {
            const double weight = 1 - std::abs(at - cell);
            if (cell < 0 || cell >= static_cast<double>(extents[axis]) || weight == 0) continue;
            for (const Tap& tap : taps)
                product.push_back(
                    {tap.cell * extents[axis] + static_cast<std::int64_t>(cell), tap.weight * weight});
        }
        taps = std::move(product);
    }
    return taps;
}

constexpr auto deformable = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& w = *call.input(1);
    const Array<Scalar>& offset = *call.input(2);
    const Array<Scalar>* bias = call.input(3);
    const Array<Scalar>* mask = call.input(4);
    Array<Scalar>& y = call.outputs[0];
    const Grid from(Dims(x.dims.begin() + 2, x.dims.end()));
    const Grid to(Dims(y.dims.begin() + 2, y.dims.end()));
    const Grid kernel(Dims(w.dims.begin() + 2, w.dims.end()));
    const std::size_t axes = from.extents.size();
    VIRIDIAN_TRY(const Windows windows, Windows::of(call.node, shape_of(kernel.extents)));
    const std::int64_t group = call.node.integer("group", 1);
    const std::int64_t offset_groups = call.node.integer("offset_group", 1);
    const std::int64_t channels = x.dims[1];
    const std::int64_t filters = w.dims[0] / group;
    const std::int64_t per_offset = channels / offset_groups;
    const std::int64_t per_group = w.dims[1];
    std::vector<double> columns(static_cast<std::size_t>(channels * kernel.count));
    for (std::int64_t n = 0; n < x.dims[0]; ++n)
        for (std::int64_t o = 0; o < to.count; ++o) {
            const Dims at = to.position(o);
            for (std::int64_t g = 0; g < offset_groups; ++g)
                for (std::int64_t k = 0; k < kernel.count; ++k) {
                    const Dims tap = kernel.position(k);
                    const std::int64_t place = (n * offset_groups + g) * kernel.count + k;
                    std::vector<double> point;
                    for (std::size_t axis = 0; axis < axes; ++axis) {
                        const auto index = static_cast<std::size_t>(
                            (place * static_cast<std::int64_t>(axes) + static_cast<std::int64_t>(axis)) *
                                to.count +
                            o);
                        const std::int64_t regular =
                            at[axis] * windows.strides[axis] + tap[axis] * windows.dilations[axis] -
                            windows.begin(axis, from.extents[axis], to.extents[axis]);
                        point.push_back(static_cast<double>(regular) +
                                        static_cast<double>(offset.real[index]));
                    }
                    const std::vector<Tap> taps = around(point, from.extents);
                    const double scale =
                        mask == nullptr
                            ? 1
                            : static_cast<double>(mask->real[static_cast<std::size_t>(place * to.count + o)]);
                    for (std::int64_t c = g * per_offset; c < (g + 1) * per_offset; ++c) {
                        double sum = 0;
                        for (const Tap& cell : taps)
                            sum += cell.weight * static_cast<double>(x.real[static_cast<std::size_t>(
                                                     (n * channels + c) * from.count + cell.cell)]);
                        columns[static_cast<std::size_t>(c * kernel.count + k)] = sum * scale;
                    }
                }
            for (std::int64_t m = 0; m < w.dims[0]; ++m) {
                const std::int64_t first = m / filters * per_group * kernel.count;
                double sum =
                    bias == nullptr ? 0 : static_cast<double>(bias->real[static_cast<std::size_t>(m)]);
                for (std::int64_t i = 0; i < per_group * kernel.count; ++i)
                    sum += columns[static_cast<std::size_t>(first + i)] *
                           static_cast<double>(
                               w.real[static_cast<std::size_t>(m * per_group * kernel.count + i)]);
                y.real[static_cast<std::size_t>((n * w.dims[0] + m) * to.count + o)] =
                    static_cast<Scalar>(sum);
            }
        }
    return {};
};

// The convolution, and a linear interpolation (2 per corner) with its mask at every tap of every channel.
Flop deformable_flop(const Operation& operation) {
    const Dims w = operation.inputs[1].dims();
    const Dims y = operation.outputs[0].dims();
    const std::int64_t taps = product(std::span(w).subspan(2));
    const std::int64_t cells = product(std::span(y).subspan(2)) * y[0];
    const std::int64_t corners = std::int64_t{2} << (w.size() - 2);
    const std::int64_t channels = operation.inputs[0].dims()[1];
    return Flop(2 * y[1] * w[1] * taps * cells + (corners + 1) * taps * channels * cells);
}

IterationSpace deformable_space(const Operation& operation) {
    const Dims w = operation.inputs[1].dims();
    return summed_over(operation, std::span(w).subspan(1));
}

}  // namespace

std::span<const OperatorRow> deformable_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row("DeformConv", {3, 5}, infer_deformable, real_kernel(deformable),
                        {.sets = {.any = 19}, .flop = deformable_flop, .iteration_space = deformable_space}),
    };
    return rows;
}

}  // namespace viridian::graph
