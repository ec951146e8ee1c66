#include "viridian/rewrite/affine.hpp"

#include "viridian/rewrite/moderate.hpp"

namespace viridian::rewrite {
namespace {

bool known_weights(const Editor& editor, const Node& node) {
    return editor.fixed(node.inputs[1]) && (node.input(2) == ValueId::none || editor.fixed(node.inputs[2]));
}

}  // namespace

std::optional<Linear> Linear::of(const Editor& editor, ValueId output) {
    Linear linear;
    for (const char* op : {"Conv", "ConvTranspose", "Gemm", "MatMul"})
        if (const Node* node = editor.producer(output, op)) linear.node = node;
    // Scaling integers' weights is no scaling of what comes out: division truncates.
    if (linear.node == nullptr || !graph::is_floating(editor.element(output)) || !editor.used_once(output) ||
        !known_weights(editor, *linear.node))
        return std::nullopt;
    const auto w = editor.dims(linear.node->inputs[1]);
    const auto rank = editor.rank(output);
    if (!w || !rank || *rank < 2) return std::nullopt;
    linear.rank = *rank;
    const std::string& op = linear.node->op;
    if (op == "Conv") {
        linear.channels = (*w)[0];
    } else if (op == "ConvTranspose") {
        linear.channels = (*w)[1] * linear.node->integer("group", 1);
    } else if (op == "Gemm") {
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
    const ValueId flat = editor.add("Reshape", {value, editor.vector_of({-1})});
    return editor.add("Expand", {flat, editor.vector_of({channels})});
}

bool Linear::takes_factor(const Editor& editor, ValueId factor, bool divides) const {
    return folds_normally(editor, node->inputs[1], factor, divides) &&
           (node->input(2) == ValueId::none || folds_normally(editor, node->inputs[2], factor, divides));
}

// Conv weights are [M, C/g, k…]; ConvTranspose's [C, M/g, k…], so that the scales of group i belong to the
// i-th part of the first axis; Gemm's [K, M] or [M, K]; MatMul's [K, M].
ValueId Linear::affine(Editor& editor, ValueId scale, ValueId shift) const {
    const std::string& op = node->op;
    const Dims w = *editor.dims(node->inputs[1]);
    std::vector<ValueId> inputs = node->inputs;
    Attributes attributes = node->attributes;
    ValueId bias = node->input(2);
    if (op == "Gemm" && bias != ValueId::none) {  // alpha and beta apply before the scale does
        const double beta = node->get("beta", 1.0);
        if (beta != 1) bias = editor.add("Mul", {bias, editor.scalar_like(bias, beta)});
    }
    attributes.erase("beta");
    if (scale != ValueId::none) {
        if (op == "ConvTranspose") {
            const std::int64_t group = node->integer("group", 1);
            Dims grouped = {group, w[0] / group, w[1]};
            Dims spread = {group, 1, w[1]};
            for (std::size_t i = 2; i < w.size(); ++i) {
                grouped.push_back(w[i]);
                spread.push_back(1);
            }
            const ValueId weights = editor.add("Reshape", {inputs[1], editor.vector_of(grouped)});
            const ValueId factors = editor.add("Reshape", {scale, editor.vector_of(spread)});
            inputs[1] = editor.add("Reshape", {editor.add("Mul", {weights, factors}), editor.vector_of(w)});
        } else {
            Dims spread(w.size(), 1);
            const bool columns = op == "MatMul" || (op == "Gemm" && node->integer("transB", 0) == 0);
            spread[columns ? 1 : 0] = channels;
            inputs[1] =
                editor.add("Mul", {inputs[1], editor.add("Reshape", {scale, editor.vector_of(spread)})});
        }
        if (bias != ValueId::none) bias = editor.add("Mul", {bias, scale});
    }
    if (shift != ValueId::none) bias = bias == ValueId::none ? shift : editor.add("Add", {bias, shift});
    if (bias != ValueId::none) {
        inputs.resize(2);
        inputs.push_back(bias);
    }
    return editor.add(op, inputs, attributes);
}

}  // namespace viridian::rewrite
