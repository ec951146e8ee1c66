// ConvTranspose with its epilogue, in every implementation and layout oneDNN offers.
#include <algorithm>
#include <iterator>
#include <set>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/kernels/convolution/dnnl_weights.hpp"
#include "viridian/execute/cpu/kernels/dnnl_post_ops.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::execute::cpu {
namespace {

using dnnl::deconvolution_forward;
using dnnl::memory;
using graph::Dims;
using graph::ElementType;
using graph::Node;
using graph::ValueId;
using plan::Layout;

constexpr std::string_view dnnl_deconvolution_family_name = "dnnl:deconv";

struct Deconvolution {
    Dims source, result, weights;  // weights as oneDNN orders them: [groups,] outputs, inputs, kernel…
    memory::desc given;            // the same over ONNX's order: inputs, outputs / groups, kernel…
    Dims strides, dilations, pads_begin, pads_end;  // dilations from 0
    bool bias = false;
};

std::optional<Deconvolution> deconvolution_of(const Task& task) {
    const Node& node = task.node();
    if (node.op != graph::op::ConvTranspose || !task.all_f32() || !task.input_index(node.input(0)) ||
        node.has("output_shape"))
        return std::nullopt;
    // The input lies in the layout of the choice, weights and bias in row-major order.
    for (const std::size_t other : {1, 2})
        if (node.input(other) == node.inputs[0]) return std::nullopt;
    Deconvolution shape;
    shape.source = task.dims(node.inputs[0]);
    shape.result = task.dims(node.outputs[0]);
    const Dims own = task.dims(node.inputs[1]);
    shape.bias = node.input(2) != ValueId::none;
    if (std::ranges::count(shape.source, 0) + std::ranges::count(shape.result, 0) > 0) return std::nullopt;
    const Dims kernel(own.begin() + 2, own.end());
    const auto windows = graph::Windows::of(node, graph::shape_of(kernel));
    if (!windows.ok() || windows->auto_pad.starts_with("SAME")) return std::nullopt;
    const std::int64_t groups = node.integer("group", 1);
    const auto strides = plan::strides_of(plan::plain(own.size()), own);
    Dims order_strides;
    if (groups > 1) shape.weights.push_back(groups), order_strides.push_back(own[0] / groups * strides[0]);
    shape.weights.insert(shape.weights.end(), {own[1], own[0] / groups});
    order_strides.insert(order_strides.end(), {strides[1], strides[0]});
    shape.weights.insert(shape.weights.end(), kernel.begin(), kernel.end());
    order_strides.insert(order_strides.end(), strides.begin() + 2, strides.end());
    shape.given = memory::desc(shape.weights, memory::data_type::f32, order_strides);
    shape.strides = windows->strides;
    for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
        const std::int64_t reach = (kernel[axis] - 1) * windows->dilations[axis] + 1;
        const std::int64_t full = (shape.source[axis + 2] - 1) * shape.strides[axis] + reach;
        const std::int64_t begin = windows->auto_pad == "VALID" ? 0 : windows->pads_begin[axis];
        shape.dilations.push_back(windows->dilations[axis] - 1);
        shape.pads_begin.push_back(begin);
        shape.pads_end.push_back(full - begin - shape.result[axis + 2]);
    }
    return shape;
}

template <class Visit>
void each_implementation(const Task& task, const Deconvolution& shape, const std::vector<EpilogueStep>& steps,
                         Visit visit) {
    const auto rank = shape.source.size();
    for (const Layout& layout : {plan::channels_blocked(rank, 16), plan::channels_blocked(rank, 8),
                                 plan::channels_last(rank), plan::plain(rank)})
        try {
            const auto operations = post_ops(task, steps, shape.result, layout, false, count_constants(task));
            if (!operations) return;
            const auto source = descriptor(layout, shape.source, ElementType::f32);
            const auto result = descriptor(layout, shape.result, ElementType::f32);
            const auto weights = any_descriptor(shape.weights, ElementType::f32);
            const auto bias =
                shape.bias ? plain_descriptor({shape.result[1]}, ElementType::f32) : memory::desc();
            deconvolution_forward::primitive_desc implementation(
                {dnnl::prop_kind::forward_inference, dnnl::algorithm::deconvolution_direct, source, weights,
                 bias, result, shape.strides, shape.dilations, shape.pads_begin, shape.pads_end},
                operations->attributes, task.context.engine);
            do
                if (visit(layout, implementation, *operations)) return;
            while (implementation.next_impl());
        } catch (const dnnl::error&) {
            continue;  // not offered in this layout
        }
}

std::vector<plan::Choice> offers_dnnl_deconvolution(const Task& task) {
    const auto shape = deconvolution_of(task);
    const auto steps = shape ? read_epilogue(task) : std::nullopt;
    if (!steps) return {};
    std::vector<plan::Choice> choices;
    std::set<std::string> seen;
    each_implementation(
        task, *shape, *steps,
        [&](const Layout& layout, const auto& implementation, const PostOps& operations) {
            const std::string name = implementation.impl_info_str();
            if (!worth_offering(name)) return false;
            plan::Choice choice =
                task.plain_choice(fmt::format("{}:{}", dnnl_deconvolution_family_name, name));
            choice.inputs[*task.input_index(task.node().inputs[0])].layout = layout;
            choice.outputs[0].layout = layout;
            set_operand_formats(task, *steps, shape->result, {layout, ElementType::f32, {}}, choice);
            set_memory(operations, implementation.scratchpad_desc(), choice);
            choice.workspace +=
                Bytes(packed_weights_bytes(task, shape->given, implementation.weights_desc()));
            if (seen.insert(choice.key()).second) choices.push_back(std::move(choice));
            return false;
        });
    return choices;
}

Result<Kernel> prepare_dnnl_deconvolution(const Task& task, const plan::Choice& choice) {
    const auto shape = deconvolution_of(task);
    const auto steps = shape ? read_epilogue(task) : std::nullopt;
    if (!steps) return unknown_kernel(choice);
    const Node& node = task.node();
    std::optional<Kernel> kernel;
    each_implementation(
        task, *shape, *steps,
        [&](const Layout& layout, const auto& implementation, const PostOps& operations) {
            if (choice.kernel !=
                    fmt::format("{}:{}", dnnl_deconvolution_family_name, implementation.impl_info_str()) ||
                choice.outputs[0].layout != layout)
                return false;
            std::vector<Argument> arguments = {
                {Argument::From::input, *task.input_index(node.inputs[0]), DNNL_ARG_SRC,
                 implementation.src_desc()},
                {Argument::From::output, 0, DNNL_ARG_DST, implementation.dst_desc()}};
            DnnlWeights weights = dnnl_weights(task, shape->given, implementation.weights_desc(),
                                               shape->bias ? implementation.bias_desc() : memory::desc());
            std::ranges::copy(weights.arguments, std::back_inserter(arguments));
            std::ranges::copy(operations.arguments, std::back_inserter(arguments));
            for (const auto id : operations.constants) weights.constants.push_back(plain_constant(task, id));
            weights.stages.push_back({deconvolution_forward(implementation), std::move(arguments),
                                      implementation.scratchpad_desc()});
            kernel = staged_kernel(task.context, std::move(weights.stages), std::move(weights.constants),
                                   weights.workspace_bytes);
            return true;
        });
    if (!kernel) return unknown_kernel(choice);
    return *std::move(kernel);
}

}  // namespace

Family dnnl_deconvolution_family() {
    return {dnnl_deconvolution_family_name, offers_dnnl_deconvolution, prepare_dnnl_deconvolution};
}

}  // namespace viridian::execute::cpu
