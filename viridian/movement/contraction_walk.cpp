#include "viridian/movement/contraction_walk.hpp"

#include "viridian/graph/types_of.hpp"

namespace viridian::movement {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Node;

// The operand of a product: its batch axes lie along the last batch loops, and the last two along `rows`,
// `columns`.
Access operand_access(const Dims& dims, std::size_t loops, int rows, int columns) {
    Access access;
    const auto batches = static_cast<int>(loops) - 3;
    const auto own = static_cast<int>(dims.size()) - 2;
    for (int axis = 0; axis < own; ++axis) access.push_back(batches - own + axis);
    access.push_back(rows);
    access.push_back(columns);
    return access;
}

}  // namespace

std::optional<Walk> contraction_walk_of(const Graph& graph, const Node& node) {
    const bool gemm = node.op == graph::op::Gemm;
    if (!gemm && node.op != graph::op::MatMul) return std::nullopt;
    const std::vector<graph::TensorType> inputs = graph::types_of(graph, node.inputs);
    const std::vector<graph::TensorType> outputs = graph::types_of(graph, node.outputs);
    if (!graph::all_known(inputs) || !graph::all_known(outputs)) return std::nullopt;
    const Dims a = inputs[0].dims(), b = inputs[1].dims(), y = outputs[0].dims();
    if (a.size() < 2 || b.size() < 2) return std::nullopt;
    Walk walk{.loops = graph::iteration_space({node, inputs, outputs}), .inputs = {}, .outputs = {}};
    const auto summed = static_cast<int>(y.size());
    const int column = summed - 1, row = summed - 2;
    const bool turned_a = gemm && node.integer("transA", 0) != 0;
    const bool turned_b = gemm && node.integer("transB", 0) != 0;
    const std::size_t loops = walk.loops.size();
    walk.inputs.push_back(operand_access(a, loops, turned_a ? summed : row, turned_a ? row : summed));
    walk.inputs.push_back(operand_access(b, loops, turned_b ? column : summed, turned_b ? summed : column));
    if (inputs.size() > 2) {
        const Access added = {row, column};
        const std::size_t rank = inputs[2].known() ? inputs[2].dims().size() : 0;
        walk.inputs.emplace_back(added.end() - static_cast<std::ptrdiff_t>(rank), added.end());
    }
    Access result;
    for (int axis = 0; axis < summed; ++axis) result.push_back(axis);
    walk.outputs.push_back(std::move(result));
    return walk;
}

}  // namespace viridian::movement
