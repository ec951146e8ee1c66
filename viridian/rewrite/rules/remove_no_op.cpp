#include <algorithm>

#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool all_equal(const Editor& editor, ValueId value, double wanted) {
    const Tensor* tensor = editor.constant(value);
    if (tensor == nullptr || tensor->count() == 0 || tensor->count() > 65536) return false;
    for (std::int64_t i = 0; i < tensor->count(); ++i)
        if (tensor->number(i) != wanted) return false;
    return true;
}

// The input that the node hands through unchanged, or none. That the types agree is checked by the caller.
ValueId handed_through(const Editor& editor, const Node& node) {
    const std::string& op = node.op;
    const auto neutral = [&](double value, bool either) {
        if (all_equal(editor, node.inputs[1], value)) return node.inputs[0];
        return either && all_equal(editor, node.inputs[0], value) ? node.inputs[1] : ValueId::none;
    };
    if (op == "Identity" || op == "Cast" || op == "CastLike" || op == "Reshape" || op == "Flatten" ||
        op == "Squeeze" || op == "Unsqueeze" || op == "Expand" || op == "Tile")
        return node.inputs[0];  // with the same type nothing is left to do
    if (op == "Concat" || op == "Sum" || op == "Mean" || op == "Min" || op == "Max")
        return node.inputs.size() == 1 ? node.inputs[0] : ValueId::none;
    if (op == "Split") return node.outputs.size() == 1 ? node.inputs[0] : ValueId::none;
    if (op == "Dropout") {
        const bool trains = node.input(2) != ValueId::none && editor.scalar(node.inputs[2]) != 0.0;
        const bool masks = node.output(1) != ValueId::none && editor.use_count(node.outputs[1]) > 0;
        return trains || masks ? ValueId::none : node.inputs[0];
    }
    if (op == "Transpose") {
        const Dims perm = node.get("perm", Dims());
        return !perm.empty() && std::is_sorted(perm.begin(), perm.end()) ? node.inputs[0] : ValueId::none;
    }
    if (op == "Pad") {
        const auto pads = editor.integers(node.inputs[1]);
        const bool none =
            pads && std::all_of(pads->begin(), pads->end(), [](std::int64_t p) { return p == 0; });
        return none ? node.inputs[0] : ValueId::none;
    }
    if (op == "Slice") {  // the same extents without a reversal is the whole
        const auto steps =
            node.input(4) == ValueId::none ? std::optional(Dims()) : editor.integers(node.inputs[4]);
        const bool forward =
            steps && std::all_of(steps->begin(), steps->end(), [](std::int64_t s) { return s > 0; });
        return forward ? node.inputs[0] : ValueId::none;
    }
    if (op == "Mul") return neutral(1, true);
    if (op == "Div" || op == "Pow") return neutral(1, false);
    if (op == "Sub") return neutral(0, false);
    if (op == "Add") return neutral(0, true);
    return ValueId::none;
}

bool apply(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() ||
        node.outputs[0] == ValueId::none)
        return false;
    const ValueId x = handed_through(editor, node);
    if (x == ValueId::none || !editor.same_type(x, node.outputs[0]) ||
        !editor.replaceable(node.outputs[0], x))
        return false;
    editor.replace(node.outputs[0], x);
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 3), s.extent(2, 5)};
    const ValueId x = s.used(s.input(dims));
    ValueId y = ValueId::none;
    switch (s.extent(0, 12)) {
        case 0:
            y = s.add("Identity", {x});
            break;
        case 1:
            y = s.either_way("Mul", x, s.filled({dims[1]}, 1));
            break;
        case 2:
            y = s.either_way("Add", x, s.filled({1}, 0));
            break;
        case 3:
            y = s.add("Div", {x, s.filled({}, 1)});
            break;
        case 4:
            y = s.add("Sub", {x, s.filled({1, dims[1]}, 0)});
            break;
        case 5:
            y = s.add("Cast", {x}, {{"to", graph::onnx_code_of(element)}});
            break;
        case 6:
            y = s.add("Reshape", {x, s.integers({0, -1})});
            break;
        case 7:
            y = s.add("Transpose", {x}, {{"perm", Dims{0, 1}}});
            break;
        case 8:
            y = s.add("Pad", {x, s.integers({0, 0, 0, 0})});
            break;
        case 9:
            y = s.add("Slice", {x, s.integers({0}), s.integers({1000}), s.integers({1})});
            break;
        case 10:
            y = s.add("Concat", {x}, {{"axis", std::int64_t{0}}});
            break;
        case 11:
            y = s.add("Dropout", {x});
            break;
        default:
            y = s.add("Expand", {x, s.integers(dims)});
            break;
    }
    return s.finish({s.coin() ? s.used(y) : y});
}

}  // namespace

Rule remove_no_op() {
    return {.name = "remove_no_op",
            .source = "every compiler; ONNX Runtime level 1 (identity, cast, slice, dropout elimination)",
            .equation = "Identity(x), Cast(x), Reshape(x), Dropout(x), x·1, x+0, x−0, x/1, x¹, … ⇒ x",
            .guards = "the result's type and shape are x's; Dropout does not train and its mask is not read",
            .polynomial = false,
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
