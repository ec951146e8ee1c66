// Takes the groups of a convolution apart: Conv(x, w, b; g) ⇒ [Conv(x₁, w₁, b₁), …, Conv(x_g, w_g, b_g)]. It
// is TASO's merging of grouped convolutions, backwards.
#include "viridian/rewrite/convolution.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rule.hpp"
#include "viridian/rewrite/rules/convolution/grouped_convolution.hpp"

namespace viridian::rewrite {
namespace {

bool apply_split_groups(Editor& editor, NodeId at) {
    const auto conv = Convolution::of(editor, at);
    if (!conv || conv->group < 2 || conv->group > most_groups) return false;
    const auto equal = [&](std::int64_t each) { return Dims(static_cast<std::size_t>(conv->group), each); };
    const std::vector<ValueId> x = add_split(editor, conv->x, 1, equal(conv->weights[1]));
    const std::vector<ValueId> w = add_split(editor, conv->w, 0, equal(conv->weights[0] / conv->group));
    std::vector<ValueId> b;
    if (conv->bias != ValueId::none)
        b = add_split(editor, conv->bias, 0, equal(conv->weights[0] / conv->group));
    std::vector<ValueId> parts;
    for (std::size_t i = 0; i < x.size(); ++i) {
        std::vector<ValueId> inputs = {x[i], w[i]};
        if (!b.empty()) inputs.push_back(b[i]);
        parts.push_back(editor.add(op::Conv, inputs, conv->attributes(1)));
    }
    editor.replace(conv->y, add_concat(editor, parts, 1));
    return true;
}

}  // namespace

Rule split_groups() {
    return {.name = "split_groups",
            .kind = Kind::alternative,
            .source = "TASO (merge grouped convolutions, backwards)",
            .equation = "Conv(x, w, b; g) ⇒ [Conv(x₁, w₁, b₁), …, Conv(x_g, w_g, b_g)]",
            .guards = "2 to 8 groups, constant weights",
            .polynomial = true,
            .apply = apply_split_groups,
            .instance = grouped_convolution_instance};
}

}  // namespace viridian::rewrite
