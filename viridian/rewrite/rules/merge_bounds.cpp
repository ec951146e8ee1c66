// A bound after a bound.
#include <algorithm>
#include <limits>

#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
};

// Relu, or Clip with constant bounds.
std::optional<Bounds> bounds(const Editor& editor, const Node& node) {
    if (!node.domain.empty()) return std::nullopt;
    if (node.op == "Relu") return Bounds{0};
    if (node.op != "Clip") return std::nullopt;
    Bounds found;
    for (const std::size_t i : {std::size_t{1}, std::size_t{2}}) {
        if (node.input(i) == ValueId::none) continue;
        const auto value = editor.scalar(node.inputs[i]);
        if (!value) return std::nullopt;
        (i == 1 ? found.low : found.high) = *value;
    }
    return found.low <= found.high ? std::optional(found) : std::nullopt;
}

bool apply(Editor& editor, NodeId at) {
    const Node& outer = editor.node(at);
    const auto second = bounds(editor, outer);
    const Node* inner =
        second && editor.used_once(outer.inputs[0]) ? editor.graph().producer(outer.inputs[0]) : nullptr;
    const auto first = inner != nullptr ? bounds(editor, *inner) : std::nullopt;
    if (!first || !graph::is_floating(editor.element(outer.outputs[0]))) return false;
    // min(max(·, a), b), then min(max(·, c), d)
    const double low = std::clamp(first->low, second->low, second->high);
    const double high = std::clamp(first->high, second->low, second->high);
    const ValueId x = inner->inputs[0];
    std::vector<ValueId> inputs = {x, ValueId::none, ValueId::none};
    if (low == 0 && high == std::numeric_limits<double>::infinity()) {
        editor.replace(outer.outputs[0], editor.add("Relu", {x}));
        return true;
    }
    if (low != -std::numeric_limits<double>::infinity()) inputs[1] = editor.scalar_like(x, low);
    if (high != std::numeric_limits<double>::infinity())
        inputs[2] = editor.scalar_like(x, high);
    else
        inputs.pop_back();
    editor.replace(outer.outputs[0], editor.add("Clip", inputs));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const auto one = [&](ValueId x) {
        if (s.coin()) return s.add("Relu", {x});
        const double low = static_cast<double>(s.extent(-3, 2)) / 2;
        const double high = low + static_cast<double>(s.extent(0, 3)) / 2;
        switch (s.extent(0, 2)) {
            case 0:
                return s.add("Clip", {x, s.scalar(low)});
            case 1:
                return s.add("Clip", {x, ValueId::none, s.scalar(high)});
            default:
                return s.add("Clip", {x, s.scalar(low), s.scalar(high)});
        }
    };
    return s.finish({one(one(s.input({s.extent(1, 5), s.extent(1, 6)})))});
}

}  // namespace

Rule merge_bounds() {
    return {.name = "merge_bounds",
            .source = "TASO (relu is idempotent); ONNX Runtime level 1 (ReluClip)",
            .equation = "Clip(Clip(x; a, b); c, d) ⇒ Clip(x; a clipped, b clipped); Relu is Clip(x; 0, ∞)",
            .guards = "constant bounds, low at most high; nothing else reads the inner one",
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
