// Conv by our micro-kernel on nChw16c: 1x1 straight from the source, others from a padded copy of it. Images
// of at most four channels are read row-major. `pixels`: each thread makes some rows of every channel;
// `channels`: each thread makes some channels of every pixel, reading each weight once.
#include <algorithm>
#include <cstring>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using simd::block;
using simd::Strip;

constexpr std::string_view simd_convolution_family_name = "simd:conv";

// Everything a run needs, by value.
struct SimdConvolutionWork {
    std::int64_t images, channels, height, width;  // of the source
    std::int64_t out_height, out_width;
    std::int64_t stride_y, stride_x;
    std::int64_t sample_y = 1,
                 sample_x = 1;  // a strided 1x1 copies the pixels it reads, and has no stride then
    std::int64_t pad_y, pad_x, padded_height, padded_width;
    std::int64_t unit;    // floats of one source pixel: 16, or 4 for a row-major image
    bool copies = false;  // into the padded copy; else the source is read as it is (1x1)
    bool by_channels = false;
    simd::Groups groups;
    std::vector<std::int64_t> taps;
    bool biased = false;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;
    std::int64_t cache = 1 << 20;  // bytes of a thread's second one

    // Of the channels of a 1x1, whose pixels every group reads: where they fill half of the second cache, of
    // a quarter of it.
    [[nodiscard]] std::int64_t chunks(std::int64_t pixels) const {
        const std::int64_t bytes = pixels * channels * 4;
        return 2 * bytes <= cache ? 1 : std::min(source_blocks(), (4 * bytes + cache - 1) / cache);
    }
    [[nodiscard]] std::int64_t source_blocks() const { return (channels + unit - 1) / unit; }
    [[nodiscard]] std::int64_t copy_floats() const {
        return source_blocks() * padded_height * padded_width * unit;
    }
};

// Rows of (channel block, row) pairs of the padded copy.
void copy_rows(const SimdConvolutionWork& w, const float* image, float* padded, std::int64_t first,
               std::int64_t last) {
    const std::int64_t row_floats = w.padded_width * w.unit;
    for (std::int64_t r = first; r < last; ++r) {
        float* to = padded + r * row_floats;
        const std::int64_t y = r % w.padded_height * w.sample_y - w.pad_y;
        const std::int64_t cb = r / w.padded_height;
        if (y < 0 || y >= w.height) {
            std::fill_n(to, row_floats, 0.0F);
            continue;
        }
        if (w.sample_x > 1) {
            const float* row = image + ((cb * w.height + y) * w.width) * block;
            for (std::int64_t x = 0; x < w.padded_width; ++x)
                std::copy_n(row + x * w.sample_x * block, block, to + x * block);
            continue;
        }
        const std::int64_t columns = std::min(w.width, w.padded_width - w.pad_x);
        std::fill_n(to, w.pad_x * w.unit, 0.0F);
        if (w.unit == block) {
            std::copy_n(image + ((cb * w.height + y) * w.width) * block, columns * block,
                        to + w.pad_x * block);
        } else {
            for (std::int64_t x = 0; x < columns; ++x) {
                float* pixel = to + (w.pad_x + x) * w.unit;
                for (std::int64_t c = 0; c < w.unit; ++c)
                    pixel[c] = c < w.channels ? image[(c * w.height + y) * w.width + x] : 0.0F;
            }
        }
        std::fill(to + (w.pad_x + columns) * w.unit, to + row_floats, 0.0F);
    }
}

// Of a 1x1's channels: sums wait in the result. What is read next is the same chunk of the next group.
void take_chunk(const SimdConvolutionWork& w, std::int64_t group, std::int64_t chunk, std::int64_t chunks,
                const float* weights, Strip& s) {
    const auto [from, to] = share(w.source_blocks(), chunk, chunks);
    s.source += from * s.source_block;
    s.channels = std::min(w.channels, to * block) - from * block;
    const std::int64_t passed = from * block * s.columns * block;
    s.weights += passed;
    if (group + 1 < w.groups.count()) {
        s.ahead = weights + w.groups.offset(group + 1, w.channels * block) + passed;
        s.ahead_step = simd::ahead_step(s.pixels, s.columns);
    }
    if (chunk > 0) s.bias = nullptr, s.add = s.result;
    s.clip = s.clip && chunk + 1 == chunks;
}

// Applies the chain to `columns` blocks of `size` floats, `pixels` pixels apart, from float `first` of the
// result on.
void run_chain(const SimdConvolutionWork& w, const Pointers& pointers, std::int64_t first, int columns,
               std::int64_t pixels, std::int64_t size) {
    auto* result = reinterpret_cast<float*>(pointers.outputs[0]);
    alignas(64) float scratch[1024];
    for (int column = 0; column < columns; ++column) {
        const std::int64_t start = first + column * pixels * block;
        for (std::int64_t done = 0; done < size; done += 1024)
            w.fused.chain->run(pointers, result + start + done, result + start + done, start + done,
                               std::min<std::int64_t>(1024, size - done), scratch);
    }
}

void run_simd_convolution(const SimdConvolutionWork& w, const Pointers& pointers) {
    const std::int64_t pixels = w.out_height * w.out_width;
    const std::int64_t image_floats =
        w.unit == block ? w.source_blocks() * w.height * w.width * block : w.channels * w.height * w.width;
    auto* padded = reinterpret_cast<float*>(pointers.workspace);
    const auto* weights = reinterpret_cast<const float*>(pointers.constants[0]);
    const auto* bias = w.biased ? reinterpret_cast<const float*>(pointers.constants[1]) : nullptr;
    const std::int64_t per_block = static_cast<std::int64_t>(w.taps.size()) * w.channels * block;
    // 1x1 runs over the whole image as one row.
    const bool flat = w.taps.size() == 1 && w.stride_y == 1 && w.stride_x == 1;
    const std::int64_t rows = flat ? pixels : w.out_height;
    const std::int64_t row_pixels = flat ? 1 : w.out_width;

    for (std::int64_t n = 0; n < w.images; ++n) {
        const auto* image = reinterpret_cast<const float*>(pointers.inputs[w.source]) + n * image_floats;
        const std::int64_t result_floats = w.groups.blocks() * pixels * block;
        auto* result = reinterpret_cast<float*>(pointers.outputs[0]) + n * result_floats;
        const float* add = w.fused.added ? reinterpret_cast<const float*>(pointers.inputs[*w.fused.added]) +
                                               n * result_floats
                                         : nullptr;
        const auto strip_at = [&](std::int64_t group, std::int64_t row, std::int64_t count,
                                  std::int64_t chunk = 0, std::int64_t chunks = 1) {
            Strip s;
            s.columns = w.groups.width(group);
            s.taps = w.taps.data();
            s.tap_count = static_cast<std::int64_t>(w.taps.size());
            s.channels = w.channels;
            s.weights = weights + w.groups.offset(group, per_block);
            s.bias = bias == nullptr ? nullptr : bias + w.groups.offset(group, block);
            const std::int64_t at = (group * w.groups.columns * pixels + row * row_pixels) * block;
            s.result = result + at;
            s.add = add == nullptr ? nullptr : add + at;
            s.result_block = pixels * block;
            s.clip = w.fused.clip, s.low = w.fused.low, s.high = w.fused.high;
            if (flat) {
                s.pixels = count;
                s.source_pixel = w.unit;
                s.source = (w.copies ? padded : image) + row * w.unit;
                s.source_block = pixels * w.unit;
                if (chunks > 1) take_chunk(w, group, chunk, chunks, weights, s);
                simd::run(s);
                if (chunk + 1 < chunks) return;
            } else {
                s.pixels = w.out_width;
                s.source_pixel = w.stride_x * w.unit;
                s.source_block = w.padded_height * w.padded_width * w.unit;
                for (std::int64_t r = row; r < row + count; ++r) {
                    s.source = padded + r * w.stride_y * w.padded_width * w.unit;
                    simd::run(s);
                    s.result += w.out_width * block;
                    if (s.add != nullptr) s.add += w.out_width * block;
                }
            }
            if (w.fused.chain)
                run_chain(w, pointers, n * result_floats + at, s.columns, pixels, count * row_pixels * block);
        };
        if (w.copies)
            in_shares(
                w.threads, w.source_blocks() * w.padded_height,
                [&](std::int64_t first, std::int64_t last) { copy_rows(w, image, padded, first, last); });
        parallel(w.threads, [&](int thread) {
            if (w.by_channels) {
                const auto [first, last] = share(w.groups.count(), thread, w.threads);
                const std::int64_t chunks = flat ? w.chunks(pixels) : 1;
                for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
                    for (std::int64_t group = first; group < last; ++group)
                        strip_at(group, 0, rows, chunk, chunks);
            } else {
                // Slices of rows whose source stays in the first cache while every group passes.
                const auto [first, last] = share(rows, thread, w.threads);
                const std::int64_t slice = flat ? std::clamp<std::int64_t>(4096 / w.channels, 1, 8) * 14 : 2;
                for (std::int64_t row = first; row < last; row += slice)
                    for (std::int64_t group = 0; group < w.groups.count(); ++group)
                        strip_at(group, row, std::min(slice, last - row));
            }
        });
    }
}

struct SimdConvolutionPlan {
    ConvolutionShape shape;
    std::vector<EpilogueStep> steps;
    plan::Layout source, result;
    std::size_t input = 0;
    bool row_major = false;  // the source
};

std::optional<SimdConvolutionPlan> plan_of_simd_convolution(const Task& task) {
    auto shape = convolution_shape(task);
    if (!shape || shape->spatial() != 2 || shape->groups != 1) return std::nullopt;
    auto steps = read_epilogue(task);
    if (!steps) return std::nullopt;
    for (const EpilogueStep& step : *steps)
        if (step.operand == task.node().inputs[0]) return std::nullopt;
    SimdConvolutionPlan plan{*shape,
                             *std::move(steps),
                             plan::channels_blocked(4, block),
                             plan::channels_blocked(4, block),
                             *task.input_index(task.node().inputs[0]),
                             shape->source[1] <= 4};
    if (plan.row_major) plan.source = plan::plain(4);
    if (shape->strides[1] > 2 || shape->pads_begin[0] < 0 || shape->pads_begin[1] < 0) return std::nullopt;
    std::vector<Packed> constants;
    if (!simd::Fused::make(task, plan.steps, shape->result, plan.result, constants)) return std::nullopt;
    return plan;
}

SimdConvolutionWork work_of(const Task& task, const SimdConvolutionPlan& plan, bool by_channels) {
    const ConvolutionShape& s = plan.shape;
    SimdConvolutionWork w{};
    w.images = s.source[0], w.channels = s.source[1], w.height = s.source[2], w.width = s.source[3];
    w.out_height = s.result[2], w.out_width = s.result[3];
    w.stride_y = s.strides[0], w.stride_x = s.strides[1];
    w.pad_y = s.pads_begin[0], w.pad_x = s.pads_begin[1];
    w.unit = plan.row_major ? 4 : block;
    const bool point = s.weights[2] == 1 && s.weights[3] == 1;
    if (point && !plan.row_major && s.strides[0] == s.strides[1] && s.strides[0] > 1 && w.pad_y == 0 &&
        w.pad_x == 0 && s.pads_end[0] <= 0 && s.pads_end[1] <= 0) {
        w.sample_y = w.sample_x = s.strides[0];
        w.stride_y = w.stride_x = 1;
    }
    w.padded_height = (w.out_height - 1) * w.stride_y + (s.weights[2] - 1) * s.dilations[0] + 1;
    w.padded_width = (w.out_width - 1) * w.stride_x + (s.weights[3] - 1) * s.dilations[1] + 1;
    w.copies = !point || s.strides[0] != 1 || s.strides[1] != 1 || w.pad_y != 0 || w.pad_x != 0 ||
               w.out_height != w.height || w.out_width != w.width || plan.row_major;
    w.by_channels = by_channels;
    w.groups = {s.weights[0], simd::best_columns()};
    for (std::int64_t y = 0; y < s.weights[2]; ++y)
        for (std::int64_t x = 0; x < s.weights[3]; ++x)
            w.taps.push_back((y * s.dilations[0] * w.padded_width + x * s.dilations[1]) * w.unit);
    w.biased = s.bias;
    w.source = plan.input;
    w.threads = task.context.threads;
    if (const std::int64_t bytes = this_machine().l2.value; bytes > 0) w.cache = bytes;
    return w;
}

std::vector<plan::Choice> offers_simd_convolution(const Task& task) {
    const auto plan = plan_of_simd_convolution(task);
    if (!plan) return {};
    std::vector<plan::Choice> choices;
    for (const bool by_channels : {false, true}) {
        if (by_channels && task.context.threads == 1) continue;
        const SimdConvolutionWork work = work_of(task, *plan, by_channels);
        plan::Choice choice = task.plain_choice(
            fmt::format("{}:{}", simd_convolution_family_name, by_channels ? "channels" : "pixels"));
        choice.variant.split = by_channels ? plan::Split::channels : plan::Split::rows;
        choice.inputs[plan->input].layout = plan->source;
        choice.outputs[0].layout = plan->result;
        for (const EpilogueStep& step : plan->steps)
            if (const auto input = task.input_index(step.operand);
                input && task.dims(step.operand) == plan->shape.result)
                choice.inputs[*input].layout = plan->result;
        choice.workspace = Bytes(work.copies ? work.copy_floats() * 4 : 0);
        simd::offer_with_residual(task, plan->steps, plan->shape.result, std::move(choice), choices);
    }
    return choices;
}

Result<Kernel> prepare_simd_convolution(const Task& task, const plan::Choice& choice) {
    const auto plan = plan_of_simd_convolution(task);
    if (!plan) return unknown_kernel(choice);
    SimdConvolutionWork work = work_of(task, *plan, choice.variant.split == plan::Split::channels);
    const graph::Node& node = task.node();
    const auto values = task.graph.constant(node.inputs[1])->values<float>();
    const auto taps = static_cast<std::int64_t>(work.taps.size());
    Kernel kernel;
    kernel.constants.push_back(
        simd::pack_weights(task, node.inputs[1], work.groups, taps, work.channels, "direct",
                           [&](std::int64_t m, std::int64_t c, std::int64_t t) {
                               return values[static_cast<std::size_t>((m * work.channels + c) * taps + t)];
                           }));
    if (work.biased) kernel.constants.push_back(simd::pack_bias(task, node.inputs[2], work.groups));
    auto fused = simd::Fused::make(task, plan->steps, plan->shape.result, plan->result, kernel.constants);
    work.fused = *std::move(fused);
    kernel.workspace = Bytes(work.copies ? work.copy_floats() * 4 : 0);
    kernel.run = [work = std::move(work)](const Pointers& pointers) { run_simd_convolution(work, pointers); };
    return kernel;
}

}  // namespace

Family simd_convolution_family() {
    return {simd_convolution_family_name, offers_simd_convolution, prepare_simd_convolution};
}

}  // namespace viridian::execute::cpu
