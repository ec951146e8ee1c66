#include "viridian/movement/walk.hpp"

#include <algorithm>

#include "viridian/graph/operators/training/dropout_mask.hpp"
#include "viridian/graph/types_of.hpp"

namespace viridian::movement {
namespace {

using graph::Dims;
using graph::Graph;
using graph::IterationSpace;
using graph::Node;
using graph::TensorType;
using graph::ValueId;
namespace op = graph::op;

// Which loops the axes of an operand of lower rank than the walk run along.
enum class Alignment : std::uint8_t {
    last,     // the last ones, as numpy broadcasts
    channel,  // a vector runs along axis 1
};

bool one_of(const Node& node, std::initializer_list<graph::KnownOperator> operators) {
    return std::ranges::any_of(operators, [&](graph::KnownOperator each) { return node.op == each; });
}

// Reduce* and Arg*: loops over the input, whose result may lack the reduced axes.
bool reduces(const graph::OperatorRow& row) {
    return row.domain.empty() && (row.name.starts_with("Reduce") || row.name.starts_with("Arg"));
}

// How the operands of `node` lie in loops over its first input or output; none for an operator that is not
// known to walk so.
std::optional<Alignment> alignment_of(const Node& node, const graph::OperatorRow& row) {
    if (row.elements == graph::Elements::pointwise) return Alignment::last;
    if (one_of(node, {op::Dropout, op::DropoutMask, op::GeluGrad, op::ClipGrad, op::ReluGrad, op::Softmax,
                      op::LogSoftmax, op::SoftmaxGrad, op::LogSoftmaxGrad, op::LayerNormalization,
                      op::LayerNormalizationGradInput, op::LayerNormalizationGradScale, op::RMSNormalization,
                      op::RMSNormalizationGrad}))
        return Alignment::last;
    if (one_of(node, {op::BatchNormalization, op::BatchNormalizationTraining, op::BatchNormalizationGrad,
                      op::InstanceNormalization}))
        return Alignment::channel;
    return std::nullopt;
}

bool fits(const Access& access, const Dims& dims, const IterationSpace& loops) {
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const auto loop = static_cast<std::size_t>(access[i]);
        if (loop >= loops.size() || (dims[i] != 1 && dims[i] != loops[loop].size)) return false;
    }
    return true;
}

// The access of a tensor of `dims`; none if it does not fit the loops.
std::optional<Access> access_of(const Dims& dims, const IterationSpace& loops, Alignment alignment) {
    Access access(dims.size());
    if (dims.size() > loops.size()) return std::nullopt;
    for (std::size_t i = 0; i < dims.size(); ++i)
        access[i] = static_cast<int>(i + loops.size() - dims.size());
    if (alignment == Alignment::channel && dims.size() == 1) access[0] = 1;
    return fits(access, dims, loops) ? std::optional(access) : std::nullopt;
}

// The result of a reduction: all loops, or only those that are not reduced.
std::optional<Access> reduced_access(const Dims& dims, const IterationSpace& loops, bool keeps) {
    Access access;
    for (std::size_t loop = 0; loop < loops.size(); ++loop)
        if (keeps || !loops[loop].reduced) access.push_back(static_cast<int>(loop));
    if (access.size() != dims.size() || !fits(access, dims, loops)) return std::nullopt;
    return access;
}

}  // namespace

std::optional<Walk> walk_of(const Graph& graph, const Node& node) {
    const graph::OperatorRow* row = graph::find_operator(node);
    if (row == nullptr) return std::nullopt;
    const std::vector<TensorType> inputs = graph::types_of(graph, node.inputs);
    const std::vector<TensorType> outputs = graph::types_of(graph, node.outputs);
    if (!graph::all_known(inputs) || !graph::all_known(outputs) || inputs.empty() || outputs.empty() ||
        !inputs[0].known() || !outputs[0].known())
        return std::nullopt;
    const bool reduction = reduces(*row);
    const std::optional<Alignment> alignment = reduction ? Alignment::last : alignment_of(node, *row);
    if (!alignment) return std::nullopt;
    std::vector<const graph::Tensor*> constants;
    for (const ValueId id : node.inputs)
        constants.push_back(id == ValueId::none ? nullptr : graph.constant(id));
    if (reduction && node.input(1) != ValueId::none && constants[1] == nullptr)
        return std::nullopt;  // only a run tells which axes are reduced
    Walk walk{
        .loops = graph::iteration_space({node, inputs, outputs, constants}), .inputs = {}, .outputs = {}};
    // What follows the first input of a reduction or of a mask are its settings, not tensors that it walks.
    const std::size_t walked = reduction ? 1 : node.op == op::DropoutMask ? 0 : inputs.size();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        walk.inputs.emplace_back();
        if (i >= walked || !inputs[i].known()) continue;
        const std::optional<Access> access = access_of(inputs[i].dims(), walk.loops, *alignment);
        if (!access) return std::nullopt;
        walk.inputs.back() = *access;
    }
    for (const TensorType& type : outputs) {
        walk.outputs.emplace_back();
        if (!type.known()) continue;
        const std::optional<Access> access =
            reduction ? reduced_access(type.dims(), walk.loops, node.integer("keepdims", 1) != 0)
                      : access_of(type.dims(), walk.loops, *alignment);
        if (!access) return std::nullopt;
        walk.outputs.back() = *access;
    }
    return walk;
}

}  // namespace viridian::movement
