// Pools every part before they are concatenated: P([x₁, …, xₙ]) ⇒ [P(x₁), …, P(xₙ)] along images or channels.
// TASO states that concatenation and pooling commute; concat_before_pool is the reverse.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/pooling/pooled_concat.hpp"

namespace viridian::rewrite {
namespace {

bool apply_pool_before_concat(Editor& editor, NodeId at) {
    const Node& pool = editor.node(at);
    const Node* joined = is_pooling(pool) ? joined_input(editor, pool) : nullptr;
    if (joined == nullptr || !joins_images_or_channels(editor, *joined)) return false;
    std::vector<ValueId> parts;
    for (const ValueId input : joined->inputs) parts.push_back(editor.like(pool, {input}));
    editor.replace(pool.outputs[0], editor.add(op::Concat, parts, joined->attributes));
    return true;
}

}  // namespace

Rule pool_before_concat() {
    return {.name = "pool_before_concat",
            .kind = Kind::alternative,
            .source = "TASO (concat and pooling commute)",
            .equation = "P([x₁, …, xₙ]) ⇒ [P(x₁), …, P(xₙ)]",
            .guards =
                "P ∈ {MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool}, along images or channels; "
                "nothing else reads what lies between",
            .apply = apply_pool_before_concat,
            .instance = [](Random& r, ElementType e) { return pooled_concat_instance(r, e, false); }};
}

}  // namespace viridian::rewrite
