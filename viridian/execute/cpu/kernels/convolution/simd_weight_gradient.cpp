// The gradient of 3x3 convolutions of stride 1 with respect to their weights by Winograd's F(4×4, 3×3) and
// F(2×2, 3×3), transposed (simd/convolution/winograd.hpp), on nChw16c. Sources and gradients of the result
// are transformed; for each component, the two are multiplied and summed over all tiles; one transform gives
// the gradient. Tiles go by in pieces whose transforms stay in the L3 cache.
#include <algorithm>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"
#include "viridian/execute/cpu/kernels/convolution/winograd.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/winograd.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using simd::block;

constexpr std::string_view weight_gradient_family_name = "simd:weightgrad";
// One thread sums up the products of so many blocks of 16 channels of each kind at a time.
constexpr std::int64_t square_side = 2;
constexpr std::int64_t pair_floats = block * block;  // the sums of two blocks for one component
constexpr std::int64_t least_piece = 128;            // tiles: sums are written and read once for each piece
constexpr std::int64_t usual_l3 = 8 << 20;           // bytes, if the machine does not tell

struct WeightGradient {
    ConvolutionShape shape;
    int m = 4;               // results of a tile along each side
    std::int64_t piece = 0;  // tiles that are transformed at once
    int threads = 1;

    [[nodiscard]] std::int64_t components() const { return static_cast<std::int64_t>(m + 2) * (m + 2); }
    [[nodiscard]] std::int64_t tiles_y() const { return (shape.result[2] + m - 1) / m; }
    [[nodiscard]] std::int64_t tiles_x() const { return (shape.result[3] + m - 1) / m; }
    [[nodiscard]] std::int64_t tiles() const { return shape.result[0] * tiles_y() * tiles_x(); }
    [[nodiscard]] WinogradTile tile_at(std::int64_t index) const {
        return WinogradTile::at(index, tiles_y(), tiles_x(), m, m);
    }
    [[nodiscard]] std::int64_t pieces() const { return (tiles() + piece - 1) / piece; }
    [[nodiscard]] std::int64_t source_blocks() const { return (shape.source[1] + block - 1) / block; }
    [[nodiscard]] std::int64_t result_blocks() const { return (shape.result[1] + block - 1) / block; }
    // Returns the number of squares: square_side × square_side pairs of blocks, fewer at the end.
    [[nodiscard]] std::int64_t squares() const {
        return (source_blocks() + square_side - 1) / square_side *
               ((result_blocks() + square_side - 1) / square_side);
    }
    [[nodiscard]] std::int64_t square_floats() const {
        return components() * square_side * square_side * pair_floats;
    }
    // Transforms of a piece: [component][block][tile][16]. Components lie an odd number of lines apart.
    [[nodiscard]] std::int64_t step(std::int64_t blocks) const { return (blocks * piece | 1) * block; }
    [[nodiscard]] std::int64_t source_floats() const { return components() * step(source_blocks()); }
    [[nodiscard]] std::int64_t result_floats() const { return components() * step(result_blocks()); }
    // Sums wait from piece to piece; with one piece each thread has those of its square only.
    [[nodiscard]] std::int64_t sum_floats() const {
        return square_floats() * (pieces() == 1 ? threads : squares());
    }
    [[nodiscard]] Bytes workspace() const {
        return Bytes(4 * (block + source_floats() + result_floats() + sum_floats()));
    }
    // Returns a rough number of flop: an element that is transformed counts as 8, and a sum that is written
    // or read as 10. Threads that find no pairs in the last round wait.
    [[nodiscard]] double work() const {
        const auto channels = static_cast<double>(source_blocks() + result_blocks()) * block;
        const auto kernels = static_cast<double>(source_blocks() * result_blocks() * pair_floats);
        const std::int64_t rounds = (squares() + threads - 1) / threads;
        const double waiting = static_cast<double>(rounds * threads) / static_cast<double>(squares());
        const double products = 2 * static_cast<double>(tiles()) + 20 * static_cast<double>(pieces());
        return static_cast<double>(components()) *
               (static_cast<double>(tiles()) * 8 * channels + products * kernels * waiting);
    }
};

std::optional<WeightGradient> weight_gradient(const Task& task, int m) {
    if (!task.context.allowances.winograd || task.node().op != graph::op::ConvGradWeight) return std::nullopt;
    const auto shape = convolution_gradient_shape(task);
    if (!shape || shape->spatial() != 2 || shape->groups != 1) return std::nullopt;
    const graph::Dims ones = {1, 1};
    if (shape->weights[2] != 3 || shape->weights[3] != 3 || shape->strides != ones ||
        shape->dilations != ones || shape->pads_begin[0] < 0 || shape->pads_begin[1] < 0)
        return std::nullopt;
    WeightGradient w{*shape, m, 0, task.context.threads};
    const std::int64_t last_cache = this_machine().l3.value;
    const std::int64_t room = (last_cache > 0 ? last_cache : usual_l3) / 2;
    const std::int64_t of_tile = w.components() * (w.source_blocks() + w.result_blocks()) * block * 4;
    const std::int64_t fitting = std::max(room / of_tile, least_piece);
    const std::int64_t pieces = (w.tiles() + fitting - 1) / fitting;
    w.piece = (w.tiles() + pieces - 1) / pieces;
    return w;
}

// Where a run has its tensors and its scratch.
struct GradientPlaces {
    const float *source, *gradient;
    float *to, *zeroes, *sources, *gradients, *sums;
};

// A TiledTensor is one of the two tensors whose tiles are transformed, with what its transform takes.
struct TiledTensor {
    const float* first;
    const graph::Dims& dims;
    std::int64_t blocks, pad_y, pad_x, size;  // blocks of channels; pixels of a tile along each side
    float* to;
    void (*transform)(int m, const float* const* pixels, float* to, std::int64_t step);
};

// Transforms tile `index` of block `b`, the `slot`-th of its piece.
void transform_tile(const WeightGradient& w, const TiledTensor& from, const float* zeroes, std::int64_t index,
                    std::int64_t b, std::int64_t slot) {
    const WinogradTile tile = w.tile_at(index);
    const std::int64_t height = from.dims[2], width = from.dims[3];
    const float* pixels[36];
    PixelPlane<float>{from.first + (tile.image * from.blocks + b) * height * width * block, height, width}
        .gather(tile.y - from.pad_y, tile.x - from.pad_x, from.size, from.size, zeroes, pixels);
    from.transform(w.m, pixels, from.to + (b * w.piece + slot) * block, w.step(from.blocks));
}

// The blocks of one square.
struct Square {
    std::int64_t first_source, last_source, first_result, last_result;
};
Square square_at(const WeightGradient& w, std::int64_t index) {
    const std::int64_t across = (w.source_blocks() + square_side - 1) / square_side;
    const std::int64_t cb = index % across * square_side, ob = index / across * square_side;
    return {cb, std::min(cb + square_side, w.source_blocks()), ob,
            std::min(ob + square_side, w.result_blocks())};
}

// Adds the products of `count` tiles to the sums of a square, or sets these.
void multiply_square(const WeightGradient& w, const GradientPlaces& at, const Square& square,
                     std::int64_t count, bool adds, float* sums) {
    constexpr std::int64_t zero_tap = 0;
    for (std::int64_t k = 0; k < w.components(); ++k) {
        float* result = sums + k * square_side * square_side * pair_floats;
        for (std::int64_t ob = square.first_result; ob < square.last_result; ++ob)
            for (std::int64_t cb = square.first_source; cb < square.last_source;
                 ++cb, result += pair_floats) {
                simd::Strip s;
                s.pixels = block;
                s.columns = 1;
                s.source = at.gradients + k * w.step(w.result_blocks()) + ob * w.piece * block;
                s.source_pixel = 1;
                s.taps = &zero_tap;
                s.channels = count;
                s.weights = at.sources + k * w.step(w.source_blocks()) + cb * w.piece * block;
                s.add = adds ? result : nullptr;
                s.result = result;
                simd::run(s);
            }
    }
}

// Transforms the sums of a square to the gradient of its weights.
void finish_square(const WeightGradient& w, const Square& square, const float* sums, float* to) {
    alignas(64) float taps[9 * block];
    const std::int64_t channels = w.shape.source[1];
    for (std::int64_t ob = square.first_result; ob < square.last_result; ++ob)
        for (std::int64_t cb = square.first_source; cb < square.last_source; ++cb, sums += pair_floats) {
            const std::int64_t lanes = std::min(block, channels - cb * block);
            for (std::int64_t o = 0; o < std::min(block, w.shape.result[1] - ob * block); ++o) {
                simd::winograd_weight_gradient(w.m, sums + o * block, square_side * square_side * pair_floats,
                                               taps);
                float* kernel = to + ((ob * block + o) * channels + cb * block) * 9;
                for (std::int64_t lane = 0; lane < lanes; ++lane)
                    for (std::int64_t t = 0; t < 9; ++t) *kernel++ = taps[t * block + lane];
            }
        }
}

void run_weight_gradient(const WeightGradient& w, const Pointers& pointers) {
    GradientPlaces at{};
    at.source = reinterpret_cast<const float*>(pointers.inputs[0]);
    at.gradient = reinterpret_cast<const float*>(pointers.inputs[1]);
    at.to = reinterpret_cast<float*>(pointers.outputs[0]);
    at.zeroes = reinterpret_cast<float*>(pointers.workspace);
    at.sources = at.zeroes + block;
    at.gradients = at.sources + w.source_floats();
    at.sums = at.gradients + w.result_floats();
    std::fill_n(at.zeroes, block, 0.0F);
    const graph::Dims& pads = w.shape.pads_begin;
    const TiledTensor sources{at.source, w.shape.source, w.source_blocks(), pads[0],
                              pads[1],   w.m + 2,        at.sources,        simd::winograd_source};
    const TiledTensor gradients{at.gradient,
                                w.shape.result,
                                w.result_blocks(),
                                0,
                                0,
                                w.m,
                                at.gradients,
                                simd::winograd_result_gradient};
    for (std::int64_t piece = 0; piece < w.pieces(); ++piece) {
        const std::int64_t first = piece * w.piece, count = std::min(w.piece, w.tiles() - first);
        const std::int64_t of_sources = w.source_blocks() * count;
        in_shares(w.threads, of_sources + w.result_blocks() * count, [&](std::int64_t i, std::int64_t end) {
            for (; i < end; ++i)
                transform_tile(w, i < of_sources ? sources : gradients, at.zeroes, first + i % count,
                               (i < of_sources ? i : i - of_sources) / count, i % count);
        });
        parallel(w.threads, [&](int thread) {
            const auto [from, to] = share(w.squares(), thread, w.threads);
            for (std::int64_t i = from; i < to; ++i) {
                const Square square = square_at(w, i);
                float* const sums = at.sums + (w.pieces() == 1 ? thread : i) * w.square_floats();
                multiply_square(w, at, square, count, piece > 0, sums);
                if (piece + 1 == w.pieces()) finish_square(w, square, sums, at.to);
            }
        });
    }
}

std::string name_of_weight_gradient(const WeightGradient& w) {
    return fmt::format("{}:{}x3", weight_gradient_family_name, w.m);
}

// The variants that do less than a direct computation, the best first.
std::vector<WeightGradient> ways_of_weight_gradient(const Task& task) {
    std::vector<WeightGradient> list;
    for (const int m : {4, 2}) {
        auto w = weight_gradient(task, m);
        if (!w) continue;
        const graph::Dims& weights = w->shape.weights;
        const graph::Dims& result = w->shape.result;
        const auto direct =
            static_cast<double>(2 * weights[0] * weights[1] * 9 * result[0] * result[2] * result[3]);
        if (w->work() < direct) list.push_back(*std::move(w));
    }
    std::ranges::stable_sort(list, {}, &WeightGradient::work);
    return list;
}

plan::Choice choice_of_weight_gradient(const Task& task, const WeightGradient& w) {
    plan::Choice choice = task.plain_choice(name_of_weight_gradient(w));
    choice.variant.algorithm = plan::Algorithm::winograd;
    choice.inputs[0].layout = choice.inputs[1].layout = plan::channels_blocked(4, block);
    choice.workspace = w.workspace();
    return choice;
}

std::vector<plan::Choice> offers_weight_gradient(const Task& task) {
    std::vector<plan::Choice> choices;
    for (const WeightGradient& w : ways_of_weight_gradient(task))
        choices.push_back(choice_of_weight_gradient(task, w));
    return choices;
}

Result<Kernel> prepare_weight_gradient(const Task& task, const plan::Choice& choice) {
    for (WeightGradient& w : ways_of_weight_gradient(task)) {
        if (choice.kernel != name_of_weight_gradient(w)) continue;
        Kernel kernel;
        kernel.workspace = w.workspace();
        kernel.run = [w = std::move(w)](const Pointers& pointers) { run_weight_gradient(w, pointers); };
        return kernel;
    }
    return unknown_kernel(choice);
}

}  // namespace

Family weight_gradient_family() {
    return {weight_gradient_family_name, offers_weight_gradient, prepare_weight_gradient};
}

}  // namespace viridian::execute::cpu
