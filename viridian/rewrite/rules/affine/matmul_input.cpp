#include "viridian/rewrite/rules/affine/matmul_input.hpp"

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/movement.hpp"

namespace viridian::rewrite {

std::optional<MatmulInput> MatmulInput::of(const Editor& editor, const Node& node, Role role) {
    const bool gemm = node.op == op::Gemm;
    if ((!gemm && node.op != op::MatMul) || !editor.fixed(node.inputs[1]) ||
        editor.rank(node.inputs[1]) != 2 || (gemm && node.integer("transA", 0) != 0) ||
        !editor.used_once(node.inputs[0]) || editor.rank(node.inputs[0]).value_or(0) < 2 ||
        (role == Role::factor && !graph::is_floating(editor.element(node.inputs[0]))))
        return std::nullopt;
    const Node* before = editor.graph().producer(node.inputs[0]);
    if (before == nullptr || !is_arithmetic(*before)) return std::nullopt;
    const bool turns = before->op == op::Sub || before->op == op::Div;
    if ((role_of(*before) == Role::term) != (role == Role::term)) return std::nullopt;
    const auto weights = editor.dims(node.inputs[1]);
    const bool rows = !gemm || node.integer("transB", 0) == 0;
    if (!weights) return std::nullopt;
    const std::int64_t k = (*weights)[rows ? 0 : 1];
    for (const std::size_t side : {std::size_t{1}, std::size_t{0}}) {
        const ValueId c = before->inputs[side];
        const auto dims = editor.dims(c);
        if ((side == 0 && turns) || !dims || !editor.fixed(c) ||
            !editor.same_type(before->inputs[1 - side], node.inputs[0]))
            continue;
        bool along = true;
        for (std::size_t i = 0; i < dims->size(); ++i)
            along = along && ((*dims)[i] == 1 || (i + 1 == dims->size() && (*dims)[i] == k));
        if (along) return MatmulInput{&node, before, before->inputs[1 - side], c, k, rows};
    }
    return std::nullopt;
}

ValueId MatmulInput::vector(Editor& editor) const {
    const ValueId flat = editor.add(op::Reshape, {c, editor.vector_of({-1})});
    return editor.add(op::Expand, {flat, editor.vector_of({summed})});
}

Graph matmul_input_instance(Random& random, ElementType element, Role role) {
    const bool scaled = role == Role::factor;
    RandomGraph g(random, element);
    const std::int64_t k = g.extent(2, 5), n = g.extent(1, 6);
    const bool gemm = g.coin();
    Dims dims = {g.extent(1, 4), k};
    if (!gemm && g.coin()) dims.insert(dims.begin(), g.extent(1, 3));
    const ValueId c = g.constant(g.coin() ? Dims{k} : g.coin() ? Dims{} : Dims{1, k});
    const ValueId x = g.input(dims);
    const ValueId y = g.extent(0, 2) == 0 ? g.add(scaled ? "Div" : "Sub", {x, c})
                                          : g.either_way(scaled ? "Mul" : "Add", x, c);
    const std::int64_t transposed = gemm ? g.extent(0, 1) : 0;
    std::vector<ValueId> inputs = {y, g.constant(transposed != 0 ? Dims{n, k} : Dims{k, n})};
    if (!gemm) return g.finish({g.add(op::MatMul, inputs)});
    if (g.coin()) inputs.push_back(g.constant({n}));
    Attributes attributes = {{"transB", transposed}};
    if (scaled) attributes["alpha"] = 2.0;
    return g.finish({g.add(op::Gemm, inputs, attributes)});
}

}  // namespace viridian::rewrite
