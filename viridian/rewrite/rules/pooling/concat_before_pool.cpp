// Concatenates before pooling: [P(x₁), …, P(xₙ)] ⇒ P([x₁, …, xₙ]) along images or channels. TASO states that
// concatenation and pooling commute; pool_before_concat is the reverse.
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/pooling/pooled_concat.hpp"

namespace viridian::rewrite {
namespace {

bool apply_concat_before_pool(Editor& editor, NodeId at) {
    const Node& joined = editor.node(at);
    if (joined.op != op::Concat || joined.inputs.size() < 2) return false;
    const Node* first = editor.graph().producer(joined.inputs[0]);
    if (first == nullptr || !is_pooling(*first) || !joins_images_or_channels(editor, joined)) return false;
    const auto axis = static_cast<std::size_t>(*axis_of(editor, joined));
    std::vector<ValueId> inputs;
    for (const ValueId input : joined.inputs) {
        const Node* pool = editor.graph().producer(input);
        if (pool == nullptr || !is_pooling(*pool) || !same_operator(*pool, *first) ||
            !editor.used_once(input) || !same_beside(editor, pool->inputs[0], first->inputs[0], axis))
            return false;
        inputs.push_back(pool->inputs[0]);
    }
    editor.replace(
        joined.outputs[0],
        editor.add(first->op, {editor.add(op::Concat, inputs, joined.attributes)}, first->attributes));
    return true;
}

}  // namespace

Rule concat_before_pool() {
    return {.name = "concat_before_pool",
            .kind = Kind::alternative,
            .source = "TASO (concat and pooling commute)",
            .equation = "[P(x₁), …, P(xₙ)] ⇒ P([x₁, …, xₙ])",
            .guards =
                "P ∈ {MaxPool, AveragePool, GlobalAveragePool, GlobalMaxPool}, along images or channels; "
                "nothing else reads what lies between",
            .apply = apply_concat_before_pool,
            .instance = [](Random& r, ElementType e) { return pooled_concat_instance(r, e, true); }};
}

}  // namespace viridian::rewrite
