// Multiplies a sum out: (x ± y)·z ⇒ x·z ± y·z. TASO and Tensat state that multiplication distributes over
// addition; factor_product is the reverse, and distribute_scale takes constants.
#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_distribute_product(Editor& editor, NodeId at) {
    const Node& product = editor.node(at);
    if (product.op != op::Mul) return false;
    for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
        const ValueId whole = product.inputs[side], z = product.inputs[1 - side];
        const Node* sum = editor.graph().producer(whole);
        if (sum == nullptr || !is_arithmetic(*sum) || (sum->op != op::Add && sum->op != op::Sub) ||
            !editor.used_once(whole) || !editor.same_type(whole, product.outputs[0]))
            continue;
        const ValueId x = sum->inputs[0], y = sum->inputs[1];
        // distribute_scale takes constants.
        const bool constants = editor.fixed(z) && (editor.fixed(x) || editor.fixed(y));
        if (x == y || constants || !editor.same_type(x, y) || !keeps_range(editor, x, Role::term) ||
            !keeps_range(editor, y, Role::term) || !keeps_range(editor, z, Role::factor))
            continue;
        const ValueId first = editor.add(op::Mul, {x, z});
        editor.replace(product.outputs[0], editor.add(sum->op, {first, editor.add(op::Mul, {y, z})}));
        return true;
    }
    return false;
}

Graph distribute_product_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 4), g.extent(1, 5)};
    const ValueId z = g.coin() ? g.input({dims[1]}) : g.coin() ? g.input(dims) : g.constant({});
    const ValueId sum = g.add(g.coin() ? "Add" : "Sub", {g.input(dims), g.input(dims)});
    return g.finish({g.either_way(op::Mul, sum, z)});
}

}  // namespace

Rule distribute_product() {
    return {.name = "distribute_product",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (multiplication distributes over addition)",
            .equation = "(x ± y)·z ⇒ x·z ± y·z",
            .guards =
                "x and y of equal types that z does not enlarge; floating constants are moderate "
                "(merge_scales), and not both a term and z are constant (distribute_scale); nothing else "
                "reads x ± y",
            .polynomial = true,
            .apply = apply_distribute_product,
            .instance = distribute_product_instance};
}

}  // namespace viridian::rewrite
