#include "viridian/graph/reference/windows.hpp"

#include <algorithm>

namespace viridian::graph {

Grid::Grid(Dims box) : extents(std::move(box)) {
    for (const std::int64_t extent : extents) count *= extent;
}

Dims Grid::position(std::int64_t cell) const {
    Dims at(extents.size());
    for (std::size_t axis = extents.size(); axis-- > 0; cell /= extents[axis])
        at[axis] = cell % extents[axis];
    return at;
}

Result<Windows> Windows::of(const Node& node, Shape kernel) {
    constexpr std::int64_t most = std::int64_t{1} << 31;
    const std::size_t axes = kernel.size();
    const auto read = [&](const char* key, std::size_t length, std::int64_t otherwise,
                          std::int64_t least) -> Result<Dims> {
        Dims list = node.get(key, Dims(length, otherwise));
        if (list.size() != length ||
            std::any_of(list.begin(), list.end(), [&](std::int64_t v) { return v < least || v > most; }))
            return fail(ErrorCode::malformed, "export the model again",
                        "`{}` of node `{}` must hold {} numbers of at least {}", key, node.name, length,
                        least);
        return list;
    };
    std::int64_t window = 1;
    for (const Dimension& extent : kernel) {
        if (extent.known() && extent.value() > most / std::max<std::int64_t>(window, 1))
            return fail(ErrorCode::malformed, "export the model again",
                        "node `{}` has a window of more than 2^31 cells", node.name);
        if (extent.known() && extent.value() > 0) window *= extent.value();
    }
    Windows windows;
    VIRIDIAN_TRY(windows.strides, read("strides", axes, 1, 1));
    VIRIDIAN_TRY(windows.dilations, read("dilations", axes, 1, 1));
    VIRIDIAN_TRY(const Dims pads, read("pads", 2 * axes, 0, 0));
    windows.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
    windows.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
    windows.auto_pad = node.get("auto_pad", std::string("NOTSET"));
    windows.ceil_mode = node.integer("ceil_mode", 0) != 0;
    windows.kernel = std::move(kernel);
    return windows;
}

Result<Dimension> Windows::output(std::size_t axis, const Dimension& input) const {
    if (!input.known() || !kernel[axis].known()) return Dimension();
    const std::int64_t stride = strides[axis];
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER")
        return Dimension((input.value() + stride - 1) / stride);
    const std::int64_t reach = (kernel[axis].value() - 1) * dilations[axis] + 1;
    const std::int64_t pads = auto_pad == "VALID" ? 0 : pads_begin[axis] + pads_end[axis];
    const std::int64_t room = input.value() + pads - reach;
    if (room < 0)
        return fail(ErrorCode::mismatch, "check the input size and the model's pads",
                    "a window of {} does not fit an extent of {} with {} cells of padding", reach,
                    input.value(), pads);
    std::int64_t out = room / stride + 1;
    // ceil mode adds a last window only if it starts inside the input or its left padding.
    if (ceil_mode && room % stride != 0 &&
        out * stride < input.value() + (auto_pad == "VALID" ? 0 : pads_begin[axis]))
        ++out;
    return Dimension(out);
}

std::int64_t Windows::begin(std::size_t axis, std::int64_t input, std::int64_t output) const {
    if (auto_pad == "VALID") return 0;
    if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") return pads_begin[axis];
    const std::int64_t reach = (kernel[axis].value() - 1) * dilations[axis] + 1;
    const std::int64_t total = std::max<std::int64_t>(0, (output - 1) * strides[axis] + reach - input);
    return auto_pad == "SAME_UPPER" ? total / 2 : (total + 1) / 2;
}

Result<std::vector<std::int64_t>> Windows::cells(const Grid& from, const Grid& to,
                                                 const Grid& kernel_grid) const {
    constexpr std::int64_t most_taps = std::int64_t{1} << 22, most_cells = std::int64_t{1} << 28;
    if (kernel_grid.count > most_taps || to.count > most_cells / std::max<std::int64_t>(kernel_grid.count, 1))
        return fail(ErrorCode::limit_exceeded, "check the model's kernels and pads",
                    "{} windows of {} cells are too many for the reference kernels", to.count,
                    kernel_grid.count);
    const std::size_t axes = from.extents.size();
    Dims first(axes);
    for (std::size_t axis = 0; axis < axes; ++axis)
        first[axis] = begin(axis, from.extents[axis], to.extents[axis]);
    std::vector<Dims> taps;
    for (std::int64_t k = 0; k < kernel_grid.count; ++k) taps.push_back(kernel_grid.position(k));
    std::vector<std::int64_t> cells;
    cells.reserve(static_cast<std::size_t>(to.count * kernel_grid.count));
    for (std::int64_t o = 0; o < to.count; ++o) {
        const Dims at = to.position(o);
        for (const Dims& tap : taps) {
            std::int64_t cell = 0;
            for (std::size_t axis = 0; axis < axes && cell >= 0; ++axis) {
                const std::int64_t coordinate =
                    at[axis] * strides[axis] + tap[axis] * dilations[axis] - first[axis];
                const bool inside = coordinate >= 0 && coordinate < from.extents[axis];
                cell = inside ? cell * from.extents[axis] + coordinate : -1;
            }
            cells.push_back(cell);
        }
    }
    return cells;
}

}  // namespace viridian::graph
