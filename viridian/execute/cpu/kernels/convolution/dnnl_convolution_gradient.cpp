// ConvGradInput and ConvGradWeight by oneDNN's backward convolutions, in blocked, channels-last and plain
// layouts. Weights and their gradients are row-major f32 on the outside; each run packs or unpacks them.
// Activations and their gradients may be stored in bf16; weights are then packed in bf16.
#include <set>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"
#include "viridian/execute/cpu/kernels/dnnl.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::convolution_backward_data;
using dnnl::convolution_backward_weights;
using dnnl::memory;
using graph::Dims;
using graph::ElementType;

constexpr std::string_view convolution_gradient_family_name = "dnnl:convgrad";

bool is_input_gradient(const Task& task) { return task.node().op == graph::op::ConvGradInput; }

// The weights with an axis of their own for the groups.
Dims grouped_dims(const ConvolutionShape& shape) {
    Dims dims = shape.weights;
    if (shape.groups > 1) {
        dims[0] /= shape.groups;
        dims.insert(dims.begin(), shape.groups);
    }
    return dims;
}

// Returns f32 alone or, if the processor multiplies in bf16, also the types with operands in bf16. Gradients
// of weights, which optimisers read, stay in f32.
std::vector<Precision> gradient_precisions(const Task& task) {
    std::vector<Precision> all = contraction_precisions(task.context);
    if (!is_input_gradient(task))
        std::erase_if(all, [](const Precision& one) { return one.result == ElementType::bf16; });
    return all;
}

// The descriptors of a convolution that differ between kernels.
struct GradientFormats {
    memory::desc source, weights, result;
};

Dims dilations_of(const ConvolutionShape& shape) {  // oneDNN counts from 0
    Dims dilations = shape.dilations;
    for (auto& dilation : dilations) --dilation;
    return dilations;
}

// oneDNN asks for the convolution whose gradient it is. The list of implementations keeps referring to it.
using ForwardHint = dnnl::convolution_forward::primitive_desc;

ForwardHint forward_hint(const Task& task, const ConvolutionShape& shape, const GradientFormats& f) {
    return {{dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, f.source, f.weights,
             f.result, shape.strides, dilations_of(shape), shape.pads_begin, shape.pads_end},
            user_scratchpad(),
            task.context.engine};
}

convolution_backward_data::primitive_desc input_gradient(const Task& task, const ConvolutionShape& shape,
                                                         const GradientFormats& f, const ForwardHint& hint) {
    return {{dnnl::algorithm::convolution_direct, f.source, f.weights, f.result, shape.strides,
             dilations_of(shape), shape.pads_begin, shape.pads_end},
            user_scratchpad(),
            task.context.engine,
            hint};
}

convolution_backward_weights::primitive_desc weight_gradient(const Task& task, const ConvolutionShape& shape,
                                                             const GradientFormats& f,
                                                             const ForwardHint& hint) {
    return {{dnnl::algorithm::convolution_direct, f.source, f.weights, f.result, shape.strides,
             dilations_of(shape), shape.pads_begin, shape.pads_end},
            user_scratchpad(),
            task.context.engine,
            hint};
}

// An implementation of oneDNN with the formats it chose. `source` is that of x or its gradient, `weights`
// that of the weights or their gradient, `result` that of the gradient of the convolution's result.
struct GradientWay {
    std::string name;
    memory::desc source, weights, result, scratchpad;
    plan::Layout source_layout, result_layout;
    std::function<dnnl::primitive()> make;
};

GradientWay way_of(const convolution_backward_data::primitive_desc& found) {
    return {found.impl_info_str(),
            found.diff_src_desc(),
            found.weights_desc(),
            found.diff_dst_desc(),
            found.scratchpad_desc(),
            {},
            {},
            [found] { return convolution_backward_data(found); }};
}
GradientWay way_of(const convolution_backward_weights::primitive_desc& found) {
    return {found.impl_info_str(),
            found.src_desc(),
            found.diff_weights_desc(),
            found.diff_dst_desc(),
            found.scratchpad_desc(),
            {},
            {},
            [found] { return convolution_backward_weights(found); }};
}

// oneDNN's im2col implementations (named gemm) are not offered in bf16, as for Conv.
bool is_offered(const std::string& name, const Precision& precision) {
    return worth_offering(name) && (precision.exact() || name.find("gemm") == std::string::npos);
}

// Calls `visit(way)` for the implementations of one primitive descriptor, until it returns true.
template <class Descriptor, class Visit>
bool each_of(Descriptor found, const ConvolutionShape& shape, const Precision& precision,
             const Visit& visit) {
    do {
        GradientWay way = way_of(found);
        const auto from = layout_of(way.source, shape.source);
        const auto to = layout_of(way.result, shape.result);
        if (!from || !to || !is_offered(way.name, precision)) continue;
        way.source_layout = *from;
        way.result_layout = *to;
        if (visit(way)) return true;
    } while (found.next_impl());
    return false;
}

template <class Visit>
void each_way(const Task& task, const ConvolutionShape& shape, const Precision& precision,
              const Visit& visit) {
    const std::size_t rank = shape.source.size();
    std::vector<std::optional<plan::Layout>> wanted = {std::nullopt, plan::channels_last(rank),
                                                       plan::channels_blocked(rank, 16)};
    if (precision.exact()) {
        wanted.emplace_back(plan::channels_blocked(rank, 8));
        wanted.emplace_back(plan::plain(rank));
    }
    for (const auto& layout : wanted)
        for (const bool plain_source : {false, true}) {
            if (plain_source && (!layout || *layout == plan::plain(rank))) continue;
            // In bf16 only images of at most 4 channels may be row-major.
            if (plain_source && !precision.exact() && shape.source[1] > 4) continue;
            const auto formats = [&](ElementType source, ElementType weights) -> GradientFormats {
                const auto described = [&](const Dims& dims, ElementType type, bool plain) {
                    return !layout ? any_descriptor(dims, type)
                                   : descriptor(plain ? plan::plain(rank) : *layout, dims, type);
                };
                return {described(shape.source, source, plain_source),
                        any_descriptor(grouped_dims(shape), weights),
                        described(shape.result, precision.source, false)};
            };
            const auto visit_all = [&](const auto& found) { return each_of(found, shape, precision, visit); };
            try {
                const ForwardHint hint =
                    forward_hint(task, shape, formats(precision.source, precision.source));
                if (is_input_gradient(task)
                        ? visit_all(
                              input_gradient(task, shape, formats(precision.result, precision.source), hint))
                        : visit_all(weight_gradient(task, shape, formats(precision.source, precision.result),
                                                    hint)))
                    return;
            } catch (const dnnl::error&) {
                continue;  // not offered in this layout
            }
        }
}

std::string kernel_name(const GradientWay& way) {
    return fmt::format("{}:{}", convolution_gradient_family_name, way.name);
}

// The bytes of the workspace that hold packed weights, or a packed gradient.
std::int64_t packed_bytes(const ConvolutionShape& shape, const GradientWay& way) {
    if (way.weights == plain_descriptor(grouped_dims(shape), ElementType::f32)) return 0;
    return aligned_bytes(static_cast<std::int64_t>(way.weights.get_size()));
}

// The choice with the formats of the activations: of the ports (g, W) → dX, or (x, g) → dW.
plan::Choice choice_of(const Task& task, const GradientWay& way, const Precision& precision) {
    plan::Choice choice = task.plain_choice(kernel_name(way));
    if (is_input_gradient(task)) {
        choice.inputs[0] = {way.result_layout, precision.source, {}};
        choice.outputs[0] = {way.source_layout, precision.result, {}};
    } else {
        choice.inputs[0] = {way.source_layout, precision.source, {}};
        choice.inputs[1] = {way.result_layout, precision.source, {}};
    }
    return choice;
}

std::vector<plan::Choice> offers_convolution_gradient(const Task& task) {
    const auto shape = convolution_gradient_shape(task);
    if (!shape) return {};
    std::vector<plan::Choice> choices;
    std::set<std::string> seen;
    for (const Precision& precision : gradient_precisions(task))
        each_way(task, *shape, precision, [&](const GradientWay& way) {
            plan::Choice choice = choice_of(task, way, precision);
            choice.workspace =
                Bytes(packed_bytes(*shape, way) + static_cast<std::int64_t>(way.scratchpad.get_size()));
            if (seen.insert(choice.key()).second) choices.push_back(std::move(choice));
            return false;
        });
    return choices;
}

Kernel kernel_of_way(const Task& task, const ConvolutionShape& shape, const GradientWay& way) {
    using From = Argument::From;
    const memory::desc plain = plain_descriptor(grouped_dims(shape), ElementType::f32);
    const std::int64_t kept = packed_bytes(shape, way);
    const bool of_input = is_input_gradient(task);
    const Argument outside{of_input ? From::input : From::output, of_input ? 1U : 0U,
                           of_input ? DNNL_ARG_FROM : DNNL_ARG_TO, plain};
    Argument inside{From::workspace, 0, of_input ? DNNL_ARG_TO : DNNL_ARG_FROM, way.weights};
    std::vector<Stage> stages;
    if (kept > 0 && of_input) stages.push_back(reorder_stage(task.context, outside, inside));
    Argument weights = kept > 0 ? inside : outside;
    weights.descriptor = way.weights;
    weights.argument = of_input ? DNNL_ARG_WEIGHTS : DNNL_ARG_DIFF_WEIGHTS;
    std::vector<Argument> arguments = {weights};
    if (of_input) {
        arguments.push_back({From::input, 0, DNNL_ARG_DIFF_DST, way.result});
        arguments.push_back({From::output, 0, DNNL_ARG_DIFF_SRC, way.source});
    } else {
        arguments.push_back({From::input, 0, DNNL_ARG_SRC, way.source});
        arguments.push_back({From::input, 1, DNNL_ARG_DIFF_DST, way.result});
    }
    stages.push_back({way.make(), std::move(arguments), way.scratchpad});
    if (kept > 0 && !of_input) stages.push_back(reorder_stage(task.context, inside, outside));
    return staged_kernel(task.context, std::move(stages), {}, kept);
}

Result<Kernel> prepare_convolution_gradient(const Task& task, const plan::Choice& choice) {
    const auto shape = convolution_gradient_shape(task);
    if (!shape) return unknown_kernel(choice);
    std::optional<Kernel> kernel;
    const Precision precision{choice.inputs[0].element, choice.outputs[0].element};
    each_way(task, *shape, precision, [&](const GradientWay& way) {
        const plan::Choice own = choice_of(task, way, precision);
        if (own.kernel != choice.kernel || own.inputs != choice.inputs || own.outputs != choice.outputs)
            return false;
        kernel = kernel_of_way(task, *shape, way);
        return true;
    });
    if (!kernel) return unknown_kernel(choice);
    return *std::move(kernel);
}

}  // namespace

Family dnnl_convolution_gradient_family() {
    return {convolution_gradient_family_name, offers_convolution_gradient, prepare_convolution_gradient};
}

}  // namespace viridian::execute::cpu
