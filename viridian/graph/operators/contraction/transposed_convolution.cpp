// ConvTranspose: the transpose of Conv's linear map. Every input cell spreads X[n,c,i] · W[c,m,k] over the
// output cells i·stride + k·dilation − pad. X is [N,C,spatial…], W [C,M/group,kernel…].
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/multiply.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::graph {
namespace {

struct Spread {
    Dims out;    // spatial extents of the output
    Dims begin;  // padding before the first cell
};

// Output extents and padding; the operator's document gives the equations. `extents` are known numbers.
Result<Spread> spread_of(const Node& node, const Windows& windows, const Dims& extents) {
    const std::size_t axes = extents.size();
    const Dims extra = node.get("output_padding", Dims(axes, 0));
    const Dims wanted = node.get("output_shape", Dims());
    if (extra.size() != axes || (!wanted.empty() && wanted.size() != axes))
        return wrong_attribute("`output_padding` or `output_shape` of node `{}` must hold {} numbers",
                               node.name, axes);
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const auto fits = [](std::int64_t number) { return number >= 0 && number <= most; };
    if (!std::ranges::all_of(extra, fits) || !std::ranges::all_of(wanted, fits) ||
        !std::ranges::all_of(extents, fits))
        return wrong_attribute("node `{}` has an extent or `output_padding` beyond [0, 2^31]", node.name);
    Spread spread;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        const std::int64_t stride = windows.strides[axis];
        const std::int64_t reach = (windows.kernel[axis].value() - 1) * windows.dilations[axis] + 1;
        const std::int64_t full = stride * (extents[axis] - 1) + extra[axis] + reach;
        const bool same = windows.auto_pad == "SAME_UPPER" || windows.auto_pad == "SAME_LOWER";
        if (!wanted.empty() || same) {
            const std::int64_t out = wanted.empty() ? extents[axis] * stride : wanted[axis];
            const std::int64_t pads = std::max<std::int64_t>(0, full - out);
            spread.out.push_back(out);
            spread.begin.push_back(windows.auto_pad == "SAME_UPPER" ? pads / 2 : pads - pads / 2);
        } else {
            const bool valid = windows.auto_pad == "VALID";
            spread.begin.push_back(valid ? 0 : windows.pads_begin[axis]);
            spread.out.push_back(full - (valid ? 0 : windows.pads_begin[axis] + windows.pads_end[axis]));
        }
        if (spread.out.back() < 0 || extents[axis] < 1)
            return wrong_shape("ConvTranspose `{}` has an output of {} cells", node.name, spread.out.back());
    }
    return spread;
}

Result<void> infer_transposed(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    const auto& x = inference.shape(0);
    const auto& w = inference.shape(1);
    std::optional<Shape> out;
    if (x && w) {
        if (x->size() != w->size() || x->size() < 3)
            return wrong_shape("ConvTranspose reads ranks {} and {}", x->size(), w->size());
        const std::int64_t group = inference.node().integer("group", 1);
        if (differ((*x)[1], (*w)[0]) || group < 1 || ((*x)[1].known() && (*x)[1].value() % group != 0))
            return wrong_shape("ConvTranspose reads {} with weights {} in {} groups",
                               text(inference.input(0)), text(inference.input(1)), group);
        const Dimension filters =
            (*w)[1].known() ? Dimension(capped_product((*w)[1].value(), group)) : Dimension();
        VIRIDIAN_TRY(expect_shape(inference, 2, {filters}));
        const Shape kernel(w->begin() + 2, w->end());
        VIRIDIAN_TRY(const Windows windows, Windows::of(inference.node(), kernel));
        out = Shape{(*x)[0], filters};
        const TensorType spatial = {inference.element(0), Shape(x->begin() + 2, x->end())};
        if (spatial.known() && TensorType{inference.element(1), kernel}.known()) {
            VIRIDIAN_TRY(const Spread spread, spread_of(inference.node(), windows, spatial.dims()));
            for (const std::int64_t extent : spread.out) out->emplace_back(extent);
        } else {
            out->resize(x->size());
        }
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto transposed = [](auto& call) -> Result<void> {
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
    VIRIDIAN_TRY(Windows windows, Windows::of(call.node, shape_of(kernel.extents)));
    VIRIDIAN_TRY(const Spread spread, spread_of(call.node, windows, from.extents));
    windows.auto_pad = "NOTSET";
    windows.pads_begin = spread.begin;
    // The output cell that (input cell, kernel cell) reaches, −1 outside.
    VIRIDIAN_TRY(const std::vector<std::int64_t> cells, windows.cells(to, from, kernel));
    const std::int64_t group = call.node.integer("group", 1);
    const std::int64_t channels = x.dims[1] / group;
    const std::int64_t filters = w.dims[1];
    const std::int64_t spreads = filters * kernel.count;
    std::vector<Wide> columns(static_cast<std::size_t>(spreads * from.count));
    std::vector<Wide> plane(static_cast<std::size_t>(to.count));
    for (std::int64_t image = 0; image < x.dims[0] * group; ++image) {
        const std::int64_t part = image % group;
        std::fill(columns.begin(), columns.end(), Wide(0));
        multiply_add<Scalar>(spreads, from.count, channels,
                             {w.real.data() + part * channels * spreads, 1, spreads},
                             {x.real.data() + image * channels * from.count, from.count, 1}, columns.data());
        for (std::int64_t m = 0; m < filters; ++m) {
            const auto filter = static_cast<std::size_t>(part * filters + m);
            std::fill(plane.begin(), plane.end(), bias == nullptr ? Wide(0) : Wide(bias->real[filter]));
            for (std::int64_t i = 0; i < from.count; ++i)
                for (std::int64_t k = 0; k < kernel.count; ++k)
                    if (const std::int64_t cell = cells[static_cast<std::size_t>(i * kernel.count + k)];
                        cell >= 0)
                        plane[static_cast<std::size_t>(cell)] +=
                            columns[static_cast<std::size_t>((m * kernel.count + k) * from.count + i)];
            std::transform(plane.begin(), plane.end(), y.real.begin() + (image * filters + m) * to.count,
                           [](Wide sum) { return static_cast<Scalar>(sum); });
        }
    }
    return {};
};

// Every input element meets every weight of its channel.
Flop transposed_flop(const Operation& operation) {
    const Dims w = operation.inputs[1].dims();
    return Flop(2 * count_of(operation.inputs[0]) * product(std::span(w).subspan(1)));
}

IterationSpace transposed_space(const Operation& operation) {
    Dims w = operation.inputs[1].dims();
    w.erase(w.begin() + 1);
    return summed_over(operation, w);
}

}  // namespace

std::span<const OperatorRow> transposed_convolution_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row("ConvTranspose", {2, 3}, infer_transposed, polynomial_kernel(transposed),
                        {.precision = precision::f32_sums,
                         .samples = Samples::apart,
                         .sets = {.bf16 = 22},
                         .flop = transposed_flop,
                         .iteration_space = transposed_space}),
    };
    return rows;
}

}  // namespace viridian::graph
