// Writes a batch normalisation that no neighbour takes as a product and a sum: BN(x) ⇒ x·s + (β − μ·s), where
// s = γ/√(σ²+ε) (docs/method.md, 4).
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/affine/batch_norm.hpp"

namespace viridian::rewrite {
namespace {

bool apply_split_batch_norm(Editor& editor, NodeId at) {
    const Node& norm = editor.node(at);
    if (!has_constant_statistics(editor, norm)) return false;
    const auto rank = editor.rank(norm.inputs[0]);
    if (!rank || *rank < 2) return false;
    const ChannelAffine map = channel_affine(editor, norm);
    Dims spread(static_cast<std::size_t>(*rank - 1), 1);
    spread[0] = -1;
    const auto along = [&](ValueId value) {
        return editor.add(op::Reshape, {value, editor.vector_of(spread)});
    };
    const ValueId scaled = editor.add(op::Mul, {norm.inputs[0], along(map.scale)});
    editor.replace(norm.outputs[0], editor.add(op::Add, {scaled, along(map.shift)}));
    return true;
}

Graph split_batch_norm_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const std::int64_t channels = g.extent(1, 5);
    Dims dims = {g.extent(1, 3), channels};
    for (std::int64_t i = g.extent(0, 2); i > 0; --i) dims.push_back(g.extent(1, 4));
    return g.finish({g.add(op::BatchNormalization,
                           {g.input(dims), g.constant({channels}), g.constant({channels}),
                            g.constant({channels}), g.positive({channels})},
                           {{"epsilon", 0.25}})});
}

}  // namespace

Rule split_batch_norm() {
    return {.name = "split_batch_norm",
            .source = "docs/method.md, 4",
            .equation = "BN(x) ⇒ x·s + (β − μ·s), s = γ/√(σ²+ε)",
            .guards = "statistics are constants, inference mode; what precedes could not take it",
            .apply = apply_split_batch_norm,
            .instance = split_batch_norm_instance};
}

}  // namespace viridian::rewrite
