// 3x3 convolutions of stride 1 by Winograd's F(2×2, 3×3) and F(4×4, 3×3), those of one row or column by F(4,
// r) and F(6, r), on nChw16c; in bf16 by F(2, r) and F(4, r), whose products and sources are rounded.
#include <algorithm>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"
#include "viridian/execute/cpu/kernels/convolution/winograd.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/winograd.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::ElementType;
using simd::block;

constexpr std::string_view simd_winograd_family_name = "simd:winograd";

struct SimdWinogradPlan {
    ConvolutionShape shape;
    std::vector<EpilogueStep> steps;
    std::size_t input = 0;
    int line = 0;  // taps of a kernel of one row or column; 0: 3x3
    [[nodiscard]] std::int64_t taps() const { return line == 0 ? 9 : line; }
};

std::optional<SimdWinogradPlan> plan_of_simd_winograd(const Task& task) {
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
    for (const EpilogueStep& step : *steps)
        if (step.operand == task.node().inputs[0]) return std::nullopt;
    std::vector<Packed> constants;
    if (!simd::Fused::make(task, *steps, s.result, plan::channels_blocked(4, block), constants))
        return std::nullopt;
    return SimdWinogradPlan{s, *std::move(steps), *task.input_index(task.node().inputs[0]),
                            square ? 0 : static_cast<int>(line)};
}

struct WinogradVariant {
    int m = 4;  // results of a tile along a side
    bool by_channels = false;
    bool bf16 = false;
};

std::vector<WinogradVariant> variants(const Task& task, const SimdWinogradPlan& plan, bool with_bf16) {
    std::vector<WinogradVariant> list;
    const std::int64_t weights = plan.shape.weights[0] * plan.shape.weights[1];
    const bool splits = task.context.threads > 1 && weights >= 4096;
    for (const bool bf16 : {false, true}) {
        if (bf16 && !with_bf16) continue;
        for (const int m : bf16 || plan.line == 0 ? std::vector{4, 2} : std::vector{6, 4})
            for (const bool by_channels : {false, true})
                if (splits || !by_channels) list.push_back({m, by_channels, bf16});
    }
    return list;
}

// "4x3" is F(4×4, 3×3), "line:6x7" F(6, 7), "bf16:…" with sources and weights in bf16.
std::string name(const SimdWinogradPlan& plan, const WinogradVariant& variant) {
    return fmt::format("{}:{}{}{}x{}:{}", simd_winograd_family_name, variant.bf16 ? "bf16:" : "",
                       plan.line == 0 ? "" : "line:", variant.m, plan.line == 0 ? 3 : plan.line,
                       variant.by_channels ? "channels" : "pixels");
}

WinogradConvolution winograd_of(const Task& task, const SimdWinogradPlan& plan,
                                const WinogradVariant& variant) {
    const ConvolutionShape& s = plan.shape;
    WinogradConvolution w{};
    w.m = variant.m;
    if (variant.bf16)
        w.bf16 = simd::winograd_bf16(variant.m, plan.line == 0 ? 3 : plan.line, plan.line == 0);
    else if (plan.line != 0)
        w.line = simd::line_transform(variant.m, plan.line);
    w.tile_y = s.weights[2] == 1 ? 1 : variant.m, w.tile_x = s.weights[3] == 1 ? 1 : variant.m;
    w.reach_y = w.tile_y + s.weights[2] - 1, w.reach_x = w.tile_x + s.weights[3] - 1;
    w.images = s.source[0], w.channels = s.source[1], w.height = s.source[2], w.width = s.source[3];
    w.out_height = s.result[2], w.out_width = s.result[3];
    w.pad_y = s.pads_begin[0], w.pad_x = s.pads_begin[1];
    w.tiles_y = (w.out_height + w.tile_y - 1) / w.tile_y;
    w.tiles_x = (w.out_width + w.tile_x - 1) / w.tile_x;
    w.by_channels = variant.by_channels;
    w.groups = {s.weights[0], variant.bf16 ? 2 : simd::best_columns()};
    w.biased = s.bias;
    w.source = plan.input;
    w.threads = task.context.threads;
    w.choose_batch();
    return w;
}

// In bf16 what is read; what is written, and a residual, too, where `precision` says so.
plan::Choice choice_of(const Task& task, const SimdWinogradPlan& plan, const WinogradVariant& variant,
                       const Precision& precision) {
    const plan::Layout layout = plan::channels_blocked(4, block);
    plan::Choice choice = task.plain_choice(name(plan, variant));
    choice.variant = {variant.bf16 ? plan::Algorithm::winograd_bf16 : plan::Algorithm::winograd,
                      variant.by_channels ? plan::Split::channels : plan::Split::rows};
    choice.inputs[plan.input] = {layout, precision.source, {}};
    choice.outputs[0] = {layout, precision.result, {}};
    for (const EpilogueStep& step : plan.steps)
        if (const auto input = task.input_index(step.operand);
            input && task.dims(step.operand) == plan.shape.result)
            choice.inputs[*input] = choice.outputs[0];
    choice.workspace = winograd_of(task, plan, variant).workspace();
    return choice;
}

std::vector<plan::Choice> offers_simd_winograd(const Task& task) {
    const auto plan = plan_of_simd_winograd(task);
    if (!plan) return {};
    std::vector<Packed> constants;
    const auto fused =
        simd::Fused::make(task, plan->steps, plan->shape.result, plan::channels_blocked(4, block), constants);
    std::vector<plan::Choice> choices;
    for (const WinogradVariant& variant : variants(task, *plan, task.context.multiplies_bf16()))
        for (const Precision& precision : contraction_precisions(task.context)) {
            if (variant.bf16 == precision.exact()) continue;
            // A chain runs over what was stored, in f32.
            if (precision.result == ElementType::bf16 && fused->chain) continue;
            simd::offer_with_residual(task, plan->steps, plan->shape.result,
                                      choice_of(task, *plan, variant, precision), choices);
        }
    return choices;
}

// One transform per kernel; packing asks for its components one by one.
std::vector<float> transformed_weights(const Task& task, const SimdWinogradPlan& plan,
                                       const WinogradConvolution& winograd) {
    const auto values = task.graph.constant(task.node().inputs[1])->values<float>();
    const std::int64_t components = winograd.components();
    const std::int64_t kernels = plan.shape.weights[0] * winograd.channels;
    std::vector<float> transformed(static_cast<std::size_t>(kernels * components));
    double made[36];
    for (std::int64_t i = 0; i < kernels; ++i) {
        const float* taps = values.data() + i * plan.taps();
        if (winograd.bf16)
            simd::winograd_bf16_weights(*winograd.bf16, taps, made);
        else if (winograd.line)
            simd::line_weights(*winograd.line, taps, made);
        else
            simd::winograd_weights(winograd.m, taps, made);
        for (std::int64_t k = 0; k < components; ++k)
            transformed[static_cast<std::size_t>(i * components + k)] = static_cast<float>(made[k]);
    }
    return transformed;
}

Result<Kernel> prepare_simd_winograd(const Task& task, const plan::Choice& choice) {
    const auto plan = plan_of_simd_winograd(task);
    if (!plan) return unknown_kernel(choice);
    // The choice was offered, so the user allowed its precision.
    for (const WinogradVariant& variant : variants(task, *plan, true)) {
        if (choice.kernel != name(*plan, variant)) continue;
        WinogradConvolution winograd = winograd_of(task, *plan, variant);
        winograd.narrow = in_bf16(choice.outputs[0]);
        const graph::Node& node = task.node();
        const std::int64_t components = winograd.components();
        std::vector<float> transformed;  // where they are packed
        const auto weight = [&](std::int64_t o, std::int64_t c, std::int64_t k) {
            if (transformed.empty()) transformed = transformed_weights(task, *plan, winograd);
            return transformed[static_cast<std::size_t>((o * winograd.channels + c) * components + k)];
        };
        const std::string how = fmt::format("winograd {}x{}", variant.m, plan->taps());
        Kernel kernel;
        kernel.constants.push_back(variant.bf16
                                       ? simd::pack_bf16_weights(task, node.inputs[1], winograd.groups,
                                                                 components, winograd.channels, how, weight)
                                       : simd::pack_weights(task, node.inputs[1], winograd.groups, components,
                                                            winograd.channels, how, weight));
        if (winograd.biased)
            kernel.constants.push_back(simd::pack_bias(task, node.inputs[2], winograd.groups));
        auto fused = simd::Fused::make(task, plan->steps, plan->shape.result,
                                       plan::channels_blocked(4, block), kernel.constants);
        winograd.fused = *std::move(fused);
        kernel.workspace = winograd.workspace();
        kernel.run = [winograd = std::move(winograd)](const Pointers& pointers) { winograd.run(pointers); };
        return kernel;
    }
    return unknown_kernel(choice);
}

}  // namespace

Family simd_winograd_family() {
    return {simd_winograd_family_name, offers_simd_winograd, prepare_simd_winograd};
}

}  // namespace viridian::execute::cpu
