#include "viridian/gradient/dropout.hpp"

#include "viridian/gradient/scalar.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"

namespace viridian::gradient {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;

// Whether a Dropout trains. Errors: unsupported, if only the run tells.
Result<bool> trains(const Graph& graph, const Node& node) {
    if (node.input(2) == ValueId::none) return false;
    const Tensor* mode = graph.constant(node.input(2));
    if (mode == nullptr || mode->count() != 1)
        return fail(ErrorCode::unsupported, "give it a constant training mode",
                    "the training mode of node `{}` (Dropout) is not a constant", node.name);
    return mode->integer(0) != 0;
}

// The types of a ratio that DropoutMask takes: f64, and f32 for all others.
ElementType ratio_type(ElementType given) {
    return given == ElementType::f64 ? ElementType::f64 : ElementType::f32;
}

// Builds the nodes that stand for one Dropout.
class Expansion {
  public:
    Expansion(Graph& graph, const Node& dropout)
        : graph_(graph), dropout_(dropout), type_(graph.value(dropout.inputs[0]).type) {}

    // The ratio in a type that DropoutMask takes.
    [[nodiscard]] ValueId ratio() {
        const ValueId given = dropout_.input(1);
        if (given == ValueId::none) return constant("/ratio", Tensor::scalar(0.5F));
        const ElementType element = graph_.value(given).type.element;
        const Tensor* known = graph_.constant(given);
        if (known != nullptr && (known->rank() != 0 || ratio_type(element) != element))
            return constant("/ratio", scalar_of(ratio_type(element), known->number(0)));
        if (ratio_type(element) == element) return given;
        return cast("/ratio", given, ElementType::f32);
    }

    [[nodiscard]] ValueId shape() {
        if (!type_.known()) return add(node(graph::op::Shape, "/shape", {dropout_.inputs[0]}));
        const graph::Dims dims = type_.dims();
        return constant("/shape", Tensor::i64({static_cast<std::int64_t>(dims.size())}, dims));
    }

    // 1 / (1 − ratio) in the type of x.
    [[nodiscard]] ValueId scale(ValueId ratio) {
        if (const Tensor* known = graph_.constant(ratio)) {
            const double kept = 1 - known->number(0);
            return constant("/scale", scalar_of(type_.element, kept > 0 ? 1 / kept : 1));
        }
        const ElementType element = ratio_type(graph_.value(dropout_.inputs[1]).type.element);
        const ValueId one = constant("/one", scalar_of(element, 1));
        const ValueId kept = add(node(graph::op::Sub, "/kept", {one, ratio}));
        const ValueId scale = add(node(graph::op::Div, "/scale", {one, kept}));
        return element == type_.element ? scale : cast("/scale_cast", scale, type_.element);
    }

    [[nodiscard]] ValueId constant(const char* part, Tensor tensor) {
        return graph_.add_constant(dropout_.name + part, std::move(tensor));
    }
    [[nodiscard]] Node node(graph::Operator op, const char* part, std::vector<ValueId> inputs) const {
        Node made = dropout_;  // it stands where the Dropout stood
        made.op = std::move(op);
        made.name = dropout_.name + part;
        made.inputs = std::move(inputs);
        made.attributes.clear();
        return made;
    }
    ValueId add(Node made) {
        added_.push_back(graph_.add_node(std::move(made)));
        return graph_.node(added_.back()).outputs[0];
    }
    // Infers the types of what was added.
    Result<void> infer() {
        for (const NodeId id : added_) VIRIDIAN_TRY(infer_node_types(graph_, id));
        return {};
    }
    ValueId cast(const char* part, ValueId x, ElementType type) {
        Node made = node(graph::op::Cast, part, {x});
        made.attributes = {{"to", onnx_code_of(type)}};
        return add(std::move(made));
    }

  private:
    Graph& graph_;
    const Node dropout_;
    const graph::TensorType type_;
    std::vector<NodeId> added_;
};

Result<void> refuse_in_bodies(const Graph& graph) {
    for (const NodeId id : graph.nodes()) {
        const Node& node = graph.node(id);
        if (node.op == graph::op::Dropout) {
            VIRIDIAN_TRY(const bool training, trains(graph, node));
            if (training)
                return fail(ErrorCode::unsupported, "move it out of the body, or export it for inference",
                            "node `{}` (Dropout) trains in the body of another node", node.name);
        }
        for (const auto& body : node.bodies) VIRIDIAN_TRY(refuse_in_bodies(*body));
    }
    return {};
}

}  // namespace

Result<void> expand_dropout(Graph& graph, NodeId id, const MaskInputs& inputs, std::int64_t stream) {
    const Node dropout = graph.node(id);
    VIRIDIAN_TRY(const bool training, trains(graph, dropout));
    invariant(training, "only a Dropout in training mode draws a mask");
    Expansion e(graph, dropout);
    const ValueId x = dropout.inputs[0], ratio = e.ratio();
    Node draw = e.node(graph::op::DropoutMask, "/mask",
                       {inputs.seed, inputs.step, inputs.first_sample, ratio, e.shape()});
    draw.attributes = {{"stream", stream}};
    ValueId mask = dropout.output(1);
    if (mask == ValueId::none) {
        mask = e.add(std::move(draw));
    } else {  // its readers and its name stay
        draw.outputs = {mask};
        const NodeId drawn = graph.add_node(draw, 0);
        graph.set_node(drawn, std::move(draw));
    }
    if (dropout.output(0) == ValueId::none) {
        graph.remove_node(id);
        return e.infer();
    }
    const ValueId scaled = e.add(e.node(graph::op::Mul, "/scaled", {x, e.scale(ratio)}));
    const ValueId zero = e.constant("/zero", scalar_of(graph.value(x).type.element, 0));
    Node choose = e.node(graph::op::Where, "", {mask, scaled, zero});
    choose.outputs = {dropout.outputs[0]};
    graph.set_node(id, std::move(choose));
    return e.infer();
}

Result<std::int64_t> expand_dropouts(Graph& graph, const MaskInputs& inputs) {
    std::int64_t stream = 0;
    for (const NodeId id : graph.nodes()) {
        const Node& node = graph.node(id);
        for (const auto& body : node.bodies) VIRIDIAN_TRY(refuse_in_bodies(*body));
        if (node.op != graph::op::Dropout) continue;
        VIRIDIAN_TRY(const bool training, trains(graph, node));
        if (training) VIRIDIAN_TRY(expand_dropout(graph, id, inputs, stream++));
    }
    return stream;
}

}  // namespace viridian::gradient
