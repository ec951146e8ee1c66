#include "viridian/gradient/rules/windows.hpp"

#include <algorithm>

#include "viridian/graph/reference/windows.hpp"

namespace viridian::gradient {
namespace {

using graph::Windows;

Windows read_windows(const Node& node, const Dims& kernel) {
    Result<Windows> windows = Windows::of(node, graph::shape_of(kernel));
    if (!windows.ok()) throw Refusal{windows.error()};
    return *windows;
}

// Returns whether every window covers a cell of the input.
bool all_meet_the_input(const Windows& windows, const Dims& kernel, const Dims& wide) {
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
        const auto found = windows.output(axis, graph::Dimension(wide[axis]));
        if (!found.ok() || found->value() < 1) return false;
        const std::int64_t narrow = found->value(), before = windows.begin(axis, wide[axis], narrow);
        for (std::int64_t o = 0; o < narrow; ++o) {
            bool meets = false;
            for (std::int64_t k = 0; k < kernel[axis]; ++k) {
                const std::int64_t cell = o * windows.strides[axis] + k * windows.dilations[axis] - before;
                meets = meets || (cell >= 0 && cell < wide[axis]);
            }
            if (!meets) return false;
        }
    }
    return true;
}

}  // namespace

Dims WindowAxes::after() const {
    Dims cells;
    for (const std::int64_t rest : tail) cells.push_back(std::max<std::int64_t>(0, -rest));
    return cells;
}

Dims WindowAxes::beyond() const {
    Dims cells;
    for (const std::int64_t rest : tail) cells.push_back(std::max<std::int64_t>(0, rest));
    return cells;
}

Attributes WindowAxes::attributes() const {
    Dims pads = before;
    const Dims behind = after();
    pads.insert(pads.end(), behind.begin(), behind.end());
    return {{"kernel_shape", kernel}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}};
}

WindowAxes windows_of(const Site& site, const Dims& kernel, const Dims& wide, const Dims& narrow) {
    const Windows windows = read_windows(site.node(), kernel);
    WindowAxes axes{.kernel = kernel,
                    .strides = windows.strides,
                    .dilations = windows.dilations,
                    .wide = wide,
                    .narrow = narrow,
                    .before = {},
                    .tail = {}};
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
        const std::int64_t reach = (kernel[axis] - 1) * axes.dilations[axis] + 1;
        axes.before.push_back(windows.begin(axis, wide[axis], narrow[axis]));
        axes.tail.push_back(wide[axis] + axes.before[axis] - reach - axes.strides[axis] * (narrow[axis] - 1));
    }
    return axes;
}

Term spread_windows(Term x, Term weights, const WindowAxes& axes, std::int64_t group) {
    Attributes attributes = axes.attributes();
    attributes.erase("kernel_shape");  // the weights say it
    attributes["group"] = group;
    attributes["output_padding"] = axes.beyond();
    return x.builder->add(op::ConvTranspose, {x, weights}, std::move(attributes));
}

Term spread_windows_evenly(Term x, const WindowAxes& axes) {
    Builder& b = *x.builder;
    const Dims dims = b.dims(x);
    Dims planes = dims, kernel = axes.kernel, result = {dims[0], dims[1]};
    planes[0] *= planes[1];
    planes[1] = 1;
    kernel.insert(kernel.begin(), {1, 1});
    result.insert(result.end(), axes.wide.begin(), axes.wide.end());
    return reshape(spread_windows(reshape(x, planes), expand(b.number(1, x), kernel), axes, 1), result);
}

RandomWindows random_windows(Instance& i, std::size_t axes, WindowsOf what) {
    const bool pool = what == WindowsOf::pool;
    const auto list = [&](std::size_t length, std::int64_t low, std::int64_t high) {
        Dims numbers(length);
        for (std::int64_t& number : numbers) number = i.extent(low, high);
        return numbers;
    };
    for (;;) {
        RandomWindows made{.kernel = list(axes, 1, 3), .wide = {}, .attributes = {}};
        if (i.coin()) made.attributes["strides"] = list(axes, 1, 3);
        if (i.coin()) made.attributes["dilations"] = list(axes, 1, 2);
        const auto* const padding =
            i.pick({"NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
        if (padding != std::string_view("NOTSET"))
            made.attributes["auto_pad"] = std::string(padding);
        else if (i.coin())
            made.attributes["pads"] = list(2 * axes, 0, 2);
        if (pool) {
            made.attributes["kernel_shape"] = made.kernel;
            if (i.coin()) made.attributes["ceil_mode"] = std::int64_t{1};
        }
        made.wide = list(axes, 1, axes == 3 ? 4 : 7);
        Node node;
        node.attributes = made.attributes;
        const Windows windows = read_windows(node, made.kernel);
        if (all_meet_the_input(windows, made.kernel, made.wide)) return made;
    }
}

}  // namespace viridian::gradient
