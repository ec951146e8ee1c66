// Takes a constant term before a product through its constant matrix: (x + c)·W + b ⇒ x·W + (c·W + b), and
// subtraction and Gemm too. A product without bias gets an addition behind it. With it a batch normalisation
// reaches either neighbour (docs/method.md, 4).
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/affine/matmul_input.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_fold_matmul_input_shift(Editor& editor, NodeId at) {
    const auto f = MatmulInput::of(editor, editor.node(at), Role::term);
    if (!f) return false;
    const Node& product = *f->product;
    const bool gemm = product.op == op::Gemm;
    if (gemm && (product.get("alpha", 1.0) != 1 || product.get("beta", 1.0) != 1)) return false;
    ValueId w = product.inputs[1];
    if (!f->rows) w = editor.add(op::Transpose, {w}, {{"perm", Dims{1, 0}}});
    const ValueId through = editor.add(op::MatMul, {f->vector(editor), w});
    const bool minus = f->before->op == op::Sub;
    if (gemm && product.input(2) != ValueId::none) {
        std::vector<ValueId> inputs = product.inputs;
        inputs[0] = f->x;
        inputs[2] = editor.add(minus ? "Sub" : "Add", {inputs[2], through});
        editor.replace(product.outputs[0], editor.add(op::Gemm, inputs, product.attributes));
        return true;
    }
    std::vector<ValueId> inputs = {f->x, product.inputs[1]};
    const ValueId y = editor.add(product.op, inputs, product.attributes);
    editor.replace(product.outputs[0], editor.add(minus ? "Sub" : "Add", {y, through}));
    return true;
}

}  // namespace

Rule fold_matmul_input_shift() {
    return {.name = "fold_matmul_input_shift",
            .kind = Kind::alternative,
            .source = "docs/method.md, 4 (batch norm into either neighbour)",
            .equation = "(x + c)·W + b ⇒ x·W + (c·W + b); subtraction and Gemm alike",
            .guards =
                "W, b and c are constants, c varies along the summed axis at most and does not enlarge x; α "
                "= β = 1; nothing else reads x + c",
            .polynomial = true,
            .apply = apply_fold_matmul_input_shift,
            .instance = [](Random& r, ElementType e) { return matmul_input_instance(r, e, Role::term); }};
}

}  // namespace viridian::rewrite
