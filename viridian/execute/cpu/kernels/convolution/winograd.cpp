#include "viridian/execute/cpu/kernels/convolution/winograd.hpp"

#include <algorithm>

#include "viridian/execute/cpu/simd/bf16/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/winograd.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using simd::block;

// From one component of a batch of `count` to the next, in elements. A tile's components are written and read
// together: an odd number of lines apart, they do not drive each other out of the cache. (In bf16 this was
// never measured.)
std::int64_t source_step(const WinogradConvolution& w, std::int64_t count) {
    const std::int64_t lines = w.source_blocks() * count;
    return (w.bf16 ? lines : lines | 1) * block;
}
std::int64_t product_step(const WinogradConvolution& w, std::int64_t count) {
    const std::int64_t lines = w.groups.columns * count;
    return (w.bf16 ? lines : lines | 1) * block;
}

// Scratch of one batch: transformed sources, and the products of one group.
std::int64_t batch_source_bytes(const WinogradConvolution& w) {
    return w.components() * source_step(w, w.batch) * w.source_bytes();
}
std::int64_t batch_product_floats(const WinogradConvolution& w) {
    return w.components() * product_step(w, w.batch);
}

// What a run reads beside the images.
struct Operands {
    const std::byte* weights = nullptr;
    const float* bias = nullptr;  // padded to whole blocks, or null
};

// Transforms changing weights to [group][component][channel][columns·16]. Output channels that do not exist
// are zeroes.
void transform_weights(const WinogradConvolution& w, const float* weights, float* to) {
    const ChangingWeights& from = *w.changing;
    in_shares(w.threads, w.groups.blocks() * w.channels, [&](std::int64_t i, std::int64_t end) {
        alignas(64) float taps[9 * block] = {};
        for (; i < end; ++i) {
            const std::int64_t ob = i / w.channels, c = i % w.channels;
            const std::int64_t group = ob / w.groups.columns, column = ob % w.groups.columns;
            const std::int64_t width = w.groups.width(group) * block;
            const std::int64_t lanes = std::min(block, w.groups.channels - ob * block);
            for (std::int64_t lane = 0; lane < block; ++lane) {
                const float* kernel =
                    weights + (ob * block + lane) * from.output_step + c * from.channel_step;
                for (int t = 0; t < 9; ++t)
                    taps[t * block + lane] = lane < lanes ? kernel[from.reversed ? 8 - t : t] : 0.0F;
            }
            float* const first = to + w.groups.offset(group, w.components() * w.channels * block);
            simd::winograd_weights_of_block(w.m, taps, first + c * width + column * block,
                                            w.channels * width);
        }
    });
}

// The sources of one tile and channel block.
template <class T>
void gather(const WinogradConvolution& w, const std::byte* images, const std::byte* zeroes,
            std::int64_t index, std::int64_t cb, const T** pixels) {
    const WinogradTile tile = w.tile_at(index);
    const T* plane = reinterpret_cast<const T*>(images) +
                     (tile.image * w.source_blocks() + cb) * w.height * w.width * block;
    PixelPlane<T>{plane, w.height, w.width}.gather(tile.y - w.pad_y, tile.x - w.pad_x, w.reach_y, w.reach_x,
                                                   reinterpret_cast<const T*>(zeroes), pixels);
}

// Transforms tile `index` of channel block `cb`, the `slot`-th of a batch of `count`.
void transform_source(const WinogradConvolution& w, const std::byte* images, const std::byte* zeroes,
                      std::int64_t index, std::int64_t cb, std::int64_t slot, std::int64_t count,
                      std::byte* sources) {
    std::byte* to = sources + (cb * count + slot) * block * w.source_bytes();
    const std::int64_t step = source_step(w, count);
    if (w.bf16) {
        using Element = std::uint16_t;
        const Element* pixels[36];
        gather(w, images, zeroes, index, cb, pixels);
        return simd::winograd_bf16_source(*w.bf16, pixels, reinterpret_cast<Element*>(to), step);
    }
    const float* pixels[36];
    gather(w, images, zeroes, index, cb, pixels);
    auto* floats = reinterpret_cast<float*>(to);
    w.line ? simd::line_source(*w.line, pixels, floats, step)
           : simd::winograd_source(w.m, pixels, floats, step);
}

// Every component of one group of output channels for a batch.
void multiply(const WinogradConvolution& w, const Operands& operands, std::int64_t group, std::int64_t count,
              const std::byte* sources, float* products) {
    const std::int64_t zero_tap = 0;
    const int columns = w.groups.width(group);
    const std::int64_t rows = w.bf16 ? (w.channels + 1) / 2 * 2 : w.channels;  // of a component's weights
    const std::byte* weights =
        operands.weights + w.groups.offset(group, w.components() * rows * block) * w.source_bytes();
    for (std::int64_t k = 0; k < w.components(); ++k) {
        const std::byte* source = sources + k * source_step(w, count) * w.source_bytes();
        const std::byte* own = weights + k * rows * columns * block * w.source_bytes();
        float* result = products + k * product_step(w, count);
        if (w.bf16) {
            simd::Bf16Strip s;
            s.pixels = count;
            s.columns = columns;
            s.source = reinterpret_cast<const std::uint16_t*>(source);
            s.source_block = count * block;
            s.channels = w.channels;
            s.weights = reinterpret_cast<const std::uint16_t*>(own);
            s.result = result;
            s.result_block = count * block;
            simd::run(s);
            continue;
        }
        simd::Strip s;
        s.pixels = count;
        s.columns = columns;
        s.source = reinterpret_cast<const float*>(source);
        s.source_block = count * block;
        s.taps = &zero_tap;
        s.channels = w.channels;
        s.weights = reinterpret_cast<const float*>(own);
        s.result = result;
        s.result_block = count * block;
        simd::run(s);
    }
}

// Back to results: of tile `index`, the `slot`-th of a batch of `count`, block `ob` of the output channels.
void transform_back(const WinogradConvolution& w, const Pointers& pointers, const float* biases,
                    std::int64_t index, std::int64_t slot, std::int64_t count, std::int64_t ob, int column,
                    const float* products) {
    const auto [image, y, x] = w.tile_at(index);
    const std::int64_t pixels = w.out_height * w.out_width;
    const std::int64_t to = ((image * w.groups.blocks() + ob) * pixels + y * w.out_width + x) * block;
    const float* bias = biases == nullptr ? nullptr : biases + ob * block;
    const std::byte* add = w.fused.added ? pointers.inputs[*w.fused.added] : nullptr;
    simd::WinogradBf16Result r;
    r.from = products + (column * count + slot) * block;
    r.step = product_step(w, count);
    r.narrow = w.narrow;
    const std::int64_t element = w.narrow ? 2 : 4;
    r.to = pointers.outputs[0] + to * element;
    r.add = add == nullptr ? nullptr : add + to * element;
    r.bias = bias;
    r.row = w.out_width * block;
    r.height = static_cast<int>(std::min(w.tile_y, w.out_height - y));
    r.width = static_cast<int>(std::min(w.tile_x, w.out_width - x));
    r.clip = w.fused.clip, r.low = w.fused.low, r.high = w.fused.high;
    if (w.bf16) {
        simd::winograd_bf16_result(*w.bf16, r);
    } else {
        const simd::WinogradResult exact{r.from,
                                         r.step,
                                         static_cast<float*>(r.to),
                                         static_cast<const float*>(r.add),
                                         r.bias,
                                         r.row,
                                         r.height,
                                         r.width,
                                         r.clip,
                                         r.low,
                                         r.high};
        w.line ? simd::line_result(*w.line, exact) : simd::winograd_result(w.m, exact);
    }
    if (!w.fused.chain) return;
    auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
    alignas(64) float scratch[6 * block];
    for (int row = 0; row < r.height; ++row) {
        const std::int64_t start = to + row * r.row;
        w.fused.chain->run(pointers, result + start, result + start, start, r.width * block, scratch);
    }
}

// One group of output channels for a batch that starts with tile `first`.
void make_results(const WinogradConvolution& w, const Pointers& pointers, const Operands& operands,
                  std::int64_t group, std::int64_t first, std::int64_t count, const std::byte* sources,
                  float* products) {
    multiply(w, operands, group, count, sources, products);
    for (int column = 0; column < w.groups.width(group); ++column)
        for (std::int64_t slot = 0; slot < count; ++slot)
            transform_back(w, pointers, operands.bias, first + slot, slot, count,
                           group * w.groups.columns + column, column, products);
}

}  // namespace

void WinogradConvolution::choose_batch() {
    const std::int64_t tile_bytes = components() * source_blocks() * block * source_bytes();
    const std::int64_t room = (std::int64_t{448} << 10) * (by_channels ? threads : 1);
    batch = std::clamp<std::int64_t>(room / tile_bytes / 14 * 14, 14, 112);
    batch = std::min(batch, by_channels ? tiles() : (tiles() + threads - 1) / threads);
}

Bytes WinogradConvolution::workspace() const {
    const std::int64_t packed = changing ? groups.blocks() * block + weight_floats() : 0;
    return Bytes(64 + (by_channels ? 1 : threads) * batch_source_bytes(*this) +
                 threads * batch_product_floats(*this) * 4 + packed * 4);
}

void WinogradConvolution::run(const Pointers& pointers) const {
    std::byte* zeroes = pointers.workspace;
    std::fill_n(zeroes, 64, std::byte{0});
    std::byte* sources = zeroes + 64;
    auto* products =
        reinterpret_cast<float*>(sources + (by_channels ? 1 : threads) * batch_source_bytes(*this));
    const std::byte* images_read = pointers.inputs[source];
    Operands operands{};
    if (changing) {
        float* const bias = products + threads * batch_product_floats(*this);
        float* const weights = bias + groups.blocks() * block;
        if (const float* given = changing->bias.at(pointers); given != nullptr) {
            std::fill(std::copy_n(given, groups.channels, bias), weights, 0.0F);
            operands.bias = bias;
        }
        transform_weights(*this, reinterpret_cast<const float*>(pointers.inputs[changing->input]), weights);
        operands.weights = reinterpret_cast<const std::byte*>(weights);
    } else {
        operands.weights = pointers.constants[0];
        if (biased) operands.bias = reinterpret_cast<const float*>(pointers.constants[1]);
    }
    if (by_channels) {
        const std::int64_t batches = (tiles() + batch - 1) / batch;
        for (std::int64_t b = 0; b < batches; ++b) {
            const auto [first, last] = share(tiles(), b, batches);
            const std::int64_t count = last - first;
            in_shares(threads, source_blocks() * count,
                      [&, first = first](std::int64_t from, std::int64_t to) {
                          for (std::int64_t i = from; i < to; ++i)
                              transform_source(*this, images_read, zeroes, first + i % count, i / count,
                                               i % count, count, sources);
                      });
            parallel(threads, [&, first = first](int thread) {
                float* own_products = products + thread * batch_product_floats(*this);
                const auto [group, end] = share(groups.count(), thread, threads);
                for (std::int64_t g = group; g < end; ++g)
                    make_results(*this, pointers, operands, g, first, count, sources, own_products);
            });
        }
        return;
    }
    parallel(threads, [&](int thread) {
        float* own_products = products + thread * batch_product_floats(*this);
        std::byte* own = sources + thread * batch_source_bytes(*this);
        const auto [begin, end] = share(tiles(), thread, threads);
        // Batches of nearly equal size.
        const std::int64_t batches = (end - begin + batch - 1) / batch;
        for (std::int64_t b = 0; b < batches; ++b) {
            const auto [first, last] = share(end - begin, b, batches);
            const std::int64_t count = last - first;
            for (std::int64_t cb = 0; cb < source_blocks(); ++cb)
                for (std::int64_t slot = 0; slot < count; ++slot)
                    transform_source(*this, images_read, zeroes, begin + first + slot, cb, slot, count, own);
            for (std::int64_t group = 0; group < groups.count(); ++group)
                make_results(*this, pointers, operands, group, begin + first, count, own, own_products);
        }
    });
}

}  // namespace viridian::execute::cpu
