// 3x3 convolutions of stride 1 by Winograd's F(2×2, 3×3) and F(4×4, 3×3), those of one row or column by F(4,
// r) and F(6, r), on nChw16c: transform the sources of a batch of tiles, one product per component, transform
// back with bias, residual and clip. `pixels`: each thread makes its own tiles; `channels`: each thread makes
// some output channels of all tiles, so that each weight is read by one thread only.
#include <algorithm>

#include "viridian/execute/cpu/convolution.hpp"
#include "viridian/execute/cpu/families.hpp"
#include "viridian/execute/cpu/simd/fused.hpp"
#include "viridian/execute/cpu/simd/strip.hpp"
#include "viridian/execute/cpu/simd/weights.hpp"
#include "viridian/execute/cpu/simd/winograd.hpp"
#include "viridian/execute/cpu/simd/winograd_line.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using simd::block;

constexpr std::string_view family = "simd:winograd";

struct Work {
    int m = 4;  // results of a tile along each side, or along the kernel's line
    std::optional<simd::LineTransform> line;
    std::int64_t tile_y, tile_x, reach_y, reach_x;  // results and sources of a tile
    std::int64_t images, channels, height, width, out_height, out_width, pad_y, pad_x;
    std::int64_t tiles_x, tiles_y;
    std::int64_t batch;  // tiles at once
    bool by_channels = false;
    simd::Groups groups;
    bool biased = false;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;

    [[nodiscard]] std::int64_t components() const { return reach_y * reach_x; }
    [[nodiscard]] std::int64_t source_blocks() const { return (channels + block - 1) / block; }
    [[nodiscard]] std::int64_t tiles() const { return tiles_x * tiles_y; }
    // Scratch of one batch: transformed sources, and the products of one group.
    [[nodiscard]] std::int64_t source_floats() const {
        return components() * source_blocks() * batch * block;
    }
    [[nodiscard]] std::int64_t product_floats() const {
        return components() * groups.columns * batch * block;
    }
    [[nodiscard]] std::int64_t workspace_floats() const {
        return block + (by_channels ? 1 : threads) * source_floats() + threads * product_floats();
    }
};

// Transforms tile `tile` of channel block `cb`, the `slot`-th of a batch of `count`.
void transform_source(const Work& w, const float* image, const float* zeroes, std::int64_t tile,
                      std::int64_t cb, std::int64_t slot, std::int64_t count, float* sources) {
    const float* pixels[36];
    const std::int64_t y0 = tile / w.tiles_x * w.tile_y - w.pad_y;
    const std::int64_t x0 = tile % w.tiles_x * w.tile_x - w.pad_x;
    const float* plane = image + cb * w.height * w.width * block;
    const bool inside = y0 >= 0 && x0 >= 0 && y0 + w.reach_y <= w.height && x0 + w.reach_x <= w.width;
    for (std::int64_t i = 0; i < w.reach_y; ++i)
        for (std::int64_t j = 0; j < w.reach_x; ++j) {
            const std::int64_t y = y0 + i, x = x0 + j;
            const bool in = inside || (y >= 0 && y < w.height && x >= 0 && x < w.width);
            pixels[i * w.reach_x + j] = in ? plane + (y * w.width + x) * block : zeroes;
        }
    float* to = sources + (cb * count + slot) * block;
    const std::int64_t step = w.source_blocks() * count * block;
    w.line ? simd::line_source(*w.line, pixels, to, step) : simd::winograd_source(w.m, pixels, to, step);
}

// All components of one group of output channels for a batch, and back.
void make_results(const Work& w, const Pointers& pointers, std::int64_t image, std::int64_t group,
                  std::int64_t first, std::int64_t count, const float* sources, float* products) {
    const std::int64_t zero_tap = 0;
    const auto* weights = reinterpret_cast<const float*>(pointers.constants[0]);
    const auto* bias = w.biased ? reinterpret_cast<const float*>(pointers.constants[1]) : nullptr;
    const int columns = w.groups.width(group);
    const float* at = weights + w.groups.offset(group, w.components() * w.channels * block);
    const std::int64_t component_floats = w.groups.columns * count * block;
    for (std::int64_t k = 0; k < w.components(); ++k) {
        simd::Strip s;
        s.pixels = count;
        s.columns = columns;
        s.source = sources + k * w.source_blocks() * count * block;
        s.source_block = count * block;
        s.taps = &zero_tap;
        s.channels = w.channels;
        s.weights = at + k * w.channels * columns * block;
        s.result = products + k * component_floats;
        s.result_block = count * block;
        simd::run(s);
    }
    const std::int64_t pixels = w.out_height * w.out_width;
    const std::int64_t base = image * w.groups.blocks() * pixels * block;
    auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
    const float* add =
        w.fused.added ? reinterpret_cast<const float*>(pointers.inputs[*w.fused.added]) : nullptr;
    for (int column = 0; column < columns; ++column) {
        const std::int64_t ob = group * w.groups.columns + column;
        for (std::int64_t slot = 0; slot < count; ++slot) {
            const std::int64_t y = (first + slot) / w.tiles_x * w.tile_y;
            const std::int64_t x = (first + slot) % w.tiles_x * w.tile_x;
            const std::int64_t to = base + (ob * pixels + y * w.out_width + x) * block;
            simd::WinogradResult r;
            r.from = products + (column * count + slot) * block;
            r.step = component_floats;
            r.to = result + to;
            r.add = add == nullptr ? nullptr : add + to;
            r.bias = bias == nullptr ? nullptr : bias + ob * block;
            r.row = w.out_width * block;
            r.height = static_cast<int>(std::min(w.tile_y, w.out_height - y));
            r.width = static_cast<int>(std::min(w.tile_x, w.out_width - x));
            r.clip = w.fused.clip, r.low = w.fused.low, r.high = w.fused.high;
            w.line ? simd::line_result(*w.line, r) : simd::winograd_result(w.m, r);
            if (!w.fused.chain) continue;
            alignas(64) float scratch[6 * block];
            for (int row = 0; row < r.height; ++row) {
                const std::int64_t start = to + row * r.row;
                w.fused.chain->run(pointers, result + start, result + start, start, r.width * block, scratch);
            }
        }
    }
}

void run(const Work& w, const Pointers& pointers) {
    auto* zeroes = reinterpret_cast<float*>(pointers.workspace);
    std::fill_n(zeroes, block, 0.0F);
    float* sources = zeroes + block;
    float* products = sources + (w.by_channels ? 1 : w.threads) * w.source_floats();
    const std::int64_t image_floats = w.source_blocks() * w.height * w.width * block;
    for (std::int64_t n = 0; n < w.images; ++n) {
        const auto* image = reinterpret_cast<const float*>(pointers.inputs[w.source]) + n * image_floats;
        parallel(w.threads, [&](int thread) {
            float* own_products = products + thread * w.product_floats();
            if (!w.by_channels) {
                float* own = sources + thread * w.source_floats();
                const auto [begin, end] = share(w.tiles(), thread, w.threads);
                // Batches of nearly equal size.
                const std::int64_t batches = (end - begin + w.batch - 1) / w.batch;
                for (std::int64_t b = 0; b < batches; ++b) {
                    const auto [first, last] = share(end - begin, b, batches);
                    const std::int64_t count = last - first;
                    for (std::int64_t cb = 0; cb < w.source_blocks(); ++cb)
                        for (std::int64_t slot = 0; slot < count; ++slot)
                            transform_source(w, image, zeroes, begin + first + slot, cb, slot, count, own);
                    for (std::int64_t group = 0; group < w.groups.count(); ++group)
                        make_results(w, pointers, n, group, begin + first, count, own, own_products);
                }
                return;
            }
            const std::int64_t batches = (w.tiles() + w.batch - 1) / w.batch;
            for (std::int64_t b = 0; b < batches; ++b) {
                const auto [first, last] = share(w.tiles(), b, batches);
                const std::int64_t count = last - first;
                const auto [from, to] = share(w.source_blocks() * count, thread, w.threads);
                for (std::int64_t i = from; i < to; ++i)
                    transform_source(w, image, zeroes, first + i % count, i / count, i % count, count,
                                     sources);
                barrier(w.threads);
                const auto [group, end] = share(w.groups.count(), thread, w.threads);
                for (std::int64_t g = group; g < end; ++g)
                    make_results(w, pointers, n, g, first, count, sources, own_products);
                if (b + 1 < batches) barrier(w.threads);
            }
        });
    }
}

struct Plan {
    ConvolutionShape shape;
    std::vector<Step> steps;
    std::size_t input = 0;
    int line = 0;                                   // taps of a kernel of one row or column; 0: 3x3
    [[nodiscard]] std::vector<int> sizes() const {  // results of a tile along a side
        return line == 0 ? std::vector{4, 2} : std::vector{6, 4};
    }
    [[nodiscard]] std::int64_t taps() const { return line == 0 ? 9 : line; }
};

std::optional<Plan> plan_of(const Task& task) {
    if (!task.context.allowances.winograd) return std::nullopt;
    auto shape = convolution_shape(task);
    if (!shape || shape->spatial() != 2 || shape->groups != 1) return std::nullopt;
    const auto& s = *shape;
    const bool square = s.weights[2] == 3 && s.weights[3] == 3;
    const std::int64_t line = s.weights[2] * s.weights[3];
    const bool straight = std::min(s.weights[2], s.weights[3]) == 1 && (line == 3 || line == 5 || line == 7);
    if ((!square && !straight) || s.strides != graph::Dims{1, 1} || s.dilations != graph::Dims{1, 1} ||
        s.pads_begin[0] < 0 || s.pads_begin[1] < 0 || s.source[1] < 8)
        return std::nullopt;
    auto steps = read_epilogue(task);
    if (!steps) return std::nullopt;
    for (const Step& step : *steps)
        if (step.operand == task.node().inputs[0]) return std::nullopt;
    std::vector<Packed> constants;
    if (!simd::Fused::make(task, *steps, s.result, plan::channels_blocked(4, block), constants))
        return std::nullopt;
    return Plan{s, *std::move(steps), *task.input_index(task.node().inputs[0]),
                square ? 0 : static_cast<int>(line)};
}

Work work_of(const Task& task, const Plan& plan, int m, bool by_channels) {
    const ConvolutionShape& s = plan.shape;
    Work w{};
    w.m = m;
    if (plan.line != 0) w.line = simd::line_transform(m, plan.line);
    w.tile_y = s.weights[2] == 1 ? 1 : m, w.tile_x = s.weights[3] == 1 ? 1 : m;
    w.reach_y = w.tile_y + s.weights[2] - 1, w.reach_x = w.tile_x + s.weights[3] - 1;
    w.images = s.source[0], w.channels = s.source[1], w.height = s.source[2], w.width = s.source[3];
    w.out_height = s.result[2], w.out_width = s.result[3];
    w.pad_y = s.pads_begin[0], w.pad_x = s.pads_begin[1];
    w.tiles_y = (w.out_height + w.tile_y - 1) / w.tile_y;
    w.tiles_x = (w.out_width + w.tile_x - 1) / w.tile_x;
    w.by_channels = by_channels;
    w.groups = {s.weights[0], simd::best_columns()};
    w.biased = s.bias;
    w.source = plan.input;
    w.threads = task.context.threads;
    // Transformed sources of a batch stay in the second cache.
    const std::int64_t tile_bytes = w.components() * w.source_blocks() * block * 4;
    const std::int64_t room = (std::int64_t{448} << 10) * (by_channels ? w.threads : 1);
    w.batch = std::clamp<std::int64_t>(room / tile_bytes / 14 * 14, 14, 112);
    w.batch = std::min(w.batch, by_channels ? w.tiles() : (w.tiles() + w.threads - 1) / w.threads);
    return w;
}

// "4x3" is F(4×4, 3×3), "line:6x7" F(6, 7).
std::string name(const Plan& plan, int m, bool by_channels) {
    return fmt::format("{}:{}{}x{}:{}", family, plan.line == 0 ? "" : "line:", m,
                       plan.line == 0 ? 3 : plan.line, by_channels ? "channels" : "pixels");
}

std::vector<plan::Choice> offers(const Task& task) {
    const auto plan = plan_of(task);
    if (!plan) return {};
    const plan::Layout layout = plan::channels_blocked(4, block);
    std::vector<plan::Choice> choices;
    for (const int m : plan->sizes())
        for (const bool by_channels : {false, true}) {
            const std::int64_t weights = plan->shape.weights[0] * plan->shape.weights[1];
            if (by_channels && (task.context.threads == 1 || weights < 4096)) continue;
            plan::Choice choice = task.plain_choice(name(*plan, m, by_channels));
            choice.inputs[plan->input].layout = layout;
            choice.outputs[0].layout = layout;
            for (const Step& step : plan->steps)
                if (const auto input = task.input_index(step.operand);
                    input && task.dims(step.operand) == plan->shape.result)
                    choice.inputs[*input].layout = layout;
            choice.workspace = Bytes(work_of(task, *plan, m, by_channels).workspace_floats() * 4);
            simd::offer_with_residual(task, plan->steps, plan->shape.result, std::move(choice), choices);
        }
    return choices;
}

Result<Kernel> prepare(const Task& task, const plan::Choice& choice) {
    const auto plan = plan_of(task);
    if (!plan) return unknown_kernel(choice);
    for (const int m : plan->sizes())
        for (const bool by_channels : {false, true}) {
            if (choice.kernel != name(*plan, m, by_channels)) continue;
            Work work = work_of(task, *plan, m, by_channels);
            const graph::Node& node = task.node();
            const auto values = task.graph.constant(node.inputs[1])->values<float>();
            // One transform per kernel; packing asks for its components one by one.
            const std::int64_t components = work.components();
            std::vector<float> transformed(
                static_cast<std::size_t>(plan->shape.weights[0] * work.channels * components));
            double made[36];
            for (std::int64_t i = 0; i < plan->shape.weights[0] * work.channels; ++i) {
                const float* taps = values.data() + i * plan->taps();
                work.line ? simd::line_weights(*work.line, taps, made)
                          : simd::winograd_weights(m, taps, made);
                for (std::int64_t k = 0; k < components; ++k)
                    transformed[static_cast<std::size_t>(i * components + k)] = static_cast<float>(made[k]);
            }
            Kernel kernel;
            kernel.constants.push_back(simd::pack_weights(
                task, node.inputs[1], work.groups, components, work.channels,
                fmt::format("winograd {}x{}", m, plan->taps()),
                [&](std::int64_t o, std::int64_t c, std::int64_t k) {
                    return transformed[static_cast<std::size_t>((o * work.channels + c) * components + k)];
                }));
            if (work.biased) kernel.constants.push_back(simd::pack_bias(task, node.inputs[2], work.groups));
            auto fused = simd::Fused::make(task, plan->steps, plan->shape.result,
                                           plan::channels_blocked(4, block), kernel.constants);
            work.fused = *std::move(fused);
            kernel.workspace = Bytes(work.workspace_floats() * 4);
            kernel.run = [work = std::move(work)](const Pointers& pointers) { run(work, pointers); };
            return kernel;
        }
    return unknown_kernel(choice);
}

}  // namespace

Family simd_winograd_family() { return {family, offers, prepare}; }

}  // namespace viridian::execute::cpu
