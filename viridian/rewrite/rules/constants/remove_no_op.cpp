// Removes operators that hand their input through: Identity(x), Cast(x), Reshape(x), Dropout(x), x·1, x+0,
// x−0, x/1, x¹, … ⇒ x. ONNX Runtime eliminates identities, casts, slices and dropout at level 1.
#include <algorithm>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

bool is_filled_with(const Editor& editor, ValueId value, double wanted) {
    const Tensor* tensor = editor.constant(value);
    if (tensor == nullptr || tensor->count() == 0 || tensor->count() > 65536) return false;
    for (std::int64_t i = 0; i < tensor->count(); ++i)
        if (tensor->number(i) != wanted) return false;
    return true;
}

// The input that the node hands through unchanged, or none. The caller checks that both types agree.
ValueId handed_through(const Editor& editor, const Node& node) {
    const graph::Operator& op = node.op;
    const auto neutral = [&](double value, bool either) {
        if (is_filled_with(editor, node.inputs[1], value)) return node.inputs[0];
        return either && is_filled_with(editor, node.inputs[0], value) ? node.inputs[1] : ValueId::none;
    };
    if (op == op::Identity || op == op::Cast || op == op::CastLike || op == op::Reshape ||
        op == op::Flatten || op == op::Squeeze || op == op::Unsqueeze || op == op::Expand || op == op::Tile)
        return node.inputs[0];  // the caller asks for equal types
    if (op == op::Concat || op == op::Sum || op == op::Mean || op == op::Min || op == op::Max)
        return node.inputs.size() == 1 ? node.inputs[0] : ValueId::none;
    if (op == op::Split) return node.outputs.size() == 1 ? node.inputs[0] : ValueId::none;
    if (op == op::Dropout) {
        const bool trains = node.input(2) != ValueId::none && editor.scalar(node.inputs[2]) != 0.0;
        const bool masks = node.output(1) != ValueId::none && editor.use_count(node.outputs[1]) > 0;
        return trains || masks ? ValueId::none : node.inputs[0];
    }
    if (op == op::Transpose) {
        const Dims perm = node.get("perm", Dims());
        return !perm.empty() && std::is_sorted(perm.begin(), perm.end()) ? node.inputs[0] : ValueId::none;
    }
    if (op == op::Pad) {
        const auto pads = editor.integers(node.inputs[1]);
        const bool none =
            pads && std::all_of(pads->begin(), pads->end(), [](std::int64_t p) { return p == 0; });
        return none ? node.inputs[0] : ValueId::none;
    }
    if (op == op::Slice) {  // without a reversal, equal extents are the whole
        const auto steps =
            node.input(4) == ValueId::none ? std::optional(Dims()) : editor.integers(node.inputs[4]);
        const bool forward =
            steps && std::all_of(steps->begin(), steps->end(), [](std::int64_t s) { return s > 0; });
        return forward ? node.inputs[0] : ValueId::none;
    }
    if (op == op::Mul) return neutral(1, true);
    if (op == op::Div || op == op::Pow) return neutral(1, false);
    if (op == op::Sub) return neutral(0, false);
    if (op == op::Add) return neutral(0, true);
    return ValueId::none;
}

bool apply_remove_no_op(Editor& editor, NodeId at) {
    const Node& node = editor.node(at);
    if (!node.op.domain().empty() || node.inputs.empty() || node.outputs.empty() ||
        node.outputs[0] == ValueId::none)
        return false;
    const ValueId x = handed_through(editor, node);
    if (x == ValueId::none || !editor.same_type(x, node.outputs[0]) ||
        !editor.replaceable(node.outputs[0], x))
        return false;
    editor.replace(node.outputs[0], x);
    return true;
}

Graph remove_no_op_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const Dims dims = {g.extent(1, 3), g.extent(2, 5)};
    const ValueId x = g.used(g.input(dims));
    ValueId y = ValueId::none;
    switch (g.extent(0, 12)) {
        case 0:
            y = g.add(op::Identity, {x});
            break;
        case 1:
            y = g.either_way(op::Mul, x, g.filled({dims[1]}, 1));
            break;
        case 2:
            y = g.either_way(op::Add, x, g.filled({1}, 0));
            break;
        case 3:
            y = g.add(op::Div, {x, g.filled({}, 1)});
            break;
        case 4:
            y = g.add(op::Sub, {x, g.filled({1, dims[1]}, 0)});
            break;
        case 5:
            y = g.add(op::Cast, {x}, {{"to", graph::onnx_code_of(element)}});
            break;
        case 6:
            y = g.add(op::Reshape, {x, g.integers({0, -1})});
            break;
        case 7:
            y = g.add(op::Transpose, {x}, {{"perm", Dims{0, 1}}});
            break;
        case 8:
            y = g.add(op::Pad, {x, g.integers({0, 0, 0, 0})});
            break;
        case 9:
            y = g.add(op::Slice, {x, g.integers({0}), g.integers({1000}), g.integers({1})});
            break;
        case 10:
            y = g.add(op::Concat, {x}, {{"axis", std::int64_t{0}}});
            break;
        case 11:
            y = g.add(op::Dropout, {x});
            break;
        default:
            y = g.add(op::Expand, {x, g.integers(dims)});
            break;
    }
    return g.finish({g.coin() ? g.used(y) : y});
}

}  // namespace

Rule remove_no_op() {
    return {.name = "remove_no_op",
            .source = "every compiler; ONNX Runtime level 1 (identity, cast, slice, dropout elimination)",
            .equation = "Identity(x), Cast(x), Reshape(x), Dropout(x), x·1, x+0, x−0, x/1, x¹, … ⇒ x",
            .guards = "the result's type and shape are x's; Dropout does not train and its mask is not read",
            .apply = apply_remove_no_op,
            .instance = remove_no_op_instance};
}

}  // namespace viridian::rewrite
