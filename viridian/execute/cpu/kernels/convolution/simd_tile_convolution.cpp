// Conv in bf16 on the matrix unit, channels last. `rows`: each thread makes some lines of every channel;
// `channels`: each thread makes some channels of every pixel, reading each weight once. Images of at most
// four channels are read row-major, in f32.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/product/tile_product.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;

constexpr std::string_view simd_tile_convolution_family_name = "simd:tile_conv";

struct SimdTileConvolutionPlan {
    ConvolutionShape shape;
    std::vector<EpilogueStep> steps;
    std::size_t input = 0;
};

std::optional<SimdTileConvolutionPlan> plan_of_simd_tile_convolution(const Task& task) {
    auto shape = convolution_shape(task);
    if (!shape || shape->spatial() != 2 || shape->groups != 1) return std::nullopt;
    if (shape->pads_begin[0] < 0 || shape->pads_begin[1] < 0) return std::nullopt;
    auto steps = read_epilogue(task);
    if (!steps) return std::nullopt;
    for (const EpilogueStep& step : *steps)
        if (step.operand == task.node().inputs[0]) return std::nullopt;
    std::vector<Packed> constants;
    const auto fused = simd::Fused::make(task, *steps, shape->result, plan::channels_last(4), constants);
    // Whole lines wait for a chain.
    if (!fused || (fused->chain && shape->result[3] > 1024)) return std::nullopt;
    return SimdTileConvolutionPlan{*std::move(shape), *std::move(steps),
                                   *task.input_index(task.node().inputs[0])};
}

TileProduct product_of(const Task& task, const SimdTileConvolutionPlan& plan, bool by_channels,
                       bool row_major, std::vector<Packed>& constants) {
    const ConvolutionShape& s = plan.shape;
    TileProduct p;
    p.images = s.source[0], p.channels = s.source[1], p.height = s.source[2], p.width = s.source[3];
    p.out_height = s.result[2], p.out_width = s.result[3];
    p.stride_y = s.strides[0], p.stride_x = s.strides[1];
    p.dilation_y = s.dilations[0];
    p.pad_y = s.pads_begin[0], p.pad_x = s.pads_begin[1];
    p.taps_y = s.weights[2];
    p.row_major = row_major, p.by_channels = by_channels;
    p.groups.channels = s.weights[0];
    p.biased = s.bias;
    p.source = plan.input;
    p.threads = task.context.threads;
    p.fused = *simd::Fused::make(task, plan.steps, s.result, plan::channels_last(4), constants);
    p.lay_out(s.weights[3], s.dilations[1]);
    return p;
}

std::vector<plan::Choice> offers_simd_tile_convolution(const Task& task) {
    if (!tiles_run(task)) return {};
    const auto plan = plan_of_simd_tile_convolution(task);
    if (!plan) return {};
    const bool image = plan->shape.source[1] <= 4;
    std::vector<plan::Choice> choices;
    for (const bool by_channels : {false, true})
        for (const bool row_major : {false, true})
            for (const ElementType result : {ElementType::bf16, ElementType::f32}) {
                if (by_channels && (task.context.threads == 1 || plan->shape.weights[0] <= 32)) continue;
                // Where nothing at its ports says so, a kernel does not round.
                if (row_major && (!image || result == ElementType::f32)) continue;
                std::vector<Packed> constants;
                const TileProduct p = product_of(task, *plan, by_channels, row_major, constants);
                plan::Choice choice = task.plain_choice(fmt::format(
                    "{}:{}", simd_tile_convolution_family_name, by_channels ? "channels" : "rows"));
                choice.variant.split = by_channels ? plan::Split::channels : plan::Split::rows;
                if (!row_major) choice.inputs[plan->input] = {plan::channels_last(4), ElementType::bf16, {}};
                choice.outputs[0] = {plan::channels_last(4), result, {}};
                for (const EpilogueStep& step : plan->steps)
                    if (const auto input = task.input_index(step.operand);
                        input && task.dims(step.operand) == plan->shape.result)
                        choice.inputs[*input].layout = plan::channels_last(4);
                if (p.fused.added) choice.inputs[*p.fused.added].element = result;
                choice.workspace = p.workspace();
                simd::offer_with_residual(task, plan->steps, plan->shape.result, std::move(choice), choices);
            }
    return choices;
}

Result<Kernel> prepare_simd_tile_convolution(const Task& task, const plan::Choice& choice) {
    const auto plan = tiles_run(task) ? plan_of_simd_tile_convolution(task) : std::nullopt;
    if (!plan) return unknown_kernel(choice);
    const graph::Node& node = task.node();
    const bool row_major = choice.inputs[plan->input].element == ElementType::f32;
    std::vector<Packed> constants;
    TileProduct p =
        product_of(task, *plan, choice.variant.split == plan::Split::channels, row_major, constants);
    const auto values = task.graph.constant(node.inputs[1])->values<float>();
    const std::int64_t taps = plan->shape.weights[2] * plan->shape.weights[3], channels = p.channels;
    Kernel kernel;
    kernel.constants.push_back(
        p.pack(task, node.inputs[1], fmt::format("{}x{}", plan->shape.weights[2], plan->shape.weights[3]),
               plan->shape.weights[3], [&](std::int64_t m, std::int64_t c, std::int64_t t) {
                   return values[static_cast<std::size_t>((m * channels + c) * taps + t)];
               }));
    if (p.biased) kernel.constants.push_back(simd::pack_bias(task, node.inputs[2], p.groups));
    p.fused =
        *simd::Fused::make(task, plan->steps, plan->shape.result, plan::channels_last(4), kernel.constants);
    p.narrow = in_bf16(choice.outputs[0]);
    kernel.workspace = p.workspace();
    kernel.run = [p = std::move(p)](const Pointers& pointers) { p.run(pointers); };
    return kernel;
}

}  // namespace

Family simd_tile_convolution_family() {
    return {simd_tile_convolution_family_name, offers_simd_tile_convolution, prepare_simd_tile_convolution};
}

}  // namespace viridian::execute::cpu
