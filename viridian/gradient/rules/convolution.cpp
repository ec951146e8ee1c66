// Convolutions. The gradients are operators of their own, because every library has kernels for them; their
// bodies are convolutions again (Dumoulin and Visin, "A guide to convolution arithmetic", 2016, chapter 4).
#include <algorithm>
#include <numeric>

#include "viridian/gradient/rules/families.hpp"
#include "viridian/gradient/rules/windows.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

Attributes with_group(const WindowAxes& axes, std::int64_t group) {
    Attributes attributes = axes.attributes();
    attributes["group"] = group;
    return attributes;
}

// The attributes of a standard convolution, whose weights say the kernel's shape.
Attributes standard_attributes(const WindowAxes& axes, std::int64_t group) {
    Attributes attributes = with_group(axes, group);
    attributes.erase("kernel_shape");
    return attributes;
}

Term conv_grad_input(Term g, Term w, const WindowAxes& axes, std::int64_t group) {
    return g.builder->call(
        op::ConvGradInput, {g, w}, with_group(axes, group),
        [=](Builder&, const Terms& in) -> Terms { return {spread_windows(in[0], in[1], axes, group)}; })[0];
}

// The order 1, 0, 2, 3, … of `rank` axes.
Dims first_two_exchanged(std::size_t rank) {
    Dims order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[0], order[1]);
    return order;
}

// [N,C,…] → [C/group, group · N, …]: the images become the channels of a convolution in groups.
Term images_as_channels(Term x, std::int64_t group) {
    const Dims dims = x.builder->dims(x);
    if (group == 1) return transpose(x, first_two_exchanged(dims.size()));
    Dims split = {dims[0], group, dims[1] / group}, order = {2, 1, 0}, joined = {split[2], group * dims[0]};
    for (std::size_t axis = 2; axis < dims.size(); ++axis) {
        split.push_back(dims[axis]);
        order.push_back(static_cast<std::int64_t>(axis) + 1);
        joined.push_back(dims[axis]);
    }
    return reshape(transpose(reshape(x, split), order), joined);
}

// dW[m,c,k] = Σ over n, o of g[n,m,o] · x[n,c,o·stride + k·dilation − before]: a convolution of x with g, in
// which images are channels, and strides and dilations change places.
Term weight_meaning(Term x, Term g, const WindowAxes& axes, std::int64_t group) {
    const std::size_t rank = axes.count() + 2;
    WindowAxes turned = axes;
    turned.kernel = axes.narrow;
    std::swap(turned.strides, turned.dilations);
    Term dw =
        x.builder->add(op::Conv, {images_as_channels(x, group), transpose(g, first_two_exchanged(rank))},
                       standard_attributes(turned, group));
    for (std::size_t axis = 0; axis < axes.count(); ++axis)  // windows over cells that the kernel never meets
        dw = slice(dw, static_cast<std::int64_t>(axis) + 2, 0, axes.kernel[axis]);
    return transpose(dw, first_two_exchanged(rank));
}

Term conv_grad_weight(Term x, Term g, const WindowAxes& axes, std::int64_t group) {
    return x.builder->call(
        op::ConvGradWeight, {x, g}, with_group(axes, group),
        [=](Builder&, const Terms& in) -> Terms { return {weight_meaning(in[0], in[1], axes, group)}; })[0];
}

Term bias_gradient(Term g) {
    Dims axes(g.builder->dims(g).size() - 1);
    std::iota(axes.begin() + 1, axes.end(), 2);
    return sum(g, axes, false);
}

Terms conv_rule(Site& s) {
    const std::int64_t group = s.integer("group", 1);
    const WindowAxes axes =
        windows_of(s, spatial(s.dims(s.x(1))), spatial(s.dims(s.x(0))), spatial(s.dims(s.y())));
    return {s.wants(0) ? conv_grad_input(s.g(), s.x(1), axes, group) : Term(),
            s.wants(1) ? conv_grad_weight(s.x(0), s.g(), axes, group) : Term(),
            s.wants(2) ? bias_gradient(s.g()) : Term()};
}

// The windows of the convolution whose transpose this node computes: its output is what they slide over.
WindowAxes transposed_windows(const Site& s) {
    const Dims narrow = spatial(s.dims(s.x(0))), wide = spatial(s.dims(s.y()));
    WindowAxes axes = windows_of(s, spatial(s.dims(s.x(1))), wide, narrow);
    const Dims extra = s.node().get("output_padding", Dims(axes.count(), 0));
    const std::string padding = s.node().get("auto_pad", std::string("NOTSET"));
    const bool by_shape = !s.node().get("output_shape", Dims()).empty() || padding.starts_with("SAME");
    for (std::size_t axis = 0; axis < axes.count(); ++axis) {
        const std::int64_t reach = (axes.kernel[axis] - 1) * axes.dilations[axis] + 1;
        const std::int64_t last = axes.strides[axis] * (narrow[axis] - 1);
        const std::int64_t pads = std::max<std::int64_t>(0, last + extra[axis] + reach - wide[axis]);
        if (by_shape) axes.before[axis] = padding == "SAME_UPPER" ? pads / 2 : pads - pads / 2;
        axes.tail[axis] = wide[axis] + axes.before[axis] - reach - last;
    }
    return axes;
}

Terms conv_transpose_rule(Site& s) {
    const std::int64_t group = s.integer("group", 1);
    const WindowAxes axes = transposed_windows(s);
    Term dx;
    if (s.wants(0)) {
        dx = s.b.add(op::Conv, {s.g(), s.x(1)}, standard_attributes(axes, group));
        for (std::size_t axis = 0; axis < axes.count(); ++axis)  // windows behind the last
            dx = slice(dx, static_cast<std::int64_t>(axis) + 2, 0, axes.narrow[axis]);
    }
    return {dx, s.wants(1) ? conv_grad_weight(s.g(), s.x(0), axes, group) : Term(),
            s.wants(2) ? bias_gradient(s.g()) : Term()};
}

// Extents that make exchanged axes fit now and then.
struct ConvolutionSizes {
    std::int64_t images, group, in, out;  // in and out for each group
};
ConvolutionSizes convolution_sizes(Instance& i) {
    if (i.extent(0, 4) == 0) return {2, 1, 2, 2};
    return {i.extent(1, 3), i.pick({1, 1, 2, 3}), i.extent(1, 2), i.extent(1, 2)};
}

Dims joined(std::int64_t a, std::int64_t b, const Dims& rest) {
    Dims dims = {a, b};
    dims.insert(dims.end(), rest.begin(), rest.end());
    return dims;
}

void conv_instance(Instance& i) {
    const auto [images, group, in, out] = convolution_sizes(i);
    RandomWindows windows =
        random_windows(i, static_cast<std::size_t>(i.pick({1, 2, 2, 3})), WindowsOf::convolution);
    if (group != 1) windows.attributes["group"] = group;
    Terms inputs = {i.input(joined(images, in * group, windows.wide)),
                    i.input(joined(out * group, in, windows.kernel))};
    if (i.coin()) inputs.push_back(i.input({out * group}));
    i.apply(op::Conv, inputs, windows.attributes);
}

void conv_transpose_instance(Instance& i) {
    const auto [images, group, in, out] = convolution_sizes(i);
    const auto axes = static_cast<std::size_t>(i.pick({1, 2, 2, 3}));
    RandomWindows windows = random_windows(i, axes, WindowsOf::convolution);
    for (std::int64_t& extent : windows.wide) extent = i.extent(2, axes == 3 ? 2 : 4);
    const Dims strides = windows.attributes.contains("strides")
                             ? std::get<Dims>(windows.attributes["strides"])
                             : Dims(axes, 1);
    const Dims dilations = windows.attributes.contains("dilations")
                               ? std::get<Dims>(windows.attributes["dilations"])
                               : Dims(axes, 1);
    Dims extra(axes), shape(axes);
    for (std::size_t axis = 0; axis < axes; ++axis) {
        extra[axis] = i.extent(0, std::max(strides[axis], dilations[axis]) - 1);
        shape[axis] = strides[axis] * (windows.wide[axis] - 1) + i.extent(1, 4);
        if (!windows.attributes.contains("pads")) continue;
        Dims& pads = std::get<Dims>(windows.attributes["pads"]);  // leave at least one cell
        const std::int64_t reach = (windows.kernel[axis] - 1) * dilations[axis];
        pads[axis] = std::min(pads[axis], reach);
        pads[axis + axes] =
            std::min(pads[axis + axes], strides[axis] * (windows.wide[axis] - 1) + reach - pads[axis]);
    }
    if (i.coin()) windows.attributes["output_padding"] = extra;
    if (i.extent(0, 3) == 0) windows.attributes["output_shape"] = shape;
    if (group != 1) windows.attributes["group"] = group;
    Terms inputs = {i.input(joined(images, in * group, windows.wide)),
                    i.input(joined(in * group, out, windows.kernel))};
    if (i.coin()) inputs.push_back(i.input({out * group}));
    i.apply(op::ConvTranspose, inputs, windows.attributes);
}

}  // namespace

std::vector<Rule> convolution_rules() {
    using enum Rule::Form;
    return {
        {op::Conv, "dx = the transposed convolution of g, dw = x ⋆ g, db = Σ g", multilinear, conv_rule,
         conv_instance},
        {op::ConvTranspose, "dx = the convolution of g, dw = g ⋆ x, db = Σ g", multilinear,
         conv_transpose_rule, conv_transpose_instance},
    };
}

}  // namespace viridian::gradient
