#include "viridian/onnx/export/downgrade.hpp"

#include <algorithm>

#include "viridian/graph/operators/row.hpp"
#include "viridian/graph/types_of.hpp"

namespace viridian::onnx {
namespace {

using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::ValueId;

// One way in which the newest form of an operator differs from an older one.
struct Rule {
    std::string_view op;
    int since;                                 // operator sets from this one on have the newest form
    bool (*needs)(const Graph&, const Node&);  // the older form cannot say it
    void (*lower)(const Graph&, Node&);
};

bool given(const Node& node, std::size_t i) { return node.input(i) != ValueId::none; }

void input_to_attribute(const Graph& graph, Node& node, std::size_t i, const std::string& key) {
    node.attributes.erase(key);  // a stray attribute, which the older operator would obey
    if (given(node, i)) node.attributes[key] = graph.constant(node.inputs[i])->integers();
    node.inputs.resize(std::min(node.inputs.size(), i));
}

bool always(const Graph&, const Node&) { return true; }
bool never(const Graph&, const Node&) { return false; }
void keep(const Graph&, Node&) {}

// Reductions: axes were an attribute, and no axes always meant all.
bool free_axes(const Graph& graph, const Node& node) {
    const Tensor* axes = graph.constant(node.input(1));
    if (given(node, 1) && axes == nullptr) return true;
    return node.integer("noop_with_empty_axes", 0) != 0 && (axes == nullptr || axes->count() == 0);
}
void reduce_axes(const Graph& graph, Node& node) {
    if (const Tensor* axes = graph.constant(node.input(1)); axes != nullptr && axes->count() == 0)
        node.inputs.resize(1);
    input_to_attribute(graph, node, 1, "axes");
    node.attributes.erase("noop_with_empty_axes");
}
bool boolean_input(const Graph& graph, const Node& node) {
    return graph.value(node.inputs[0]).type.element == graph::ElementType::boolean;
}

bool half_input(const Graph& graph, const Node& node) {
    return graph::size_of(graph.value(node.inputs[0]).type.element) == 2;
}

// Split without sizes meant equal parts.
bool unequal_parts(const Graph& graph, const Node& node) {
    if (given(node, 1)) return false;
    const auto& shape = graph.value(node.inputs[0]).type.shape;
    if (!shape) return true;
    const auto axis =
        graph::normalize_axis(node.integer("axis", 0), static_cast<std::int64_t>(shape->size()));
    if (!axis.ok()) return true;
    const graph::Dimension& dimension = (*shape)[static_cast<std::size_t>(*axis)];
    return !dimension.known() ||
           dimension.value() % std::max<std::int64_t>(1, static_cast<std::int64_t>(node.outputs.size())) != 0;
}
void split_count(const Graph&, Node& node) { node.attributes.erase("num_outputs"); }

bool pad_axes(const Graph&, const Node& node) { return given(node, 3); }
bool pad_wrap(const Graph&, const Node& node) { return node.get("mode", std::string()) == "wrap"; }

bool resize_extras(const Graph&, const Node& node) {
    return node.has("axes") || node.integer("antialias", 0) != 0 ||
           node.get("keep_aspect_ratio_policy", std::string("stretch")) != "stretch";
}
void resize_defaults(const Graph&, Node& node) {
    node.attributes.erase("antialias");
    node.attributes.erase("keep_aspect_ratio_policy");
}
bool resize_symmetric(const Graph&, const Node& node) {
    return node.get("coordinate_transformation_mode", std::string()) == "half_pixel_symmetric";
}

bool dilated(const Graph&, const Node& node) {
    const auto dilations = node.get("dilations", std::vector<std::int64_t>{});
    return std::any_of(dilations.begin(), dilations.end(), [](std::int64_t d) { return d != 1; });
}
void drop_dilations(const Graph&, Node& node) { node.attributes.erase("dilations"); }

bool volumetric(const Graph& graph, const Node& node) {
    const auto& shape = graph.value(node.inputs[0]).type.shape;
    return !shape || shape->size() != 4;
}
void grid_modes(const Graph&, Node& node) {
    const auto mode = node.get("mode", std::string("linear"));
    node.attributes["mode"] = mode == "linear"  ? std::string("bilinear")
                              : mode == "cubic" ? std::string("bicubic")
                                                : mode;
}

bool free_transform_axis(const Graph& graph, const Node& node) {
    return given(node, 2) && graph.constant(node.input(2)) == nullptr;
}
void transform_axis(const Graph& graph, Node& node) {
    node.attributes["axis"] = given(node, 2) ? graph.constant(node.inputs[2])->integer(0) : std::int64_t{-2};
    node.inputs.resize(std::min<std::size_t>(node.inputs.size(), 2));
}

bool extremal_scatter(const Graph&, const Node& node) {
    const auto reduction = node.get("reduction", std::string());
    return reduction == "max" || reduction == "min";
}

void drop_saturate(const Graph&, Node& node) { node.attributes.erase("saturate"); }
bool half_scale(const Graph& graph, const Node& node) {
    return given(node, 1) && graph::size_of(graph.value(node.inputs[1]).type.element) == 2;
}
bool block_quantized(const Graph& graph, const Node& node) {
    const auto wide = [&](std::size_t i) {
        return given(node, i) && graph::size_of(graph.value(node.inputs[i]).type.element) == 2 &&
               !graph::is_floating(graph.value(node.inputs[i]).type.element);
    };
    return node.integer("block_size", 0) != 0 || node.integer("output_dtype", 0) != 0 || wide(0) || wide(2);
}
void drop_block(const Graph&, Node& node) {
    node.attributes.erase("block_size");
    node.attributes.erase("output_dtype");
}

constexpr Rule downgrade_rules[] = {
    {"ReduceMean", 18, free_axes, reduce_axes},
    {"ReduceMax", 18, free_axes, reduce_axes},
    {"ReduceMin", 18, free_axes, reduce_axes},
    {"ReduceProd", 18, free_axes, reduce_axes},
    {"ReduceL1", 18, free_axes, reduce_axes},
    {"ReduceL2", 18, free_axes, reduce_axes},
    {"ReduceLogSum", 18, free_axes, reduce_axes},
    {"ReduceLogSumExp", 18, free_axes, reduce_axes},
    {"ReduceSumSquare", 18, free_axes, reduce_axes},
    {"ReduceMax", 20, boolean_input, keep},
    {"ReduceMin", 20, boolean_input, keep},
    {"IsInf", 20, half_input, keep},
    {"Split", 18, unequal_parts, split_count},
    {"Pad", 18, pad_axes, keep},
    {"Pad", 19, pad_wrap, keep},
    {"Resize", 18, resize_extras, resize_defaults},
    {"Resize", 19, resize_symmetric, keep},
    {"ScatterElements", 18, extremal_scatter, keep},
    {"ScatterND", 18, extremal_scatter, keep},
    {"AveragePool", 19, dilated, drop_dilations},
    {"LpPool", 18, dilated, drop_dilations},
    {"Cast", 19, never, drop_saturate},
    {"CastLike", 19, never, drop_saturate},
    {"QuantizeLinear", 19, never, drop_saturate},
    {"QuantizeLinear", 21, block_quantized, drop_block},
    {"DequantizeLinear", 21, block_quantized, drop_block},
    {"QLinearMatMul", 21, half_scale, keep},
    {"GridSample", 20, volumetric, grid_modes},
    {"DFT", 20, free_transform_axis, transform_axis},
    {"GroupNormalization", 21, always, keep},
};

// x·Sigmoid(alpha·x): what readers of every operator set know.
std::shared_ptr<const Graph> swish_meaning(const Graph& graph, const Node& node) {
    Graph body;
    body.name = "swish";
    const graph::TensorType& type = graph.value(node.inputs[0]).type;
    const ValueId x = body.add_input("x", type);
    ValueId inner = x;
    if (const double alpha = node.get("alpha", 1.0); alpha != 1) {
        ValueId factor =
            body.add_constant("alpha", Tensor::of<double>(graph::ElementType::f64, {}, std::span(&alpha, 1)));
        if (type.element != graph::ElementType::f64)
            factor = body.add(graph::op::Cast, {factor}, {{"to", graph::onnx_code_of(type.element)}});
        inner = body.add(graph::op::Mul, {x, factor});
    }
    body.set_outputs({body.add(graph::op::Mul, {x, body.add(graph::op::Sigmoid, {inner})})});
    return std::make_shared<const Graph>(std::move(body));
}

}  // namespace

int needed_opset(const Graph& graph, const Node& node) {
    int opset = oldest_written_opset;
    const graph::OperatorRow* row = find_operator(node);
    if (row != nullptr && row->meaning != nullptr) return row->sets.any;
    if (!node.op.domain().empty()) return opset;
    if (row != nullptr) opset = row->sets.any;
    for (const Rule& rule : downgrade_rules)
        if (rule.op == node.op.name() && opset < rule.since && rule.needs(graph, node)) opset = rule.since;
    const bool bf16 = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
        return id != ValueId::none && graph.value(id).type.element == graph::ElementType::bf16;
    });
    if (bf16 && row != nullptr && row->sets.bf16 != graph::no_operator_set)
        opset = std::max(opset, row->sets.bf16);
    return opset;
}

void downgrade(const Graph& graph, Node& node, int opset) {
    if (const graph::OperatorRow* row = find_operator(node); row != nullptr && row->meaning != nullptr)
        node.bodies = {row->meaning(node, types_of(graph, node.inputs))};
    if (!node.op.domain().empty()) return;
    if (node.op == graph::op::Swish && opset < 24) node.bodies = {swish_meaning(graph, node)};
    for (const Rule& rule : downgrade_rules)
        if (rule.op == node.op.name() && opset < rule.since) rule.lower(graph, node);
}

int ir_version_of(int opset) {
    if (opset <= 18) return 8;
    if (opset <= 20) return 9;
    if (opset <= 22) return 10;
    if (opset == 23) return 11;
    return opset == 24 ? 12 : 13;
}

}  // namespace viridian::onnx
