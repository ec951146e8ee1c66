// 3x3 convolutions of stride 1 by Winograd's F(2×2, 3×3) and F(4×4, 3×3), and those of one row or column by
// F(4, r) and F(6, r), on nChw16c. In bf16 they are F(2, r) and F(4, r), and sources and weights are rounded.
// Where 3x3 weights change from run to run, and for the gradient of the source, the kernels are those of f32.
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
    // The node is a ConvGradInput, and `shape` that of the convolution which gives the gradient.
    bool gradient = false;
    std::vector<EpilogueStep> steps;
    std::size_t input = 0;
    int line = 0;  // taps of a kernel of one row or column; 0: 3x3
    [[nodiscard]] std::int64_t taps() const { return line == 0 ? 9 : line; }
    [[nodiscard]] bool changing() const { return gradient || !shape.constant_weights; }
};

// The gradient of a convolution of stride 1 is a convolution of the result's gradient with the reversed
// kernels, whose channels are exchanged.
std::optional<ConvolutionShape> as_convolution(const ConvolutionShape& of) {
    ConvolutionShape shape = of;
    std::swap(shape.source, shape.result);
    std::swap(shape.weights[0], shape.weights[1]);
    for (std::size_t axis = 0; axis < of.spatial(); ++axis) {
        if (of.strides[axis] != 1 || of.dilations[axis] != 1) return std::nullopt;
        for (auto* pads : {&shape.pads_begin, &shape.pads_end})
            (*pads)[axis] = of.weights[axis + 2] - 1 - (*pads)[axis];
    }
    return shape;
}

std::optional<ConvolutionShape> winograd_shape(const Task& task) {
    const auto gradient = convolution_gradient_shape(task);
    if (!gradient) return any_convolution_shape(task);
    return task.node().op == graph::op::ConvGradInput && gradient->groups == 1 ? as_convolution(*gradient)
                                                                               : std::nullopt;
}

std::optional<SimdWinogradPlan> plan_of_simd_winograd(const Task& task) {
    if (!task.context.allowances.winograd) return std::nullopt;
    const auto shape = winograd_shape(task);
    if (!shape || shape->spatial() != 2 || shape->groups != 1) return std::nullopt;
    const auto& s = *shape;
    SimdWinogradPlan plan{s, task.node().op == graph::op::ConvGradInput, {}, 0, 0};
    const bool square = s.weights[2] == 3 && s.weights[3] == 3;
    const std::int64_t line = s.weights[2] * s.weights[3];
    const bool straight = std::min(s.weights[2], s.weights[3]) == 1 && (line == 3 || line == 5 || line == 7);
    if ((!square && (!straight || plan.changing())) || s.strides != graph::Dims{1, 1} ||
        s.dilations != graph::Dims{1, 1} || s.pads_begin[0] < 0 || s.pads_begin[1] < 0 || s.source[1] < 8)
        return std::nullopt;
    if (!plan.changing() && !s.constant_bias) return std::nullopt;
    auto steps = read_epilogue(task);
    if (!steps) return std::nullopt;
    for (const EpilogueStep& step : *steps)
        if (step.operand != graph::ValueId::none &&
            std::ranges::find(task.node().inputs, step.operand) != task.node().inputs.end())
            return std::nullopt;
    std::vector<Packed> constants;
    if (!simd::Fused::make(task, *steps, s.result, plan::channels_blocked(4, block), constants))
        return std::nullopt;
    plan.steps = *std::move(steps);
    plan.input = *task.input_index(task.node().inputs[0]);
    plan.line = square ? 0 : static_cast<int>(line);
    return plan;
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
        if (bf16 && (!with_bf16 || plan.changing())) continue;
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

// Weights are [M,C,3,3]. The convolution that gives the gradient of the source makes C channels from M.
ChangingWeights changing_weights(const Task& task, const SimdWinogradPlan& plan) {
    const std::int64_t inner = plan.taps(), outer = plan.taps() * task.dims(task.node().inputs[1])[1];
    return {*task.input_index(task.node().inputs[1]),
            plan.gradient ? inner : outer,
            plan.gradient ? outer : inner,
            plan.gradient,
            {}};
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
    if (plan.changing()) w.changing = changing_weights(task, plan);
    w.choose_batch();
    return w;
}

// Returns the work of a run that transforms its weights, in flop. An element that is transformed counts as
// `of_element` flop, and a weight that goes to memory or comes from there as `of_weight`; threads that share
// channels wait for each other more often. All of this is rough.
double work_of(const Task& task, const SimdWinogradPlan& plan, const WinogradVariant& variant) {
    constexpr double of_element = 8, of_weight = 10, of_waiting = 1.01;
    const WinogradConvolution w = winograd_of(task, plan, variant);
    const auto tiles = static_cast<double>(w.components() * w.tiles());
    const auto sources = static_cast<double>(w.channels), results = static_cast<double>(w.groups.channels);
    const double readers = variant.by_channels ? 1 : w.threads;
    const double work = tiles * (2 * sources * results + of_element * (sources + results)) +
                        static_cast<double>(w.weight_floats()) * of_weight * (1 + readers);
    return variant.by_channels ? work * of_waiting : work;
}

// Changing weights are transformed in each run: those variants that do less than a direct convolution, the
// best first.
std::vector<WinogradVariant> variants_that_pay(const Task& task, const SimdWinogradPlan& plan,
                                               bool with_bf16) {
    std::vector<WinogradVariant> list = variants(task, plan, with_bf16);
    if (!plan.changing()) return list;
    const ConvolutionShape& s = plan.shape;
    const auto direct = static_cast<double>(2 * plan.taps() * s.source[1] * s.weights[0] * s.result[0] *
                                            s.result[2] * s.result[3]);
    const auto work = [&](const WinogradVariant& variant) { return work_of(task, plan, variant); };
    std::erase_if(list, [&](const WinogradVariant& variant) { return work(variant) >= direct; });
    std::ranges::stable_sort(list, {}, work);
    return list;
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
    for (const WinogradVariant& variant : variants_that_pay(task, *plan, task.context.multiplies_bf16()))
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

// Packs weights and a bias that never change, or says where those that do are read.
void give_operands(const Task& task, const SimdWinogradPlan& plan, const WinogradVariant& variant,
                   WinogradConvolution& winograd, Kernel& kernel) {
    const graph::Node& node = task.node();
    if (plan.changing()) {
        if (winograd.biased) winograd.changing->bias = port_of(task, node.inputs[2], kernel);
        return;
    }
    const std::int64_t components = winograd.components();
    std::vector<float> transformed;  // where they are packed
    const auto weight = [&](std::int64_t o, std::int64_t c, std::int64_t k) {
        if (transformed.empty()) transformed = transformed_weights(task, plan, winograd);
        return transformed[static_cast<std::size_t>((o * winograd.channels + c) * components + k)];
    };
    const std::string how = fmt::format("winograd {}x{}", variant.m, plan.taps());
    const auto pack = variant.bf16 ? simd::pack_bf16_weights : simd::pack_weights;
    kernel.constants.push_back(
        pack(task, node.inputs[1], winograd.groups, components, winograd.channels, how, weight));
    if (winograd.biased) kernel.constants.push_back(simd::pack_bias(task, node.inputs[2], winograd.groups));
}

Result<Kernel> prepare_simd_winograd(const Task& task, const plan::Choice& choice) {
    const auto plan = plan_of_simd_winograd(task);
    if (!plan) return unknown_kernel(choice);
    // The choice was offered, so the user allowed its precision.
    for (const WinogradVariant& variant : variants(task, *plan, true)) {
        if (choice.kernel != name(*plan, variant)) continue;
        WinogradConvolution winograd = winograd_of(task, *plan, variant);
        winograd.narrow = in_bf16(choice.outputs[0]);
        Kernel kernel;
        give_operands(task, *plan, variant, winograd, kernel);
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
