// Computes what reads constants alone: f(c₁, …, cₙ) ⇒ c, the value of f by its reference kernel. Every
// compiler folds constants; ONNX Runtime does so at level 1.
#include <algorithm>

#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/types_of.hpp"
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// A result may also take the bytes of its operands, if those are more.
constexpr std::int64_t most_folded_bytes = std::int64_t{64} << 20;
constexpr std::int64_t most_folding_flop = std::int64_t{1} << 31;
// The reference kernels of windows keep a table of about eight bytes for each of their operations.
constexpr std::int64_t most_window_flop = std::int64_t{1} << 26;

bool draws_random_numbers(const Node& node) {
    const graph::OperatorRow* row = find_operator(node);
    return row != nullptr && row->random;
}

// Returns whether the results are known to be small enough to keep and cheap enough to compute by reference
// kernels.
bool is_cheap_to_fold(const Graph& graph, const Node& node) {
    std::int64_t given = 0;
    for (const ValueId input : node.inputs)
        if (const Tensor* tensor = graph.constant(input)) given += tensor->byte_count();
    std::int64_t made = 0;
    for (const ValueId output : node.outputs) {
        if (output == ValueId::none) continue;
        const TensorType& type = graph.value(output).type;
        if (!type.known()) return given <= (1 << 16);  // NonZero and its like: from small tensors only
        const auto count = graph::element_count(type.dims());
        if (!count.ok()) return false;
        made += *count * size_of(type.element);
    }
    if (made > std::max(most_folded_bytes, given)) return false;
    const auto inputs = types_of(graph, node.inputs), outputs = types_of(graph, node.outputs);
    const bool product = node.op == op::MatMul || node.op == op::Gemm || node.op == op::Einsum;
    return all_known(inputs) &&
           graph::flop({node, inputs, outputs}) <= Flop(product ? most_folding_flop : most_window_flop);
}

bool apply_fold_constants(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    const bool ready = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
        return input == ValueId::none || editor.constant(input) != nullptr;
    });
    if (!ready || draws_random_numbers(node) || !node.bodies.empty() ||
        !is_cheap_to_fold(editor.graph(), node))
        return false;
    for (const ValueId output : node.outputs)
        if (output != ValueId::none && editor.is_output(output)) return false;  // an output needs a node
    const auto results = editor.evaluate(node);
    if (!results.ok()) return false;  // running the model reports the same error
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != ValueId::none) editor.replace(node.outputs[i], editor.constant((*results)[i]));
    return true;
}

Graph fold_constants_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5)};
    const ValueId folded = g.add(op::Mul, {g.constant(dims), g.constant({dims[1]})});
    return g.finish({g.add(op::Add, {g.input(dims), folded})});
}

}  // namespace

Rule fold_constants() {
    return {.name = "fold_constants",
            .source = "every compiler; ONNX Runtime level 1",
            .equation = "f(c₁, …, cₙ) ⇒ c, the value of f by its reference kernel",
            .guards =
                "f is not random and has no bodies; c takes at most 64 MiB or the bytes of c₁ … cₙ; at most "
                "2³¹ flop for matrix products and 2²⁶ for others; no graph output",
            .polynomial = true,
            .apply = apply_fold_constants,
            .instance = fold_constants_instance};
}

}  // namespace viridian::rewrite
