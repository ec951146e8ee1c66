// Halves the number of groups of a convolution: Conv(x, w; g) ⇒ Conv(x, w on the diagonal; g/2), and to one
// group if g is odd. TASO has it, and Tensat calls it merge_gconv.
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/convolution/grouped_convolution.hpp"

namespace viridian::rewrite {
namespace {

bool apply_widen_groups(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    if (!conv || conv->group < 2 || conv->group > 64) return false;
    const std::int64_t merged = conv->group % 2 == 0 ? 2 : conv->group;
    if (merged > most_groups) return false;
    const std::int64_t groups = conv->group / merged;
    const std::int64_t out = conv->weights[0] / conv->group, in = conv->weights[1];
    // The weights [groups, merged, out, 1, in, k…] times a mask [1, merged, 1, merged, 1, …]: zeros off the
    // diagonal.
    Dims apart = {groups, merged, out, 1, in};
    Dims mask_dims = {1, merged, 1, merged, 1};
    Dims whole = {conv->weights[0], in * merged};
    for (const std::int64_t k : conv->kernel()) {
        apart.push_back(k);
        mask_dims.push_back(1);
        whole.push_back(k);
    }
    Tensor mask(ElementType::f64, mask_dims);
    for (std::int64_t i = 0; i < merged; ++i)
        mask.mutable_values<double>()[static_cast<std::size_t>(i * merged + i)] = 1;
    ValueId blocks = editor.constant(std::move(mask));
    if (editor.element(conv->w) != ElementType::f64)
        blocks = editor.add(op::Cast, {blocks}, {{"to", graph::onnx_code_of(editor.element(conv->w))}});
    const ValueId wide =
        editor.add(op::Mul, {editor.add(op::Reshape, {conv->w, editor.vector_of(apart)}), blocks});
    std::vector<ValueId> inputs = {conv->x, editor.add(op::Reshape, {wide, editor.vector_of(whole)})};
    if (conv->bias != ValueId::none) inputs.push_back(conv->bias);
    editor.replace(conv->y, editor.add(op::Conv, inputs, conv->attributes(groups)));
    return true;
}

}  // namespace

Rule widen_groups() {
    return {.name = "widen_groups",
            .kind = Kind::alternative,
            .source = "TASO; Tensat (merge_gconv)",
            .equation = "Conv(x, w; g) ⇒ Conv(x, w on the diagonal; g/2)",
            .guards = "constant weights; an odd g of at most 8 goes to 1 at once; g ≤ 64",
            .polynomial = true,
            .apply = apply_widen_groups,
            .instance = grouped_convolution_instance};
}

}  // namespace viridian::rewrite
