#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

bool apply(Editor& editor, NodeId at) {
    const Node& where = editor.node(at);
    if (where.op != "Where" || !where.domain.empty()) return false;
    const Node* inverted = editor.producer(where.inputs[0], "Not");
    if (inverted == nullptr) return false;
    editor.replace(where.outputs[0],
                   editor.add("Where", {inverted->inputs[0], where.inputs[2], where.inputs[1]}));
    return true;
}

Graph instance(Random& random, ElementType element) {
    Sketch s(random, element);
    const Dims dims = {s.extent(1, 4), s.extent(1, 5)};
    const ValueId x = s.input(dims);
    const ValueId mask = s.add("Not", {s.add("Greater", {x, s.scalar(0)})});
    return s.finish({s.add("Where", {mask, s.coin() ? s.used(x) : s.scalar(-9), s.input({dims[1]})})});
}

}  // namespace

Rule not_where() {
    return {.name = "not_where",
            .source = "ONNX Runtime level 1 (NotWhere)",
            .equation = "Where(¬m, x, y) ⇒ Where(m, y, x)",
            .guards = "none",
            .apply = apply,
            .instance = instance};
}

}  // namespace viridian::rewrite
