// Joins all products of one input, with the biases added behind them: x·A₁ + a₁, …, x·Aₙ + aₙ ⇒ Split(x·[A₁,
// …, Aₙ] + [a₁, …, aₙ]). SUBSTATION §IV-B stacks the projections Q, K and V.
#include <algorithm>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

// x·W, or x·W + b if nothing else reads the product.
struct Projection {
    ValueId weights, product, bias, sum;
    std::int64_t width;
};

std::optional<Projection> projection_of(const Editor& editor, const Node& node) {
    if (node.op != op::MatMul || !editor.fixed(node.inputs[1])) return std::nullopt;
    const auto dims = editor.dims(node.inputs[1]);
    if (!dims || dims->size() != 2 || editor.rank(node.inputs[0]).value_or(0) < 2) return std::nullopt;
    Projection p{node.inputs[1], node.outputs[0], ValueId::none, ValueId::none, (*dims)[1]};
    const Node* sum = only_reader(editor, p.product);
    if (sum == nullptr || sum->op != op::Add) return p;
    const ValueId other = sum->inputs[sum->inputs[0] == p.product ? 1 : 0];
    if (editor.fixed(other) && editor.dims(other) == Dims{p.width}) {
        p.bias = other;
        p.sum = sum->outputs[0];
    }
    return p;
}

bool apply_stack_matmuls(Editor& editor, NodeId at) {
    const Node& last = editor.node(at);
    if (last.op != op::MatMul) return false;
    std::vector<Projection> all;
    for (const NodeId reader : editor.readers(last.inputs[0])) {
        const Node& node = editor.node(reader);
        if (node.inputs[0] != last.inputs[0]) continue;
        const auto found = projection_of(editor, node);
        if (!found) continue;
        if (index(reader) > index(at)) return false;  // the rule applies at the last one
        all.push_back(*found);
    }
    // merge_matmuls takes pairs without biases.
    const bool biased =
        std::all_of(all.begin(), all.end(), [](const Projection& p) { return p.bias != ValueId::none; });
    if (all.size() < 2 || (all.size() == 2 && !biased)) return false;
    std::vector<ValueId> weights, biases;
    Dims widths;
    for (const Projection& p : all) {
        weights.push_back(p.weights);
        biases.push_back(p.bias);
        widths.push_back(p.width);
    }
    ValueId y = editor.add(op::MatMul, {last.inputs[0], add_concat(editor, weights, 1)});
    const std::int64_t axis = *editor.rank(last.inputs[0]) - 1;
    if (biased) y = editor.add(op::Add, {y, add_concat(editor, biases, 0)});
    const std::vector<ValueId> parts = add_split(editor, y, axis, widths);
    for (std::size_t i = 0; i < all.size(); ++i)
        editor.replace(biased ? all[i].sum : all[i].product, parts[i]);
    return true;
}

Graph stack_matmuls_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t k = g.extent(1, 5);
    Dims dims = {g.extent(1, 4), k};
    if (g.coin()) dims.insert(dims.begin(), g.extent(1, 3));
    const ValueId x = g.input(dims);
    const std::int64_t count = g.extent(2, 4);
    const bool every = count == 2 || g.coin();
    std::vector<ValueId> outputs;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t n = g.extent(1, 6);
        ValueId y = g.add(op::MatMul, {x, g.constant({k, n})});
        if (every || g.coin()) y = g.either_way(op::Add, y, g.constant({n}));
        outputs.push_back(g.coin() ? y : g.add(op::Neg, {y}));
    }
    return g.finish(outputs);
}

}  // namespace

Rule stack_matmuls() {
    return {.name = "stack_matmuls",
            .kind = Kind::alternative,
            .source = "SUBSTATION §IV-B (stacked Q, K, V)",
            .equation = "x·A₁ + a₁, …, x·Aₙ + aₙ ⇒ Split(x·[A₁, …, Aₙ] + [a₁, …, aₙ])",
            .guards =
                "all products of x with constant matrices; the sums are stacked too where every product has "
                "a bias vector; n ≥ 3, or 2 with biases",
            .polynomial = true,
            .apply = apply_stack_matmuls,
            .instance = stack_matmuls_instance};
}

}  // namespace viridian::rewrite
