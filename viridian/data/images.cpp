#include "viridian/data/images.hpp"

#include <algorithm>
#include <cstring>

#include "viridian/base/random/philox.hpp"

namespace viridian::data {
namespace {

constexpr std::uint32_t image_purpose = 0x696d6167;  // keeps its draws apart from those of permutations

// Calls `use` with an unsigned integer of an element's size, in which pixels are moved.
template <class Use>
void with_pixels(std::int64_t size, Use use) {
    switch (size) {
        case 1:
            return use(std::uint8_t{});
        case 2:
            return use(std::uint16_t{});
        case 4:
            return use(std::uint32_t{});
        default:
            return use(std::uint64_t{});
    }
}

// One channel: `height` rows of `width` pixels. `to` is zero before.
template <class Pixel>
void change_plane(const Pixel* from, Pixel* to, ImageShape shape, const ImageChange& change,
                  std::int64_t padding) {
    const std::int64_t down = change.down - padding, right = change.right - padding;
    const std::int64_t first = std::max<std::int64_t>(0, -right),
                       last = std::min(shape.width, shape.width - right);
    for (std::int64_t row = 0; row < shape.height; ++row) {
        if (row + down < 0 || row + down >= shape.height || first >= last) continue;
        const Pixel* in = from + (row + down) * shape.width + (right + first);
        Pixel* out = to + row * shape.width;
        if (change.mirror)
            std::reverse_copy(in, in + (last - first), out + (shape.width - last));
        else
            std::copy(in, in + (last - first), out + first);
    }
}

}  // namespace

ImageChange draw_change(std::uint64_t seed, std::int64_t epoch, std::int64_t sample, double flip,
                        std::int64_t padding) {
    const auto number = static_cast<std::uint64_t>(sample);
    const auto words = philox({static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(number >> 32U),
                               static_cast<std::uint32_t>(epoch), image_purpose},
                              philox_key(seed));
    const auto places = static_cast<std::uint32_t>(2 * padding + 1);
    return {philox_uniform(words[0]) < flip, philox_below(words[1], places), philox_below(words[2], places)};
}

graph::Tensor change_images(const graph::Tensor& images, ImageShape shape,
                            std::span<const ImageChange> changes, std::int64_t padding) {
    graph::Tensor changed(images.type(), images.dims());
    const std::int64_t plane = shape.height * shape.width;
    with_pixels(graph::size_of(images.type()), [&](auto pixel) {
        using Pixel = decltype(pixel);
        const auto* from = reinterpret_cast<const Pixel*>(images.bytes());
        auto* to = reinterpret_cast<Pixel*>(changed.mutable_bytes());
        for (const ImageChange& change : changes)
            for (std::int64_t channel = 0; channel < shape.channels; ++channel, from += plane, to += plane)
                change_plane(from, to, shape, change, padding);
    });
    return changed;
}

graph::Tensor channels_first(const graph::Tensor& images) {
    const graph::Dims& d = images.dims();
    const std::int64_t pixels = d[1] * d[2], channels = d[3];
    graph::Tensor result(images.type(), {d[0], channels, d[1], d[2]});
    with_pixels(graph::size_of(images.type()), [&](auto pixel) {
        using Pixel = decltype(pixel);
        const auto* from = reinterpret_cast<const Pixel*>(images.bytes());
        auto* to = reinterpret_cast<Pixel*>(result.mutable_bytes());
        for (std::int64_t image = 0; image < d[0];
             ++image, from += pixels * channels, to += pixels * channels)
            for (std::int64_t channel = 0; channel < channels; ++channel)
                for (std::int64_t i = 0; i < pixels; ++i)
                    to[channel * pixels + i] = from[i * channels + channel];
    });
    return result;
}

}  // namespace viridian::data
