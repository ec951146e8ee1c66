// Conv with its epilogue: every algorithm and implementation oneDNN offers, in blocked, channels-last and
// plain layouts.
#include <algorithm>
#include <iterator>
#include <set>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/convolution/convolution.hpp"
#include "viridian/execute/cpu/kernels/convolution/dnnl_weights.hpp"
#include "viridian/execute/cpu/kernels/dnnl_post_ops.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::algorithm;
using dnnl::convolution_forward;
using dnnl::memory;
using graph::Dims;
using graph::ElementType;

constexpr std::string_view dnnl_convolution_family_name = "dnnl:conv";

struct DnnlConvolutionWeights {
    memory::desc plain, any;
};

// Stored in f32, packed in the element type of the source. Constants are packed once, weights that a training
// step changes in every run.
DnnlConvolutionWeights weights_of(const ConvolutionShape& shape, ElementType packed) {
    Dims dims = shape.weights;
    if (shape.groups > 1) {
        dims[0] /= shape.groups;
        dims.insert(dims.begin(), shape.groups);
    }
    return {plain_descriptor(dims, ElementType::f32), any_descriptor(dims, packed)};
}

convolution_forward::desc description(const ConvolutionShape& shape, algorithm kind,
                                      const memory::desc& source, const memory::desc& result) {
    Dims dilations = shape.dilations;
    for (auto& dilation : dilations) --dilation;  // oneDNN counts from 0
    const auto forward = dnnl::prop_kind::forward_inference;
    const auto packed = source.data_type() == memory::data_type::bf16 ? ElementType::bf16 : ElementType::f32;
    const memory::desc weights = weights_of(shape, packed).any;
    if (!shape.bias)
        return {forward,       kind,      source,           weights,       result,
                shape.strides, dilations, shape.pads_begin, shape.pads_end};
    return {forward,
            kind,
            source,
            weights,
            plain_descriptor({shape.weights[0]}, ElementType::f32),
            result,
            shape.strides,
            dilations,
            shape.pads_begin,
            shape.pads_end};
}

// oneDNN 2.6.3's AMX convolutions were seen to read and write where they should not (wrong numbers, crashes)
// where lines or pixels between windows are skipped, or a window lies in the padding alone. In bf16 its
// convolutions on products read channels in pairs, and so one number beyond the last pixel where the channels
// are odd in number.
bool trusted(const ConvolutionShape& shape, std::string_view name, ElementType source) {
    if (name.starts_with("brgconv") && source == ElementType::bf16 && shape.source[1] / shape.groups % 2 != 0)
        return false;
    if (!name.starts_with("brgconv") || name.find("amx") == std::string_view::npos) return true;
    const bool point = name.starts_with("brgconv_1x1");
    for (std::size_t d = 0; d < shape.spatial(); ++d) {
        const std::int64_t extent = (shape.weights[2 + d] - 1) * shape.dilations[d] + 1;
        if (shape.pads_begin[d] >= extent || shape.pads_end[d] >= extent) return false;
        if (shape.strides[d] > extent && !point) return false;
    }
    return true;
}

std::string_view name_of(algorithm kind) {
    return kind == algorithm::convolution_winograd ? "winograd" : "direct";
}

// Calls `visit(kind, primitive descriptor, source layout, result layout)` for every implementation, until it
// returns true.
template <class Visit>
void each_implementation(const Task& task, const ConvolutionShape& shape,
                         const std::vector<EpilogueStep>& steps, const Precision& precision,
                         bool sum_in_place, Visit visit) {
    const auto rank = shape.source.size();
    std::vector<algorithm> kinds = {algorithm::convolution_direct};
    if (task.context.allowances.winograd && rank == 4 && precision.exact() && shape.constant_weights)
        kinds.push_back(algorithm::convolution_winograd);
    std::vector<std::optional<plan::Layout>> wanted = {std::nullopt, plan::channels_last(rank),
                                                       plan::channels_blocked(rank, 16)};
    if (precision.exact()) {
        wanted.emplace_back(plan::channels_blocked(rank, 8));
        wanted.emplace_back(plan::plain(rank));
    }
    for (const algorithm kind : kinds)
        for (const auto& layout : wanted)
            for (const bool plain_source : {false, true}) {
                if (plain_source && (!layout || *layout == plan::plain(rank))) continue;
                // Images of few channels come as they are; nothing else in bf16 is plain.
                if (plain_source && !precision.exact() && shape.source[1] > 4) continue;
                // The post-operations of an `any` destination take its layout from the answer: plan for
                // plain.
                const auto operations =
                    post_ops(task, steps, shape.result, layout ? *layout : plan::channels_blocked(rank, 16),
                             sum_in_place, count_constants(task), precision.result);
                if (!operations) return;
                const auto source = !layout ? any_descriptor(shape.source, precision.source)
                                            : descriptor(plain_source ? plan::plain(rank) : *layout,
                                                         shape.source, precision.source);
                const auto result = layout ? descriptor(*layout, shape.result, precision.result)
                                           : any_descriptor(shape.result, precision.result);
                try {
                    convolution_forward::primitive_desc implementation(
                        description(shape, kind, source, result), operations->attributes,
                        task.context.engine);
                    do {
                        const auto from = layout_of(implementation.src_desc(), shape.source);
                        const auto to = layout_of(implementation.dst_desc(), shape.result);
                        if (!from || !to) continue;
                        // An operand of full size is read in the destination's layout.
                        if (!layout && *to != plan::channels_blocked(rank, 16) &&
                            !operations->arguments.empty())
                            continue;
                        if (visit(kind, implementation, *from, *to, *operations)) return;
                    } while (implementation.next_impl());
                } catch (const dnnl::error&) {
                    continue;  // not offered in this layout
                }
            }
}

std::vector<plan::Choice> offers_dnnl_convolution(const Task& task) {
    const auto shape = any_convolution_shape(task);
    if (!shape) return {};
    const auto steps = read_epilogue(task);
    if (!steps) return {};
    const std::size_t source = *task.input_index(task.node().inputs[0]);
    std::vector<plan::Choice> choices;
    std::set<std::string> seen;
    for (const Precision& precision : contraction_precisions(task.context))
        for (const bool sum_in_place : {true, false})
            each_implementation(
                task, *shape, *steps, precision, sum_in_place,
                [&](algorithm kind, auto& implementation, const auto& from, const auto& to,
                    const PostOps& operations) {
                    const std::string name = implementation.impl_info_str();
                    if (!worth_offering(name)) return false;
                    if (!trusted(*shape, name, precision.source)) return false;
                    const bool gemm = name.find("gemm") != std::string::npos;
                    // oneDNN's gemm convolution with a residual is 10 to 70 times slower than without,
                    // depthwise 16 times slower than direct, in bf16 never the best.
                    if (gemm && (operations.summed || !operations.arguments.empty() || shape->depthwise() ||
                                 !precision.exact()))
                        return false;
                    plan::Choice choice = task.plain_choice(
                        fmt::format("{}:{}:{}", dnnl_convolution_family_name, name_of(kind), name));
                    if (kind == algorithm::convolution_winograd)
                        choice.variant.algorithm = plan::Algorithm::winograd;
                    choice.inputs[source] = {from, precision.source, {}};
                    choice.outputs[0] = {to, precision.result, {}};
                    set_operand_formats(task, *steps, shape->result, choice.outputs[0], choice);
                    set_memory(operations, implementation.scratchpad_desc(), choice);
                    choice.workspace += Bytes(packed_weights_bytes(
                        task, weights_of(*shape, precision.source).plain, implementation.weights_desc()));
                    if (seen.insert(choice.key()).second) choices.push_back(std::move(choice));
                    return false;
                });
    return choices;
}

// The convolution, before it the packing of weights that are no constants.
Kernel staged(const Task& task, const ConvolutionShape& shape,
              const convolution_forward::primitive_desc& implementation, const PostOps& operations,
              std::size_t source, ElementType packed) {
    DnnlWeights weights = dnnl_weights(task, weights_of(shape, packed).plain, implementation.weights_desc(),
                                       shape.bias ? implementation.bias_desc() : memory::desc());
    std::vector<Argument> arguments = {
        {Argument::From::input, source, DNNL_ARG_SRC, implementation.src_desc()},
        {Argument::From::output, 0, DNNL_ARG_DST, implementation.dst_desc()}};
    std::ranges::copy(weights.arguments, std::back_inserter(arguments));
    std::ranges::copy(operations.arguments, std::back_inserter(arguments));
    for (const auto id : operations.constants) weights.constants.push_back(plain_constant(task, id));
    weights.stages.push_back(
        {convolution_forward(implementation), std::move(arguments), implementation.scratchpad_desc()});
    return staged_kernel(task.context, std::move(weights.stages), std::move(weights.constants),
                         weights.workspace_bytes);
}

Result<Kernel> prepare_dnnl_convolution(const Task& task, const plan::Choice& choice) {
    const auto shape = any_convolution_shape(task);
    const auto steps = shape ? read_epilogue(task) : std::nullopt;
    if (!steps) return unknown_kernel(choice);
    const std::size_t source = *task.input_index(task.node().inputs[0]);
    std::optional<Kernel> kernel;
    const bool sum_in_place = choice.aliasing == plan::Aliasing::overwrite;
    each_implementation(
        task, *shape, *steps, {choice.inputs[source].element, choice.outputs[0].element}, sum_in_place,
        [&](algorithm kind, auto& implementation, const auto& from, const auto& to,
            const PostOps& operations) {
            if (choice.kernel != fmt::format("{}:{}:{}", dnnl_convolution_family_name, name_of(kind),
                                             implementation.impl_info_str()) ||
                choice.inputs[source].layout != from || choice.outputs[0].layout != to)
                return false;
            kernel = staged(task, *shape, implementation, operations, source, choice.inputs[source].element);
            return true;
        });
    if (!kernel) return unknown_kernel(choice);
    return *std::move(kernel);
}

}  // namespace

Family dnnl_convolution_family() {
    return {dnnl_convolution_family_name, offers_dnnl_convolution, prepare_dnnl_convolution};
}

}  // namespace viridian::execute::cpu
