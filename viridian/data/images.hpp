#pragma once
// Moves the pixels of images: channels from last to first, mirroring, and cutting a part out of a padded
// image.
#include <cstdint>

#include "viridian/graph/tensor.hpp"

namespace viridian::data {

// An ImageShape is the shape of one sample: [channels, height, width].
struct ImageShape {
    std::int64_t channels = 1, height = 0, width = 0;
};

// An ImageChange says how one sample is changed: `down` and `right` say which row and column of the padded
// image become the first, in [0, 2 × padding].
struct ImageChange {
    bool mirror = false;
    std::int64_t down = 0, right = 0;
};

// Draws the change of a sample: a pure function of (seed, epoch, sample), by Philox. `flip` is the
// probability of mirroring, `padding` the zeros on each side.
[[nodiscard]] ImageChange draw_change(std::uint64_t seed, std::int64_t epoch, std::int64_t sample,
                                      double flip, std::int64_t padding);

// Returns one changed image for each image of `images`, which are of `shape`. `changes` has as many elements.
// The image is padded with zeros, cut, then mirrored.
[[nodiscard]] graph::Tensor change_images(const graph::Tensor& images, ImageShape shape,
                                          std::span<const ImageChange> changes, std::int64_t padding);

// Returns images [n, height, width, channels] as [n, channels, height, width].
[[nodiscard]] graph::Tensor channels_first(const graph::Tensor& images);

}  // namespace viridian::data
