// Folds a constant factor before a product into its constant matrix: (x·c)·W ⇒ x·(c·W), and division and Gemm
// too. With it a batch normalisation reaches either neighbour (docs/method.md, 4).
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/affine/matmul_input.hpp"
#include "viridian/rewrite/safe_scaling.hpp"

namespace viridian::rewrite {
namespace {

bool apply_fold_matmul_input_scale(Editor& editor, NodeId at) {
    const auto f = MatmulInput::of(editor, editor.node(at), Role::factor);
    if (!f || !fold_keeps_normals(editor, f->product->inputs[1], f->c, role_of(*f->before))) return false;
    const ValueId factors =
        editor.add(op::Reshape, {f->vector(editor), editor.vector_of(f->rows ? Dims{-1, 1} : Dims{1, -1})});
    std::vector<ValueId> inputs = f->product->inputs;
    inputs[0] = f->x;
    inputs[1] = editor.add(f->before->op, {inputs[1], factors});
    editor.replace(f->product->outputs[0], editor.add(f->product->op, inputs, f->product->attributes));
    return true;
}

}  // namespace

Rule fold_matmul_input_scale() {
    return {.name = "fold_matmul_input_scale",
            .source = "docs/method.md, 4 (batch norm into either neighbour)",
            .equation = "(x·c)·W ⇒ x·(c·W); division and Gemm alike",
            .guards =
                "W and c are constants, c varies along the summed axis at most and does not enlarge x; c is "
                "moderate (merge_scales), c·W stays finite and normal; nothing else reads x·c",
            .apply = apply_fold_matmul_input_scale,
            .instance = [](Random& r, ElementType e) { return matmul_input_instance(r, e, Role::factor); }};
}

}  // namespace viridian::rewrite
