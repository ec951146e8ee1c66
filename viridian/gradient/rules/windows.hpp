#pragma once
// Reads the sliding windows of convolutions and pools, with their padding as numbers, for the gradient rules.
#include "viridian/gradient/rule.hpp"

namespace viridian::gradient {

// WindowAxes describes the windows along each spatial axis. Window o covers the cells
// o · stride − before + k · dilation.
struct WindowAxes {
    Dims kernel, strides, dilations;
    Dims wide;    // extents of what the windows slide over
    Dims narrow;  // numbers of windows
    Dims before;  // cells of padding before the first cell
    Dims tail;    // cells behind the last window; negative if the last window ends in the padding

    [[nodiscard]] std::size_t count() const { return kernel.size(); }
    // Returns the number of padding cells behind the last cell, and of the cells that no window reaches.
    [[nodiscard]] Dims after() const;
    [[nodiscard]] Dims beyond() const;
    // Returns kernel_shape, strides, dilations and pads.
    [[nodiscard]] Attributes attributes() const;
};

// Reads the windows of a convolution or pool, whose input has the spatial extents `wide`, and its output
// `narrow`.
[[nodiscard]] WindowAxes windows_of(const Site& site, const Dims& kernel, const Dims& wide,
                                    const Dims& narrow);

// Returns the sum over all windows of what each adds to the cells that it covers: x [N,M,narrow…], weights
// [M,C/group,kernel…], result [N,C,wide…].
[[nodiscard]] Term spread_windows(Term x, Term weights, const WindowAxes& axes, std::int64_t group);

// Returns spread_windows() for each channel by itself, with weights 1: from [N,C,narrow…] to [N,C,wide…].
[[nodiscard]] Term spread_windows_evenly(Term x, const WindowAxes& axes);

// Returns the spatial extents of a tensor, or of weights.
[[nodiscard]] inline Dims spatial(const Dims& dims) { return {dims.begin() + 2, dims.end()}; }

// Random windows for an instance: attributes with strides, dilations and pads or auto_pad, each present or
// not, and an input in which every window covers at least one cell.
struct RandomWindows {
    Dims kernel, wide;
    Attributes attributes;
};
enum class WindowsOf : std::uint8_t { convolution, pool };
[[nodiscard]] RandomWindows random_windows(Instance& instance, std::size_t axes, WindowsOf what);

}  // namespace viridian::gradient
