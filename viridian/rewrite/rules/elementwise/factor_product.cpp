// Takes a common factor out of a sum: x·z ± y·z ⇒ (x ± y)·z. TASO states that multiplication distributes over
// addition; distribute_product is the reverse.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_factor_product(Editor& editor, NodeId at) {
    const Node& sum = editor.node(at);
    if ((sum.op != op::Add && sum.op != op::Sub) || sum.inputs[0] == sum.inputs[1]) return false;
    const Node* a = editor.producer(sum.inputs[0], op::Mul);
    const Node* b = editor.producer(sum.inputs[1], op::Mul);
    if (a == nullptr || b == nullptr || !editor.used_once(sum.inputs[0]) || !editor.used_once(sum.inputs[1]))
        return false;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}})
        for (const std::size_t j : {std::size_t{0}, std::size_t{1}}) {
            if (a->inputs[i] != b->inputs[j] || !editor.same_type(a->inputs[1 - i], b->inputs[1 - j]) ||
                !keeps_range(editor, a->inputs[i], Role::factor))
                continue;
            const ValueId inner = editor.add(sum.op, {a->inputs[1 - i], b->inputs[1 - j]});
            editor.replace(sum.outputs[0], editor.add(op::Mul, {inner, a->inputs[i]}));
            return true;
        }
    return false;
}

Graph factor_product_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5)};
    const ValueId z = g.coin() ? g.input({dims[1]}) : g.constant({});
    const ValueId x = g.either_way(op::Mul, g.input(dims), z);
    return g.finish({g.add(g.coin() ? "Add" : "Sub", {x, g.either_way(op::Mul, g.input(dims), z)})});
}

}  // namespace

Rule factor_product() {
    return {.name = "factor_product",
            .kind = Kind::alternative,
            .source = "TASO (multiplication distributes over addition)",
            .equation = "x·z ± y·z ⇒ (x ± y)·z",
            .guards =
                "x and y of equal types, z no constant or a moderate one (merge_scales); nothing else reads "
                "either product",
            .polynomial = true,
            .apply = apply_factor_product,
            .instance = factor_product_instance};
}

}  // namespace viridian::rewrite
