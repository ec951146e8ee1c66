// Joins two bounds: Clip(Clip(x; a, b); c, d) ⇒ Clip(x; a clipped, b clipped), where Relu is Clip(x; 0, ∞).
// TASO states that relu is idempotent; ONNX Runtime calls it ReluClip.
#include <algorithm>
#include <limits>

#include "viridian/rewrite/certify/random_graph.hpp"
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {
namespace {

struct ClipBounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

// The bounds of a Relu, or of a Clip with constant bounds.
std::optional<ClipBounds> clip_bounds(const Editor& editor, const Node& node) {
    if (!node.op.domain().empty()) return std::nullopt;
    if (node.op == op::Relu) return ClipBounds{0};
    if (node.op != op::Clip) return std::nullopt;
    ClipBounds found;
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
        if (node.input(i) == ValueId::none) continue;
        const auto value = editor.scalar(node.inputs[i]);
        if (!value) return std::nullopt;
        (i == 1 ? found.low : found.high) = *value;
    }
    return found.low <= found.high ? std::optional(found) : std::nullopt;
}

bool apply_merge_bounds(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    const auto second = clip_bounds(editor, outer);
    const Node* inner =
        second && editor.used_once(outer.inputs[0]) ? editor.graph().producer(outer.inputs[0]) : nullptr;
    const auto first = inner != nullptr ? clip_bounds(editor, *inner) : std::nullopt;
    if (!first || !graph::is_floating(editor.element(outer.outputs[0]))) return false;
    // min(max(min(max(x, a), b), c), d) = min(max(x, low), high)
    const double low = std::clamp(first->low, second->low, second->high);
    const double high = std::clamp(first->high, second->low, second->high);
    const ValueId x = inner->inputs[0];
    std::vector<ValueId> inputs = {x, ValueId::none, ValueId::none};
    if (low == 0 && high == std::numeric_limits<double>::infinity()) {
        editor.replace(outer.outputs[0], editor.add(op::Relu, {x}));
        return true;
    }
    if (low != -std::numeric_limits<double>::infinity()) inputs[1] = editor.scalar_like(x, low);
    if (high != std::numeric_limits<double>::infinity())
        inputs[2] = editor.scalar_like(x, high);
    else
        inputs.pop_back();
    editor.replace(outer.outputs[0], editor.add(op::Clip, inputs));
    return true;
}

Graph merge_bounds_instance(Random& random, ElementType element) {
    RandomGraph g(random, element);
    const auto one = [&](ValueId x) {
        if (g.coin()) return g.add(op::Relu, {x});
        const double low = static_cast<double>(g.extent(-3, 2)) / 2;
        const double high = low + static_cast<double>(g.extent(0, 3)) / 2;
        switch (g.extent(0, 2)) {
            case 0:
                return g.add(op::Clip, {x, g.scalar(low)});
            case 1:
                return g.add(op::Clip, {x, ValueId::none, g.scalar(high)});
            default:
                return g.add(op::Clip, {x, g.scalar(low), g.scalar(high)});
        }
    };
    return g.finish({one(one(g.input({g.extent(1, 5), g.extent(1, 6)})))});
}

}  // namespace

Rule merge_bounds() {
    return {.name = "merge_bounds",
            .source = "TASO (relu is idempotent); ONNX Runtime level 1 (ReluClip)",
            .equation = "Clip(Clip(x; a, b); c, d) ⇒ Clip(x; a clipped, b clipped); Relu is Clip(x; 0, ∞)",
            .guards = "constant bounds, low at most high; nothing else reads the inner one",
            .apply = apply_merge_bounds,
            .instance = merge_bounds_instance};
}

}  // namespace viridian::rewrite
