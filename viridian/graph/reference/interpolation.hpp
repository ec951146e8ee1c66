#pragma once
// These functions resample one axis: they give the input cells and weights that make an output cell. Resize
// repeats this axis by axis.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// A Resampling says how one axis is resampled. Members after `scale` are attributes of Resize.
struct Resampling {
    std::int64_t length = 1;     // cells before
    std::int64_t resized = 1;    // cells after
    double scale = 1;            // nominal; length · scale need not be whole
    double start = 0, end = 1;   // region of interest, tf_crop_and_resize only
    std::string mode;            // nearest, linear, cubic
    std::string transformation;  // half_pixel, asymmetric, …
    std::string nearest_mode;
    double cubic_a = -0.75;
    bool exclude_outside = false;
    bool antialias = false;
};

// A Tap is an input cell and its weight in the sum.
struct Tap {
    std::int64_t cell;
    double weight;
};

// Returns the position of output cell x on the input axis.
[[nodiscard]] double original_coordinate(const Resampling& axis, std::int64_t x);
// Returns the input cells of output cell x, clamped to the axis, with their weights.
[[nodiscard]] std::vector<Tap> taps_of(const Resampling& axis, std::int64_t x);

// A ResizedAxis is an axis of a tensor, with its resampling.
struct ResizedAxis {
    std::int64_t axis;
    Resampling how;
};
// Returns how a Resize node resamples each axis that it changes. Absent inputs are null or empty. Errors:
// mismatch, malformed.
[[nodiscard]] Result<std::vector<ResizedAxis>> how_resized(const Node& node, const Dims& dims,
                                                           const Tensor* roi, const Tensor* scales,
                                                           const Tensor* sizes);

// Returns the cubic convolution kernel of Keys with parameter `a` (IEEE Trans. ASSP 29(6), 1981, eq. 4).
[[nodiscard]] double cubic_kernel(double distance, double a);

}  // namespace viridian::graph
