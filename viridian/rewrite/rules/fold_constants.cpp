#include <algorithm>

#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/types_of.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

constexpr std::int64_t byte_limit = std::int64_t{64}
                                    << 20;  // a result may also be as large as what it came from
constexpr std::int64_t flop_limit = std::int64_t{1} << 31;

bool random(const Node& node) {
    constexpr std::string_view names[] = {
        "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
        "Bernoulli",    "Multinomial",   "Dropout"};
    return std::find(std::begin(names), std::end(names), node.op) != std::end(names);
}

// Whether the results are known to be small enough to keep and cheap enough to compute here.
bool affordable(const Graph& graph, const Node& node) {
    std::int64_t given = 0;
    for (const ValueId input : node.inputs)
        if (const Tensor* tensor = graph.constant(input)) given += tensor->byte_count();
    std::int64_t made = 0;
    for (const ValueId output : node.outputs) {
        if (output == ValueId::none) continue;
        const TensorType& type = graph.value(output).type;
        if (!type.known()) return given <= (1 << 16);  // NonZero and the like, of small tensors only
        const auto count = graph::element_count(type.dims());
        if (!count.ok()) return false;
        made += *count * size_of(type.element);
    }
    if (made > std::max(byte_limit, given)) return false;
    const auto inputs = types_of(graph, node.inputs), outputs = types_of(graph, node.outputs);
    return all_known(inputs) && graph::flop({node, inputs, outputs}) <= Flop(flop_limit);
}

bool apply(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    const bool ready = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) {
        return input == ValueId::none || editor.constant(input) != nullptr;
    });
    if (!ready || random(node) || !node.bodies.empty() || !affordable(editor.graph(), node)) return false;
    for (const ValueId output : node.outputs)
        if (output != ValueId::none && editor.is_output(output)) return false;  // an output needs a node
    const auto results = editor.evaluate(node);
    if (!results.ok()) return false;  // the model says so again when it runs
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != ValueId::none) editor.replace(node.outputs[i], editor.constant((*results)[i]));
    return true;
}

Graph instance(Random& random_numbers, ElementType element) {
    Sketch s(random_numbers, element);
    const Dims dims = {s.extent(1, 4), s.extent(1, 5)};
    const ValueId folded = s.add("Mul", {s.constant(dims), s.constant({dims[1]})});
    return s.finish({s.add("Add", {s.input(dims), folded})});
}

}  // namespace

Rule fold_constants() {
    return {.name = "fold_constants",
            .source = "every compiler; ONNX Runtime level 1",
            .equation = "f(c₁, …, cₙ) ⇒ c, the value of f by its reference kernel",
            .guards =
                "f is not random and has no bodies; c takes at most 64 MiB or the bytes of c₁ … cₙ; at most "
                "2³¹ flop; no graph output",
            .polynomial = true,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
