// Scales and shifts of what a product reads, moved into its constant matrix.
#include "viridian/rewrite/moderate.hpp"
#include "viridian/rewrite/movement.hpp"
#include "viridian/rewrite/rules/list.hpp"
#include "viridian/rewrite/sketch.hpp"

namespace viridian::rewrite {
namespace {

// The product, the constant that meets its input along the summed axis at most, and what that input was.
struct Found {
    const Node* product;
    const Node* before;
    ValueId x, c;
    std::int64_t summed;
    bool rows;  // the summed axis is the first of the weights
};

std::optional<Found> find(const Editor& editor, const Node& node, std::string_view family) {
    const bool gemm = node.op == "Gemm";
    if ((!gemm && node.op != "MatMul") || !node.domain.empty() || !editor.fixed(node.inputs[1]) ||
        editor.rank(node.inputs[1]) != 2 || (gemm && node.integer("transA", 0) != 0) ||
        !editor.used_once(node.inputs[0]) || editor.rank(node.inputs[0]).value_or(0) < 2 ||
        (family == "Mul" && !graph::is_floating(editor.element(node.inputs[0]))))
        return std::nullopt;
    const Node* before = editor.graph().producer(node.inputs[0]);
    if (before == nullptr || !is_arithmetic(*before)) return std::nullopt;
    const bool turns = before->op == "Sub" || before->op == "Div";
    if ((before->op == "Mul" || before->op == "Div" ? "Mul" : "Add") != family) return std::nullopt;
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
        if (along) return Found{&node, before, before->inputs[1 - side], c, k, rows};
    }
    return std::nullopt;
}

// One number per summed index.
ValueId vector(Editor& editor, const Found& f) {
    const ValueId flat = editor.add("Reshape", {f.c, editor.vector_of({-1})});
    return editor.add("Expand", {flat, editor.vector_of({f.summed})});
}

bool scale(Editor& editor, NodeId at) {
    const auto f = find(editor, editor.node(at), "Mul");
    if (!f || !folds_normally(editor, f->product->inputs[1], f->c, f->before->op == "Div")) return false;
    const ValueId factors =
        editor.add("Reshape", {vector(editor, *f), editor.vector_of(f->rows ? Dims{-1, 1} : Dims{1, -1})});
    std::vector<ValueId> inputs = f->product->inputs;
    inputs[0] = f->x;
    inputs[1] = editor.add(f->before->op, {inputs[1], factors});
    editor.replace(f->product->outputs[0], editor.add(f->product->op, inputs, f->product->attributes));
    return true;
}

// (x + c)·W + b ⇒ x·W + (c·W + b); a product without bias gets an addition behind it.
bool shift(Editor& editor, NodeId at) {
    const auto f = find(editor, editor.node(at), "Add");
    if (!f) return false;
    const Node& product = *f->product;
    const bool gemm = product.op == "Gemm";
    if (gemm && (product.get("alpha", 1.0) != 1 || product.get("beta", 1.0) != 1)) return false;
    ValueId w = product.inputs[1];
    if (!f->rows) w = editor.add("Transpose", {w}, {{"perm", Dims{1, 0}}});
    const ValueId through = editor.add("MatMul", {vector(editor, *f), w});
    const bool minus = f->before->op == "Sub";
    if (gemm && product.input(2) != ValueId::none) {
        std::vector<ValueId> inputs = product.inputs;
        inputs[0] = f->x;
        inputs[2] = editor.add(minus ? "Sub" : "Add", {inputs[2], through});
        editor.replace(product.outputs[0], editor.add("Gemm", inputs, product.attributes));
        return true;
    }
    std::vector<ValueId> inputs = {f->x, product.inputs[1]};
    const ValueId y = editor.add(product.op, inputs, product.attributes);
    editor.replace(product.outputs[0], editor.add(minus ? "Sub" : "Add", {y, through}));
    return true;
}

Graph instance(Random& random, ElementType element, bool scaled) {
    Sketch s(random, element);
    const std::int64_t k = s.extent(2, 5), n = s.extent(1, 6);
    const bool gemm = s.coin();
    Dims dims = {s.extent(1, 4), k};
    if (!gemm && s.coin()) dims.insert(dims.begin(), s.extent(1, 3));
    const ValueId c = s.constant(s.coin() ? Dims{k} : s.coin() ? Dims{} : Dims{1, k});
    const ValueId x = s.input(dims);
    const ValueId y = s.extent(0, 2) == 0 ? s.add(scaled ? "Div" : "Sub", {x, c})
                                          : s.either_way(scaled ? "Mul" : "Add", x, c);
    const std::int64_t transposed = gemm ? s.extent(0, 1) : 0;
    std::vector<ValueId> inputs = {y, s.constant(transposed != 0 ? Dims{n, k} : Dims{k, n})};
    if (!gemm) return s.finish({s.add("MatMul", inputs)});
    if (s.coin()) inputs.push_back(s.constant({n}));
    Attributes attributes = {{"transB", transposed}};
    if (scaled) attributes["alpha"] = 2.0;
    return s.finish({s.add("Gemm", inputs, attributes)});
}

}  // namespace

Rule fold_matmul_input_scale() {
    return {.name = "fold_matmul_input_scale",
            .source = "docs/method.md, 4 (batch norm into either neighbour)",
            .equation = "(x·c)·W ⇒ x·(c·W); division and Gemm alike",
            .guards =
                "W and c are constants, c varies along the summed axis at most and does not enlarge x; c is "
                "moderate (merge_scales), c·W stays finite and normal; nothing else reads x·c",
            .polynomial = false,
            .apply = scale,
            .instance = [](Random& r, ElementType e) { return instance(r, e, true); }};
}

Rule fold_matmul_input_shift() {
    return {.name = "fold_matmul_input_shift",
            .kind = Kind::alternative,
            .source = "docs/method.md, 4 (batch norm into either neighbour)",
            .equation = "(x + c)·W + b ⇒ x·W + (c·W + b); subtraction and Gemm alike",
            .guards =
                "W, b and c are constants, c varies along the summed axis at most and does not enlarge x; α "
                "= β = 1; nothing else reads x + c",
            .polynomial = true,
            .apply = shift,
            .instance = [](Random& r, ElementType e) { return instance(r, e, false); }};
}

}  // namespace viridian::rewrite
