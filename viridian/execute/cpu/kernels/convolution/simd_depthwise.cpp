// Conv of one channel a group on nhwc, bf16 → bf16 or f32. Borders are kept out by the taps that lie inside,
// so that nothing is copied. `pixels`: threads share the tiles of all rows; `channels`: each weight is read
// by one thread only.
#include <algorithm>
#include <tuple>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/bf16/depthwise.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;
using simd::depthwise_tile_pixels;

constexpr std::string_view simd_depthwise_family_name = "simd:depthwise";
constexpr std::int64_t depthwise_block = 32;  // channels of the micro-kernel

struct SimdDepthwiseWork {
    ConvolutionShape shape;
    simd::Fused fused;
    std::size_t source = 0;
    bool by_channels = false;
    bool narrow = false;  // the result in bf16
    int threads = 1;
    std::vector<std::int64_t> bounds;  // of a row's tiles

    [[nodiscard]] std::int64_t channels() const { return shape.source[1]; }
    [[nodiscard]] std::int64_t blocks() const { return (channels() + depthwise_block - 1) / depthwise_block; }
    [[nodiscard]] std::int64_t tiles() const { return static_cast<std::int64_t>(bounds.size()) - 1; }
    // Of a thread, where a chain follows: results, then the chain's scratch.
    [[nodiscard]] std::int64_t waiting_floats() const {
        return fused.chain ? 2 * depthwise_tile_pixels * channels() : 0;
    }
    [[nodiscard]] Bytes workspace() const { return Bytes(threads * waiting_floats() * 4); }
};

simd::DepthwiseTile tile_of(const SimdDepthwiseWork& w, const Pointers& pointers) {
    const ConvolutionShape& shape = w.shape;
    simd::DepthwiseTile s;
    s.channels = w.channels();
    s.width = shape.source[3];
    s.columns = shape.weights[3];
    s.stride = shape.strides[1], s.dilation = shape.dilations[1], s.pad = shape.pads_begin[1];
    s.source_row = shape.dilations[0] * s.width * s.channels;
    s.weights_block = shape.weights[2] * shape.weights[3] * depthwise_block;
    if (shape.bias) s.bias = reinterpret_cast<const float*>(pointers.constants[1]);
    s.add_narrow = w.narrow;
    s.narrow = w.narrow && !w.fused.chain;
    s.clip = w.fused.clip, s.low = w.fused.low, s.high = w.fused.high;
    return s;
}

// Of the source and the weights, what the kernel's rows at one row of results meet.
void place_rows(const SimdDepthwiseWork& w, const Pointers& pointers, std::int64_t row,
                simd::DepthwiseTile& s) {
    const ConvolutionShape& shape = w.shape;
    const std::int64_t image = row / shape.result[2], height = shape.source[2], step = shape.dilations[0];
    const std::int64_t begin = row % shape.result[2] * shape.strides[0] - shape.pads_begin[0];
    const std::int64_t first = begin < 0 ? (step - 1 - begin) / step : 0;
    const std::int64_t room = height - begin;
    const std::int64_t last = std::min(shape.weights[2], room > 0 ? (room + step - 1) / step : 0);
    s.rows = std::max<std::int64_t>(0, last - first);
    s.ahead = shape.strides[0] == 1 && step == 1 && last == shape.weights[2] && room > last;
    s.source = reinterpret_cast<const std::uint16_t*>(pointers.inputs[w.source]) +
               (image * height + begin + first * step) * s.width * s.channels;
    s.weights = reinterpret_cast<const float*>(pointers.constants[0]) + first * s.columns * depthwise_block;
}

// Results [at, at + n) of the memory wait in f32 for a chain.
void finish(const SimdDepthwiseWork& w, const Pointers& pointers, std::int64_t at, std::int64_t n,
            float* made) {
    w.fused.chain->run(pointers, made, made, at, n, made + depthwise_tile_pixels * w.channels());
    if (w.narrow)
        simd::narrow(made, reinterpret_cast<std::uint16_t*>(pointers.outputs[0]) + at, n);
    else
        std::copy_n(made, n, reinterpret_cast<float*>(pointers.outputs[0]) + at);
}

void run_simd_depthwise(const SimdDepthwiseWork& w, const Pointers& pointers) {
    const std::int64_t size = w.narrow ? 2 : 4;
    parallel(w.threads, [&](int thread) {
        float* waiting = reinterpret_cast<float*>(pointers.workspace) + thread * w.waiting_floats();
        simd::DepthwiseTile s = tile_of(w, pointers);
        const std::int64_t tiles = w.shape.result[0] * w.shape.result[2] * w.tiles();
        const auto [begin, end] =
            w.by_channels ? std::pair{std::int64_t{0}, tiles} : share(tiles, thread, w.threads);
        std::tie(s.first_block, s.last_block) =
            w.by_channels ? share(w.blocks(), thread, w.threads) : std::pair{std::int64_t{0}, w.blocks()};
        std::int64_t row = begin / w.tiles(), tile = begin % w.tiles();
        for (std::int64_t i = begin; i < end; ++i, ++tile) {
            if (tile == w.tiles()) ++row, tile = 0;
            if (i == begin || tile == 0) place_rows(w, pointers, row, s);
            const std::int64_t first = w.bounds[static_cast<std::size_t>(tile)];
            s.first = first, s.pixels = w.bounds[static_cast<std::size_t>(tile) + 1] - first;
            const std::int64_t at = (row * w.shape.result[3] + first) * s.channels;
            if (w.fused.added) s.add = pointers.inputs[*w.fused.added] + at * size;
            s.result = w.fused.chain ? static_cast<void*>(waiting) : pointers.outputs[0] + at * size;
            simd::run(s);
            if (w.fused.chain) finish(w, pointers, at, s.pixels * s.channels, waiting);
        }
    });
}

struct SimdDepthwisePlan {
    SimdDepthwiseWork work;
    std::vector<EpilogueStep> steps;
};

// The epilogue's constants go behind `constants`.
std::optional<SimdDepthwisePlan> plan_of_simd_depthwise(const Task& task, std::vector<Packed>& constants) {
    if (!task.context.multiplies_bf16()) return std::nullopt;
    auto shape = convolution_shape(task);
    if (!shape || shape->spatial() != 2 || !shape->depthwise()) return std::nullopt;
    auto steps = read_epilogue(task);
    if (!steps) return std::nullopt;
    for (const EpilogueStep& step : *steps)
        if (step.operand == task.node().inputs[0]) return std::nullopt;
    auto fused = simd::Fused::make(task, *steps, shape->result, plan::channels_last(4), constants);
    if (!fused) return std::nullopt;
    SimdDepthwisePlan plan;
    plan.steps = *std::move(steps);
    plan.work.shape = *std::move(shape);
    plan.work.fused = *std::move(fused);
    plan.work.source = *task.input_index(task.node().inputs[0]);
    plan.work.threads = task.context.threads;
    const std::int64_t width = plan.work.shape.result[3],
                       tiles = (width + depthwise_tile_pixels - 1) / depthwise_tile_pixels;
    for (std::int64_t t = 0; t <= tiles; ++t) plan.work.bounds.push_back(width * t / tiles);
    return plan;
}

std::vector<plan::Choice> offers_simd_depthwise(const Task& task) {
    std::vector<Packed> constants;
    const auto plan = plan_of_simd_depthwise(task, constants);
    if (!plan) return {};
    const SimdDepthwiseWork& work = plan->work;
    std::vector<plan::Choice> choices;
    for (const bool by_channels : {false, true})
        for (const ElementType result : {ElementType::bf16, ElementType::f32}) {
            // A chain wants whole pixels; a few blocks are no work for several threads.
            if (by_channels && (work.fused.chain || work.threads == 1 || work.blocks() < 2 * work.threads))
                continue;
            plan::Choice choice = task.plain_choice(
                fmt::format("{}:{}", simd_depthwise_family_name, by_channels ? "channels" : "pixels"));
            choice.variant.split = by_channels ? plan::Split::channels : plan::Split::rows;
            choice.inputs[work.source] = {plan::channels_last(4), ElementType::bf16, {}};
            choice.outputs[0] = {plan::channels_last(4), result, {}};
            for (const EpilogueStep& step : plan->steps)
                if (const auto input = task.input_index(step.operand);
                    input && task.dims(step.operand) == work.shape.result)
                    choice.inputs[*input].layout = plan::channels_last(4);
            if (work.fused.added) choice.inputs[*work.fused.added].element = result;
            choice.workspace = work.workspace();
            simd::offer_with_residual(task, plan->steps, work.shape.result, std::move(choice), choices);
        }
    return choices;
}

// Blocks of 32 channels, `taps` vectors each, as the micro-kernel reads them; zeroes beyond the channels.
Packed pack(const Task& task, graph::ValueId id, std::int64_t channels, std::int64_t taps) {
    const graph::Tensor& tensor = *task.graph.constant(id);
    const auto values = tensor.values<float>();
    const std::int64_t floats = (channels + depthwise_block - 1) / depthwise_block * taps * depthwise_block;
    return task.context.packed->find_or_make(
        fmt::format("{:x} depthwise {} {}", tensor.content_hash(), channels, taps),
        static_cast<std::size_t>(floats * 4), [&](std::byte* bytes) {
            auto* to = reinterpret_cast<float*>(bytes);
            std::fill_n(to, floats, 0.0F);
            for (std::int64_t c = 0; c < channels; ++c)
                for (std::int64_t t = 0; t < taps; ++t)
                    to[(c / depthwise_block * taps + t) * depthwise_block + simd::depthwise_lane(c)] =
                        values[static_cast<std::size_t>(c * taps + t)];
        });
}

Result<Kernel> prepare_simd_depthwise(const Task& task, const plan::Choice& choice) {
    const graph::Node& node = task.node();
    const auto shape = convolution_shape(task);
    if (!shape) return unknown_kernel(choice);
    const std::int64_t channels = shape->source[1];
    Kernel kernel;
    kernel.constants.push_back(pack(task, node.inputs[1], channels, shape->weights[2] * shape->weights[3]));
    if (shape->bias) kernel.constants.push_back(pack(task, node.inputs[2], channels, 1));
    auto plan = plan_of_simd_depthwise(task, kernel.constants);
    if (!plan) return unknown_kernel(choice);
    plan->work.by_channels = choice.variant.split == plan::Split::channels;
    plan->work.narrow = in_bf16(choice.outputs[0]);
    kernel.workspace = plan->work.workspace();
    kernel.run = [work = std::move(plan->work)](const Pointers& pointers) {
        run_simd_depthwise(work, pointers);
    };
    return kernel;
}

}  // namespace

Family simd_depthwise_family() {
    return {simd_depthwise_family_name, offers_simd_depthwise, prepare_simd_depthwise};
}

}  // namespace viridian::execute::cpu
