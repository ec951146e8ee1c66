#include "viridian/rewrite/linear.hpp"

namespace viridian::rewrite {
namespace {

bool has_fixed_weights(const Editor& editor, const Node& node) {
    return editor.fixed(node.inputs[1]) && (node.input(2) == ValueId::none || editor.fixed(node.inputs[2]));
}

}  // namespace

std::optional<Linear> Linear::of(const Editor& editor, ValueId output) {
    Linear linear;
    for (const graph::KnownOperator each : {op::Conv, op::ConvTranspose, op::Gemm, op::MatMul})
        if (const Node* node = editor.producer(output, each)) linear.node = node;
    // Scaled weights of integers do not scale the result, because division truncates.
    if (linear.node == nullptr || !graph::is_floating(editor.element(output)) || !editor.used_once(output) ||
        !has_fixed_weights(editor, *linear.node))
        return std::nullopt;
    const auto w = editor.dims(linear.node->inputs[1]);
    const auto rank = editor.rank(output);
    if (!w || !rank || *rank < 2) return std::nullopt;
    linear.rank = *rank;
    const graph::Operator& op = linear.node->op;
    if (op == op::Conv) {
        linear.channels = (*w)[0];
    } else if (op == op::ConvTranspose) {
        linear.channels = (*w)[1] * linear.node->integer("group", 1);
    } else if (op == op::Gemm) {
        linear.channels = (*w)[linear.node->integer("transB", 0) != 0 ? 0 : 1];
    } else {
        if (w->size() != 2) return std::nullopt;
        linear.channels = (*w)[1];
        linear.axis = *rank - 1;
    }
    return linear;
}

bool Linear::is_per_channel(const Editor& editor, ValueId value) const {
    const auto dims = editor.dims(value);
    if (!dims || static_cast<std::int64_t>(dims->size()) > rank || !editor.fixed(value)) return false;
    for (std::size_t i = 0; i < dims->size(); ++i) {
        const std::int64_t at = rank - static_cast<std::int64_t>(dims->size() - i);
        if ((*dims)[i] != 1 && (at != axis || (*dims)[i] != channels)) return false;
    }
    return true;
}

ValueId Linear::per_channel(Editor& editor, ValueId value) const {
    if (!is_per_channel(editor, value)) return ValueId::none;
    const ValueId flat = editor.add(op::Reshape, {value, editor.vector_of({-1})});
    return editor.add(op::Expand, {flat, editor.vector_of({channels})});
}

bool Linear::takes_factor(const Editor& editor, ValueId factor, Role role) const {
    return fold_keeps_normals(editor, node->inputs[1], factor, role) &&
           (node->input(2) == ValueId::none || fold_keeps_normals(editor, node->inputs[2], factor, role));
}

// Conv weights are [M, C/g, k…]; ConvTranspose's [C, M/g, k…], so that the scales of group i belong to the
// i-th part of the first axis; Gemm's [K, M] or [M, K]; MatMul's [K, M].
ValueId Linear::affine(Editor& editor, ValueId scale, ValueId shift) const {
    const graph::Operator& op = node->op;
    const Dims w = *editor.dims(node->inputs[1]);
    std::vector<ValueId> inputs = node->inputs;
    Attributes attributes = node->attributes;
    ValueId bias = node->input(2);
    if (op == op::Gemm && bias != ValueId::none) {  // alpha and beta apply before the scale does
        const double beta = node->get("beta", 1.0);
        if (beta != 1) bias = editor.add(op::Mul, {bias, editor.scalar_like(bias, beta)});
    }
    attributes.erase("beta");
    if (scale != ValueId::none) {
        if (op == op::ConvTranspose) {
            const std::int64_t group = node->integer("group", 1);
            Dims grouped = {group, w[0] / group, w[1]};
            Dims spread = {group, 1, w[1]};
            for (std::size_t i = 2; i < w.size(); ++i) {
                grouped.push_back(w[i]);
                spread.push_back(1);
            }
            const ValueId weights = editor.add(op::Reshape, {inputs[1], editor.vector_of(grouped)});
            const ValueId factors = editor.add(op::Reshape, {scale, editor.vector_of(spread)});
            inputs[1] =
                editor.add(op::Reshape, {editor.add(op::Mul, {weights, factors}), editor.vector_of(w)});
        } else {
            Dims spread(w.size(), 1);
            const bool columns = op == op::MatMul || (op == op::Gemm && node->integer("transB", 0) == 0);
            spread[columns ? 1 : 0] = channels;
            inputs[1] =
                editor.add(op::Mul, {inputs[1], editor.add(op::Reshape, {scale, editor.vector_of(spread)})});
        }
        if (bias != ValueId::none) bias = editor.add(op::Mul, {bias, scale});
    }
    if (shift != ValueId::none) bias = bias == ValueId::none ? shift : editor.add(op::Add, {bias, shift});
    if (bias != ValueId::none) {
        inputs.resize(2);
        inputs.push_back(bias);
    }
    return editor.add(op, inputs, attributes);
}

}  // namespace viridian::rewrite
