#pragma once
// One-dimensional resampling, the part that Resize repeats axis by axis: which input cells make an output
// cell, with which weights.
#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

// How one axis is resampled. `length` and `scale` describe it; the rest are Resize's attributes.
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

struct Tap {
    std::int64_t cell;
    double weight;
};

// Where output cell x lies on the input axis.
[[nodiscard]] double original_coordinate(const Resampling& axis, std::int64_t x);
// The cells, clamped to the axis, and weights of output cell x.
[[nodiscard]] std::vector<Tap> taps_of(const Resampling& axis, std::int64_t x);

struct ResizedAxis {
    std::int64_t axis;
    Resampling how;
};
// What the node Resize does along each axis it resizes. Null or empty inputs are left out.
[[nodiscard]] Result<std::vector<ResizedAxis>> how_resized(const Node& node, const Dims& dims,
                                                           const Tensor* roi, const Tensor* scales,
                                                           const Tensor* sizes);

// Keys' cubic convolution kernel with parameter a (IEEE Trans. ASSP 29(6), 1981, eq. 4).
[[nodiscard]] double cubic_kernel(double distance, double a);

}  // namespace viridian::graph
