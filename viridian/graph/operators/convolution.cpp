// Conv: Y[n,m,o] = B[m] + sum over c, k of X[n,c, o·stride + k·dilation − pad] · W[m,c,k], in any number of
// spatial dimensions, with groups. X is [N,C,spatial…], W [M,C/group,kernel…].
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/windows.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_convolution(Inference& inference) {
    const auto& x = inference.shape(0);
    const auto& w = inference.shape(1);
    std::optional<Shape> out;
    if (x && w) {
        if (x->size() != w->size() || x->size() < 3)
            return fail(ErrorCode::mismatch, "check the model's shapes", "Conv reads ranks {} and {}",
                        x->size(), w->size());
        const std::int64_t group = inference.node().integer("group", 1);
        const Dimension& channels = (*x)[1];
        const Dimension& weights = (*w)[1];
        if (channels.known() && weights.known() && channels.value() != weights.value() * group)
            return fail(ErrorCode::mismatch, "check the model's shapes",
                        "Conv reads {} channels, its weights expect {} x {} groups", channels.value(),
                        weights.value(), group);
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

constexpr auto convolve = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& w = *call.input(1);
    const Array<Scalar>* bias = call.input(2);
    const std::size_t spatial = x.dims.size() - 2;
    const std::int64_t group = call.node.integer("group", 1);
    VIRIDIAN_TRY(const Windows windows,
                 Windows::of(call.node, shape_of(Dims(w.dims.begin() + 2, w.dims.end()))));
    Dims out = {x.dims[0], w.dims[0]};
    for (std::size_t axis = 0; axis < spatial; ++axis) {
        VIRIDIAN_TRY(const Dimension extent, windows.output(axis, x.dims[axis + 2]));
        out.push_back(extent.value());
    }
    Array<Scalar>& y = call.outputs[0] = Array<Scalar>(x.type, out);

    const Grid from(Dims(x.dims.begin() + 2, x.dims.end()));
    const Grid to(Dims(out.begin() + 2, out.end()));
    const Grid kernel(Dims(w.dims.begin() + 2, w.dims.end()));
    const std::int64_t channels = w.dims[1];
    const std::int64_t per_group = w.dims[0] / group;
    // The input cell under (output cell, kernel cell), −1 in the padding: the same for every channel and
    // image.
    const std::vector<std::int64_t> cells = windows.cells(from, to, kernel);
    for (std::int64_t n = 0; n < out[0]; ++n)
        for (std::int64_t m = 0; m < out[1]; ++m)
            for (std::int64_t o = 0; o < to.count; ++o) {
                Accumulator<Scalar> sum = bias == nullptr
                                              ? Accumulator<Scalar>(0)
                                              : Accumulator<Scalar>(bias->real[static_cast<std::size_t>(m)]);
                for (std::int64_t c = 0; c < channels; ++c) {
                    const std::int64_t plane = (n * x.dims[1] + m / per_group * channels + c) * from.count;
                    const std::int64_t weight = (m * channels + c) * kernel.count;
                    for (std::int64_t k = 0; k < kernel.count; ++k)
                        if (const std::int64_t cell = cells[static_cast<std::size_t>(o * kernel.count + k)];
                            cell >= 0)
                            sum += Accumulator<Scalar>(x.real[static_cast<std::size_t>(plane + cell)]) *
                                   Accumulator<Scalar>(w.real[static_cast<std::size_t>(weight + k)]);
                }
                y.real[static_cast<std::size_t>((n * out[1] + m) * to.count + o)] = static_cast<Scalar>(sum);
            }
    return {};
};

// Multiply and add count two.
Flop convolution_flop(const Operation& operation) {
    std::int64_t count = 2;
    for (const std::int64_t dimension : operation.outputs[0].dims()) count *= dimension;
    const Dims w = operation.inputs[1].dims();
    for (std::size_t i = 1; i < w.size(); ++i) count *= w[i];
    return Flop(count);
}

IterationSpace convolution_space(const Operation& operation) {
    IterationSpace space;
    for (const std::int64_t dimension : operation.outputs[0].dims()) space.push_back({dimension, false});
    const Dims w = operation.inputs[1].dims();
    for (std::size_t i = 1; i < w.size(); ++i) space.push_back({w[i], true});
    return space;
}

constexpr OperatorRow rows[] = {
    {.name = "Conv",
     .domain = "",
     .inputs = {2, 3},
     .outputs = {1, 1},
     .operator_class = OperatorClass::contraction,
     .safety = NumericSafety::allow,
     .infer = infer_convolution,
     .reference = polynomial_kernel(convolve),
     .flop = convolution_flop,
     .iteration_space = convolution_space},
};

}  // namespace

std::span<const OperatorRow> convolution_operators() { return rows; }

}  // namespace viridian::graph
