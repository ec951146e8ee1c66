// Conv of narrow groups on nChw16c, both sides: as many channels before as after, dividing a block. Threads
// share the rows of all blocks; each pads a few source rows at a time into its own scratch.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"
#include "viridian/execute/cpu/simd/convolution/grouped.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using simd::block;

constexpr std::string_view simd_grouped_convolution_family_name = "simd:grouped";
constexpr std::int64_t simd_grouped_convolution_slice =
    8;  // rows of the result for which source rows are padded at once

struct SimdGroupedConvolutionWork {
    ConvolutionShape shape;
    std::int64_t width = 1;  // channels of a group
    std::int64_t padded_width = 1;
    bool biased = false;
    simd::Fused fused;
    std::size_t source = 0;
    int threads = 1;

    [[nodiscard]] std::int64_t blocks() const { return (shape.source[1] + block - 1) / block; }
    [[nodiscard]] std::int64_t source_rows(std::int64_t rows) const {
        return (rows - 1) * shape.strides[0] + (shape.weights[2] - 1) * shape.dilations[0] + 1;
    }
    [[nodiscard]] std::int64_t scratch_floats() const {
        return source_rows(std::min(simd_grouped_convolution_slice, shape.result[2])) * padded_width * block;
    }
};

// Rows [first, first + rows) of the padded source.
void pad_rows(const SimdGroupedConvolutionWork& w, const float* plane, std::int64_t first, std::int64_t rows,
              float* to) {
    const std::int64_t height = w.shape.source[2], width = w.shape.source[3], left = w.shape.pads_begin[1];
    const std::int64_t columns = std::min(width, w.padded_width - left);
    for (std::int64_t r = 0; r < rows; ++r, to += w.padded_width * block) {
        const std::int64_t y = first + r - w.shape.pads_begin[0];
        if (y < 0 || y >= height) {
            std::fill_n(to, w.padded_width * block, 0.0F);
            continue;
        }
        std::fill_n(to, left * block, 0.0F);
        std::copy_n(plane + y * width * block, columns * block, to + left * block);
        std::fill(to + (left + columns) * block, to + w.padded_width * block, 0.0F);
    }
}

// Rows [row, row + count) of one block's plane of results.
void make_rows(const SimdGroupedConvolutionWork& w, const Pointers& pointers, std::int64_t plane,
               std::int64_t row, std::int64_t count, float* scratch) {
    const ConvolutionShape& shape = w.shape;
    const std::int64_t cb = plane % w.blocks();
    const auto* source = reinterpret_cast<const float*>(pointers.inputs[w.source]) +
                         plane * shape.source[2] * shape.source[3] * block;
    pad_rows(w, source, row * shape.strides[0], w.source_rows(count), scratch);
    const std::int64_t at = (plane * shape.result[2] + row) * shape.result[3] * block;
    auto* result = reinterpret_cast<float*>(pointers.outputs[0]) + at;
    simd::GroupedRow s;
    s.pixels = shape.result[3];
    s.width = w.width;
    s.rows = shape.weights[2], s.columns = shape.weights[3];
    s.stride = shape.strides[1], s.dilation = shape.dilations[1];
    s.source_row = shape.dilations[0] * w.padded_width * block;
    s.weights =
        reinterpret_cast<const float*>(pointers.constants[0]) + cb * s.rows * s.columns * w.width * block;
    if (w.biased) s.bias = reinterpret_cast<const float*>(pointers.constants[1]) + cb * block;
    if (w.fused.added) s.add = reinterpret_cast<const float*>(pointers.inputs[*w.fused.added]) + at;
    s.clip = w.fused.clip, s.low = w.fused.low, s.high = w.fused.high;
    for (std::int64_t r = 0; r < count; ++r) {
        s.source = scratch + r * shape.strides[0] * w.padded_width * block;
        s.result = result + r * s.pixels * block;
        simd::run(s);
        if (s.add != nullptr) s.add += s.pixels * block;
    }
    if (!w.fused.chain) return;
    alignas(64) float piece[1024];
    for (std::int64_t done = 0, size = count * s.pixels * block; done < size; done += 1024)
        w.fused.chain->run(pointers, result + done, result + done, at + done,
                           std::min<std::int64_t>(1024, size - done), piece);
}

void run_simd_grouped_convolution(const SimdGroupedConvolutionWork& w, const Pointers& pointers) {
    const std::int64_t height = w.shape.result[2];
    parallel(w.threads, [&](int thread) {
        float* scratch = reinterpret_cast<float*>(pointers.workspace) + thread * w.scratch_floats();
        const auto [first, last] = share(w.shape.source[0] * w.blocks() * height, thread, w.threads);
        for (std::int64_t at = first; at < last;) {
            const std::int64_t row = at % height;
            const std::int64_t count = std::min({simd_grouped_convolution_slice, height - row, last - at});
            make_rows(w, pointers, at / height, row, count, scratch);
            at += count;
        }
    });
}

struct SimdGroupedConvolutionPlan {
    SimdGroupedConvolutionWork work;
    std::vector<EpilogueStep> steps;
};

// The epilogue's constants go behind `constants`.
std::optional<SimdGroupedConvolutionPlan> plan_of_simd_grouped_convolution(const Task& task,
                                                                           std::vector<Packed>& constants) {
    const auto shape = convolution_shape(task);
    if (!shape || shape->spatial() != 2 || shape->groups < 2) return std::nullopt;
    const std::int64_t width = shape->weights[1];
    if (shape->weights[0] != shape->source[1] || width > block || block % width != 0) return std::nullopt;
    if (shape->pads_begin[0] < 0 || shape->pads_begin[1] < 0) return std::nullopt;
    auto steps = read_epilogue(task);
    if (!steps) return std::nullopt;
    for (const EpilogueStep& step : *steps)
        if (step.operand == task.node().inputs[0]) return std::nullopt;
    auto fused = simd::Fused::make(task, *steps, shape->result, plan::channels_blocked(4, block), constants);
    if (!fused) return std::nullopt;
    SimdGroupedConvolutionPlan plan;
    plan.steps = *std::move(steps);
    SimdGroupedConvolutionWork& work = plan.work;
    work.shape = *shape;
    work.width = width;
    work.padded_width =
        (shape->result[3] - 1) * shape->strides[1] + (shape->weights[3] - 1) * shape->dilations[1] + 1;
    work.padded_width = std::max(work.padded_width, shape->pads_begin[1]);
    work.biased = shape->bias;
    work.fused = *std::move(fused);
    work.source = *task.input_index(task.node().inputs[0]);
    work.threads = task.context.threads;
    return plan;
}

Bytes workspace_of(const SimdGroupedConvolutionWork& work) {
    return Bytes(work.threads * work.scratch_floats() * 4);
}

std::vector<plan::Choice> offers_simd_grouped_convolution(const Task& task) {
    std::vector<Packed> constants;
    const auto plan = plan_of_simd_grouped_convolution(task, constants);
    if (!plan) return {};
    plan::Choice choice = task.plain_choice(std::string(simd_grouped_convolution_family_name));
    const auto layout = plan::channels_blocked(4, block);
    choice.inputs[plan->work.source].layout = choice.outputs[0].layout = layout;
    for (const EpilogueStep& step : plan->steps)
        if (const auto input = task.input_index(step.operand);
            input && task.dims(step.operand) == plan->work.shape.result)
            choice.inputs[*input].layout = layout;
    choice.workspace = workspace_of(plan->work);
    std::vector<plan::Choice> choices;
    simd::offer_with_residual(task, plan->steps, plan->work.shape.result, std::move(choice), choices);
    return choices;
}

Result<Kernel> prepare_simd_grouped_convolution(const Task& task, const plan::Choice& choice) {
    const graph::Node& node = task.node();
    const auto shape = convolution_shape(task);
    if (!shape) return unknown_kernel(choice);
    const auto values = task.graph.constant(node.inputs[1])->values<float>();
    const std::int64_t width = shape->weights[1], rows = shape->weights[2], columns = shape->weights[3];
    const simd::Groups blocks{shape->weights[0], 1};
    Kernel kernel;
    // [block][row][member][column][16]
    kernel.constants.push_back(simd::pack_weights(
        task, node.inputs[1], blocks, rows, width * columns, "grouped",
        [&](std::int64_t m, std::int64_t c, std::int64_t r) {
            return values[static_cast<std::size_t>(((m * width + c / columns) * rows + r) * columns +
                                                   c % columns)];
        }));
    if (shape->bias) kernel.constants.push_back(simd::pack_bias(task, node.inputs[2], blocks));
    auto plan = plan_of_simd_grouped_convolution(task, kernel.constants);
    if (!plan) return unknown_kernel(choice);
    kernel.workspace = workspace_of(plan->work);
    kernel.run = [work = std::move(plan->work)](const Pointers& pointers) {
        run_simd_grouped_convolution(work, pointers);
    };
    return kernel;
}

}  // namespace

Family simd_grouped_convolution_family() {
    return {simd_grouped_convolution_family_name, offers_simd_grouped_convolution,
            prepare_simd_grouped_convolution};
}

}  // namespace viridian::execute::cpu
