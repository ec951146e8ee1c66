#include "viridian/plan/with_casts.hpp"

#include <algorithm>

#include "viridian/plan/precision.hpp"

namespace viridian::plan {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;

constexpr std::int64_t onnx_float = 1, onnx_bfloat16 = 16;

// Floating inputs that are parameters, not data: they keep their type.
bool keeps_type(const Node& node, std::size_t input) {
    if (node.op == graph::op::Resize || node.op == graph::op::Dropout) return input > 0;
    return node.op == graph::op::BatchNormalization && input > 0;
}

// Operators whose ONNX schema has no bf16 at any operator set.
bool never_bf16(const Node& node) {
    const graph::OperatorRow* row = find_operator(node);
    return row == nullptr || row->sets.bf16 == graph::no_operator_set;
}

Tensor rounded(const Tensor& tensor) {
    Tensor out(ElementType::bf16, tensor.dims());
    const auto from = tensor.values<float>();
    const auto to = out.mutable_values<std::uint16_t>();
    std::ranges::transform(from, to.begin(), graph::to_bfloat16);
    return out;
}

enum class Low { operators, weights };  // what is typed bf16

// Every value of the old graph in the new one, in f32 and, once it is wanted, in bf16.
class Rewriter {
  public:
    Rewriter(const Graph& graph, std::vector<bool> bf16, Low low)
        : graph_(graph), bf16_(std::move(bf16)), low_(low) {
        made_.resize(graph.value_count(), {ValueId::none, ValueId::none, ValueId::none});
        out_.name = graph.name;
    }

    Result<Graph> run() {
        for (const ValueId id : graph_.inputs())
            made_[index(id)].exact = out_.add_input(graph_.value(id).name, graph_.value(id).type);
        out_.metadata = graph_.metadata;
        for (const graph::State& state : graph_.states()) {
            const ValueId of = state.of == ValueId::none ? ValueId::none : made_[index(state.of)].exact;
            const graph::Value& before = graph_.value(state.before);
            made_[index(state.before)].exact = out_.add_state(before.name, before.type, state.role, of);
            if (const Tensor* first = graph_.first_value(state.before))
                out_.set_first_value(made_[index(state.before)].exact, *first);
        }
        VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph_));
        for (const NodeId id : order) add(id);
        for (const graph::State& state : graph_.states())
            out_.set_after(made_[index(state.before)].exact, exact(state.after));
        std::vector<ValueId> outputs;
        for (const ValueId id : graph_.outputs()) outputs.push_back(exact(id));
        out_.set_outputs(std::move(outputs));
        return std::move(out_);
    }

  private:
    struct Pair {
        ValueId exact, low, widened;  // widened: stored in bf16, read in f32
    };

    void add(NodeId id) {
        Node node = graph_.node(id);
        const bool low = bf16_[index(id)] && low_ == Low::operators;
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            if (node.inputs[i] == ValueId::none) continue;
            const bool wants_low =
                low && graph_.value(node.inputs[i]).type.element == ElementType::f32 && !keeps_type(node, i);
            const bool stored = bf16_[index(id)] && low_ == Low::weights && is_weight(node.inputs[i]);
            node.inputs[i] = wants_low ? in_bf16(node.inputs[i])
                             : stored  ? widened(node.inputs[i])
                                       : exact(node.inputs[i]);
        }
        const std::vector<ValueId> outputs = node.outputs;
        std::vector<std::string> names;
        for (const ValueId output : outputs) {
            const bool typed = low && output != ValueId::none && is_f32(output);
            names.push_back(output == ValueId::none ? ""
                                                    : graph_.value(output).name + (typed ? ".bf16" : ""));
        }
        const NodeId added = out_.add_node(std::move(node), names);
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (outputs[i] == ValueId::none) continue;
            const ValueId made = out_.node(added).outputs[i];
            graph::TensorType type = graph_.value(outputs[i]).type;
            if (low && is_f32(outputs[i])) {
                type.element = ElementType::bf16;
                made_[index(outputs[i])].low = made;
            } else {
                made_[index(outputs[i])].exact = made;
            }
            out_.set_type(made, std::move(type));
        }
    }

    ValueId exact(ValueId id) {
        ValueId& made = made_[index(id)].exact;
        if (made != ValueId::none) return made;
        if (const Tensor* constant = graph_.constant(id))
            return made = out_.add_constant(graph_.value(id).name, *constant);
        return made = cast(made_[index(id)].low, onnx_float, graph_.value(id).name, graph_.value(id).type);
    }

    ValueId in_bf16(ValueId id) {
        ValueId& made = made_[index(id)].low;
        if (made != ValueId::none) return made;
        const std::string name = graph_.value(id).name + ".bf16";
        if (const Tensor* constant = graph_.constant(id))
            return made = out_.add_constant(name, rounded(*constant));
        graph::TensorType type = graph_.value(id).type;
        type.element = ElementType::bf16;
        return made = cast(exact(id), onnx_bfloat16, name, std::move(type));
    }

    ValueId widened(ValueId id) {
        ValueId& made = made_[index(id)].widened;
        if (made != ValueId::none) return made;
        return made = cast(in_bf16(id), onnx_float, graph_.value(id).name + ".f32", graph_.value(id).type);
    }

    ValueId cast(ValueId from, std::int64_t to, const std::string& name, graph::TensorType type) {
        Node node;
        node.op = graph::op::Cast;
        node.name = name + ".cast";
        node.inputs = {from};
        node.attributes = {{"to", to}};
        const std::vector<std::string> names = {name};
        const ValueId made = out_.node(out_.add_node(std::move(node), names)).outputs[0];
        out_.set_type(made, std::move(type));
        return made;
    }

    [[nodiscard]] bool is_f32(ValueId id) const { return graph_.value(id).type.element == ElementType::f32; }
    [[nodiscard]] bool is_weight(ValueId id) const {
        const Tensor* constant = graph_.constant(id);
        return constant != nullptr && is_f32(id) && constant->dims().size() >= 2;
    }

    const Graph& graph_;
    std::vector<bool> bf16_;  // by node slot: its kernel reads bf16
    Low low_;
    std::vector<Pair> made_;
    Graph out_;
};

// A region's nodes are typed bf16 where it reads bf16: its kernel rounds there, and at its end.
std::vector<bool> typed_bf16(const Graph& graph, const Assignment& assignment) {
    std::vector<bool> typed(graph.node_slots());
    for (const AssignedRegion& assigned : assignment.regions) {
        bool reads = false;
        for (std::size_t i = 0; i < assigned.region.inputs.size(); ++i)
            reads = reads || (assigned.choice.inputs[i].element == ElementType::bf16 &&
                              graph.value(assigned.region.inputs[i]).type.element == ElementType::f32);
        if (!reads) continue;
        for (const NodeId id : assigned.region.nodes)
            typed[index(id)] = bf16_safety(graph.node(id)) != Safety::deny && !never_bf16(graph.node(id));
    }
    return typed;
}

Result<Graph> lowered(const Graph& graph, const Assignment& assignment, Low low) {
    std::vector<bool> typed = typed_bf16(graph, assignment);
    if (std::ranges::none_of(typed, [](bool bf16) { return bf16; })) return graph;
    return Rewriter(graph, std::move(typed), low).run();
}

}  // namespace

Result<Graph> with_casts(const Graph& graph, const Assignment& assignment) {
    return lowered(graph, assignment, Low::operators);
}

Result<Graph> with_weights_cast(const Graph& graph, const Assignment& assignment) {
    return lowered(graph, assignment, Low::weights);
}

std::size_t count_casts(const Graph& graph) {
    std::size_t casts = 0;
    for (const NodeId id : graph.nodes()) {
        const Node& node = graph.node(id);
        if (node.op != graph::op::Cast) continue;
        const ElementType from = graph.value(node.inputs[0]).type.element;
        const ElementType to = graph.value(node.outputs[0]).type.element;
        casts += (from == ElementType::f32 && to == ElementType::bf16) ||
                         (from == ElementType::bf16 && to == ElementType::f32)
                     ? 1
                     : 0;
    }
    return casts;
}

}  // namespace viridian::plan
