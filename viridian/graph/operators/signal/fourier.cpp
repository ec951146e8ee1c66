// DFT and STFT by the definition (complex numbers are a last axis of two), and MelWeightMatrix.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/lines.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

using Complex = std::complex<double>;
constexpr std::int64_t longest = 1 << 24;  // of a transform

// y[k] = Σ x[n] · e^(∓2πi·kn/length) for k < count; x is cut or padded with zeros. The inverse divides by
// length.
std::vector<Complex> transform(const std::vector<Complex>& x, std::int64_t length, std::int64_t count,
                               bool inverse) {
    std::vector<Complex> turns(static_cast<std::size_t>(length));
    for (std::int64_t i = 0; i < length; ++i)
        turns[static_cast<std::size_t>(i)] =
            std::polar(1.0, (inverse ? 2 : -2) * std::numbers::pi * static_cast<double>(i) /
                                static_cast<double>(length));
    std::vector<Complex> y(static_cast<std::size_t>(count));
    const auto used = std::min(static_cast<std::int64_t>(x.size()), length);
    for (std::int64_t k = 0; k < count; ++k) {
        Complex sum = 0;
        std::int64_t turn = 0;
        for (std::int64_t n = 0; n < used; ++n) {
            sum += x[static_cast<std::size_t>(n)] * turns[static_cast<std::size_t>(turn)];
            turn = (turn + k) % length;
        }
        y[static_cast<std::size_t>(k)] = inverse ? sum / static_cast<double>(length) : sum;
    }
    return y;
}

struct Transform {
    std::int64_t axis = 0;
    std::int64_t length = 0;
    bool inverse = false;
    bool onesided = false;
};

Result<Transform> transform_of(const Node& node, const Dims& x, const Tensor* length, const Tensor* axis) {
    Transform t;
    const auto rank = static_cast<std::int64_t>(x.size());
    VIRIDIAN_TRY(t.axis, normalize_axis(axis == nullptr ? -2 : axis->integer(0), rank));
    if (t.axis == rank - 1) return wrong_shape("DFT `{}` runs along the axis of complex parts", node.name);
    t.inverse = node.integer("inverse", 0) != 0;
    t.onesided = node.integer("onesided", 0) != 0;
    const std::int64_t size = x[static_cast<std::size_t>(t.axis)];
    t.length = length != nullptr ? length->integer(0) : t.onesided && t.inverse ? 2 * (size - 1) : size;
    if (t.length < 1 || t.length > longest)
        return wrong_shape("DFT `{}` has a length of {}", node.name, t.length);
    return t;
}

const Tensor* scalar_constant(const Inference& inference, std::size_t i) {
    const Tensor* constant = inference.constant(i);
    return constant != nullptr && constant->count() == 1 ? constant : nullptr;
}

Result<void> infer_dft(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 0));
    VIRIDIAN_TRY(expect_integer(inference, 1, 2));
    VIRIDIAN_TRY(expect_rank(inference, 0, 2));
    std::optional<Shape> out = inference.shape(0);
    if (out) {
        const Dimension parts = out->back();
        if (parts.known() && parts.value() != 1 && parts.value() != 2)
            return wrong_shape("DFT reads {}: its last axis must be 1 or 2", text(inference.input(0)));
        const Tensor* length = scalar_constant(inference, 1);
        const Tensor* axis = scalar_constant(inference, 2);
        const bool axis_known = axis != nullptr || !inference.has_input(2);
        const bool length_known = length != nullptr || !inference.has_input(1);
        Dims dims;
        bool known = true;
        for (const Dimension& dimension : *out) {
            known = known && dimension.known();
            dims.push_back(std::max<std::int64_t>(dimension.value(), 2));
        }
        if (known) dims = inference.input(0).dims();
        const bool real =
            inference.node().integer("onesided", 0) != 0 && inference.node().integer("inverse", 0) != 0;
        if (axis_known && length_known) {
            VIRIDIAN_TRY(const Transform t, transform_of(inference.node(), dims, length, axis));
            Dimension& extent = (*out)[static_cast<std::size_t>(t.axis)];
            if (extent.known() || length != nullptr)
                extent = Dimension(t.onesided && !t.inverse ? t.length / 2 + 1 : t.length);
            else
                extent = Dimension();
        } else {
            out = Shape(out->size());
        }
        out->back() = Dimension(real ? 1 : 2);
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// Line i of x along an axis, whose last axis holds the parts.
template <class Scalar>
std::vector<Complex> line_of(const Array<Scalar>& x, const Lines& lines, std::int64_t i, std::int64_t parts) {
    std::vector<Complex> line;
    for (std::int64_t j = 0; j < lines.length; ++j) {
        const std::size_t at = lines.at(i, j) * static_cast<std::size_t>(parts);
        line.emplace_back(static_cast<double>(x.real[at]),
                          parts == 2 ? static_cast<double>(x.real[at + 1]) : 0);
    }
    return line;
}

constexpr auto dft = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    if (call.outputs[0].dims.empty())
        return wrong_shape("DFT `{}` of a shape that is not decided", call.node.name);
    const Array<Scalar>& x = *call.input(0);
    Array<Scalar>& y = call.outputs[0];
    const auto tensor = [&](std::size_t i) {
        const Array<Scalar>* input = call.input(i);
        return input == nullptr || input->count() != 1 || input->floating()
                   ? Tensor()
                   : Tensor::scalar(input->integer[0]);
    };
    const Tensor length = tensor(1);
    const Tensor axis = tensor(2);
    VIRIDIAN_TRY(const Transform t, transform_of(call.node, x.dims, length.count() == 1 ? &length : nullptr,
                                                 axis.count() == 1 ? &axis : nullptr));
    const std::int64_t in_parts = x.dims.back();
    const std::int64_t out_parts = y.dims.back();
    const Lines from(Dims(x.dims.begin(), x.dims.end() - 1), t.axis);
    const Lines to(Dims(y.dims.begin(), y.dims.end() - 1), t.axis);
    for (std::int64_t i = 0; i < to.count; ++i) {
        std::vector<Complex> line = line_of(x, from, i, in_parts);
        if (t.inverse && t.onesided) {  // the other half mirrors this one
            line.resize(static_cast<std::size_t>(t.length / 2 + 1));
            for (std::int64_t k = t.length / 2 + 1; k < t.length; ++k)
                line.push_back(std::conj(line[static_cast<std::size_t>(t.length - k)]));
        }
        const std::vector<Complex> result = transform(line, t.length, to.length, t.inverse);
        for (std::int64_t j = 0; j < to.length; ++j) {
            const std::size_t at = to.at(i, j) * static_cast<std::size_t>(out_parts);
            y.real[at] = static_cast<Scalar>(result[static_cast<std::size_t>(j)].real());
            if (out_parts == 2)
                y.real[at + 1] = static_cast<Scalar>(result[static_cast<std::size_t>(j)].imag());
        }
    }
    return {};
};

// signal [B, length, 1 or 2], frame_step, window [frame] or none, frame_length → [B, frames, bins, 2].
Result<void> infer_stft(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 0));
    VIRIDIAN_TRY(expect_integer(inference, 1, 1));
    VIRIDIAN_TRY(expect_floating(inference, 2, 2));
    VIRIDIAN_TRY(expect_integer(inference, 3, 3));
    VIRIDIAN_TRY(expect_rank(inference, 0, 2, 3));
    VIRIDIAN_TRY(expect_rank(inference, 2, 1, 1));
    Dimension frame;
    if (const auto& window = inference.shape(2); inference.has_input(2) && window) frame = (*window)[0];
    if (const Tensor* length = scalar_constant(inference, 3)) {
        if (differ(frame, Dimension(length->integer(0))))
            return wrong_shape("STFT `{}` has a frame of {} and a window of {}", inference.node().name,
                               length->integer(0), frame.value());
        frame = Dimension(length->integer(0));
    }
    const Tensor* step = scalar_constant(inference, 1);
    Dimension frames;
    Dimension bins;
    const auto& x = inference.shape(0);
    if (x && x->size() == 3 && (*x)[2].known() && (*x)[2].value() != 1 && (*x)[2].value() != 2)
        return wrong_shape("STFT reads {}: its last axis must be 1 or 2", text(inference.input(0)));
    if (frame.known() && (frame.value() < 1 || frame.value() > longest))
        return wrong_shape("STFT `{}` has a frame of {}", inference.node().name, frame.value());
    if (step != nullptr && step->integer(0) < 1)
        return wrong_shape("STFT `{}` steps by {}", inference.node().name, step->integer(0));
    if (frame.known())
        bins =
            Dimension(inference.node().integer("onesided", 1) != 0 ? frame.value() / 2 + 1 : frame.value());
    if (x && frame.known() && step != nullptr && (*x)[1].known()) {
        if ((*x)[1].value() < frame.value())
            return wrong_shape("STFT `{}` has a signal of {} for frames of {}", inference.node().name,
                               (*x)[1].value(), frame.value());
        frames = Dimension(((*x)[1].value() - frame.value()) / step->integer(0) + 1);
    }
    inference.set(0, inference.element(0), Shape{x ? (*x)[0] : Dimension(), frames, bins, Dimension(2)});
    return {};
}

constexpr auto stft = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>* window = call.input(2);
    Array<Scalar>& y = call.outputs[0];
    if (y.dims.size() != 4 || call.input(1)->count() != 1)
        return wrong_shape("STFT `{}` has neither a window nor a frame length", call.node.name);
    const std::int64_t step = call.input(1)->integer[0];
    const std::int64_t frame = window != nullptr ? window->dims[0] : call.input(3)->integer[0];
    const std::int64_t parts = x.rank() == 3 ? x.dims[2] : 1;
    std::size_t next = 0;
    for (std::int64_t b = 0; b < y.dims[0]; ++b)
        for (std::int64_t f = 0; f < y.dims[1]; ++f) {
            std::vector<Complex> line;
            for (std::int64_t i = 0; i < frame; ++i) {
                const auto at = static_cast<std::size_t>((b * x.dims[1] + f * step + i) * parts);
                const double weight =
                    window == nullptr ? 1 : static_cast<double>(window->real[static_cast<std::size_t>(i)]);
                line.emplace_back(weight * static_cast<double>(x.real[at]),
                                  parts == 2 ? weight * static_cast<double>(x.real[at + 1]) : 0);
            }
            for (const Complex& bin : transform(line, frame, y.dims[2], false)) {
                y.real[next++] = static_cast<Scalar>(bin.real());
                y.real[next++] = static_cast<Scalar>(bin.imag());
            }
        }
    return {};
};

Result<void> infer_mel(Inference& inference) {
    VIRIDIAN_TRY(expect_integer(inference, 0, 2));
    VIRIDIAN_TRY(expect_floating(inference, 3, 4));
    const Tensor* bins = scalar_constant(inference, 0);
    const Tensor* length = scalar_constant(inference, 1);
    const ElementType type =
        element_type_of_onnx(inference.node().integer("output_datatype", 1)).value_or(ElementType::f32);
    for (const Tensor* size : {bins, length})
        if (size != nullptr && (size->integer(0) < 1 || size->integer(0) > longest))
            return wrong_shape("MelWeightMatrix `{}` has a size of {}", inference.node().name,
                               size->integer(0));
    inference.set(0, type,
                  Shape{length != nullptr ? Dimension(length->integer(0) / 2 + 1) : Dimension(),
                        bins != nullptr ? Dimension(bins->integer(0)) : Dimension()});
    return {};
}

// Triangles, evenly spaced in mel, over the bins of a one-sided spectrum.
constexpr auto mel = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    Array<Scalar>& y = call.outputs[0];
    if (y.dims.size() != 2) return wrong_shape("MelWeightMatrix `{}` needs scalar sizes", call.node.name);
    for (std::size_t i = 2; i < 5; ++i)
        if (call.input(i)->count() != 1)
            return wrong_shape("input {} of MelWeightMatrix must be one number", i);
    const std::int64_t rows = y.dims[0];
    const std::int64_t bands = y.dims[1];
    const auto to_mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
    const double low = to_mel(static_cast<double>(call.input(3)->real[0]));
    const double high = to_mel(static_cast<double>(call.input(4)->real[0]));
    const auto rate = static_cast<double>(call.input(2)->integer[0]);
    std::vector<std::int64_t> edges;
    for (std::int64_t i = 0; i < bands + 2; ++i) {
        const double at = low + static_cast<double>(i) * (high - low) / static_cast<double>(bands + 2);
        const double hertz = 700 * (std::pow(10, at / 2595) - 1);
        const double bin = std::floor(static_cast<double>(call.input(1)->integer[0] + 1) * hertz / rate);
        if (!(bin >= 0))
            return wrong_shape("MelWeightMatrix `{}` has frequencies without bins", call.node.name);
        edges.push_back(static_cast<std::int64_t>(std::min(bin, static_cast<double>(rows))));
    }
    for (std::int64_t band = 0; band < bands; ++band) {
        const std::int64_t left = edges[static_cast<std::size_t>(band)];
        const std::int64_t top = edges[static_cast<std::size_t>(band) + 1];
        const std::int64_t right = edges[static_cast<std::size_t>(band) + 2];
        const auto set = [&](std::int64_t row_fourier, double weight) {
            const auto at = static_cast<std::size_t>(row_fourier * bands + band);
            if (row_fourier >= rows) return;
            if (y.floating())
                y.real[at] = static_cast<Scalar>(weight);
            else
                y.integer[at] = static_cast<std::int64_t>(weight);
        };
        const auto share = [](std::int64_t part, std::int64_t whole) {
            return static_cast<double>(part) / static_cast<double>(whole);
        };
        if (left == top) set(top, 1);
        for (std::int64_t row_fourier = left; left != top && row_fourier <= top; ++row_fourier)
            set(row_fourier, share(row_fourier - left, top - left));
        for (std::int64_t row_fourier = top; top != right && row_fourier < right; ++row_fourier)
            set(row_fourier, share(right - row_fourier, right - top));
    }
    return {};
};

// Counted as fast transforms: 5·N·log2 N.
std::int64_t fast_transform(std::int64_t length) {
    return static_cast<std::int64_t>(5 * static_cast<double>(length) *
                                     std::log2(static_cast<double>(std::max<std::int64_t>(length, 2))));
}
Flop dft_flop(const Operation& operation) {
    // Whichever axis it runs along: the one whose extent changes, or the last.
    const Dims x = operation.inputs[0].dims();
    const Dims y = operation.outputs[0].dims();
    std::size_t axis = x.size() - 2;
    for (std::size_t i = 0; i + 1 < x.size(); ++i)
        if (x[i] != y[i]) axis = i;
    const std::int64_t length = std::max<std::int64_t>({x[axis], y[axis], 1});
    const std::int64_t lines = product(x) / std::max<std::int64_t>(x[axis] * x.back(), 1);
    return Flop(lines * fast_transform(length));
}
Flop stft_flop(const Operation& operation) {
    const Dims y = operation.outputs[0].dims();
    return Flop(y[0] * y[1] * fast_transform(2 * y[2]));
}

}  // namespace

std::span<const OperatorRow> fourier_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row("DFT", {1, 3}, infer_dft, real_kernel(dft), {.flop = dft_flop}),
        contraction_row("STFT", {2, 4}, infer_stft, real_kernel(stft), {.flop = stft_flop}),
        contraction_row("MelWeightMatrix", {5, 5}, infer_mel, real_kernel(mel)),
    };
    return rows;
}

}  // namespace viridian::graph
