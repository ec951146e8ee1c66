#include "viridian/rewrite/editor.hpp"

#include <algorithm>
#include <map>

#include "viridian/graph/infer.hpp"

namespace viridian::rewrite {
namespace {

// A Part says where in a training step a node belongs.
struct Part {
    Phase phase;
    std::string twin;
};

Part part_of(const Node& node) { return {node.phase, node.twin}; }

}  // namespace

Graph& Editor::draft() {
    if (!draft_) draft_ = before_;
    return *draft_;
}

const Node* Editor::producer(ValueId value, graph::KnownOperator op) const {
    const Node* node = before_.producer(value);
    return node != nullptr && node->op == op ? node : nullptr;
}

const Tensor* Editor::constant(ValueId value) const { return before_.constant(value); }

std::optional<double> Editor::scalar(ValueId value) const {
    const Tensor* tensor = constant(value);
    if (tensor == nullptr || tensor->count() != 1) return std::nullopt;
    return tensor->number(0);
}

bool Editor::is_number(ValueId value) const { return scalar(value) && rank(value) == 0; }

std::optional<Dims> Editor::integers(ValueId value) const {
    const Tensor* tensor = constant(value);
    if (tensor == nullptr || is_floating(tensor->type())) return std::nullopt;
    return tensor->integers();
}

bool Editor::fixed(ValueId value) const {
    if (value == ValueId::none) return false;
    if (constant(value) != nullptr) return true;
    const Node* node = before_.producer(value);
    return node != nullptr && !node->inputs.empty() && node->bodies.empty() &&
           std::all_of(node->inputs.begin(), node->inputs.end(),
                       [&](ValueId input) { return input == ValueId::none || fixed(input); });
}

std::optional<Dims> Editor::dims(ValueId value) const {
    if (value == ValueId::none || !before_.value(value).type.known()) return std::nullopt;
    return before_.value(value).type.dims();
}

std::optional<std::int64_t> Editor::rank(ValueId value) const {
    if (value == ValueId::none || !before_.value(value).type.shape) return std::nullopt;
    return static_cast<std::int64_t>(before_.value(value).type.shape->size());
}

bool Editor::same_type(ValueId a, ValueId b) const {
    const TensorType& type = before_.value(a).type;
    if (type.element == ElementType::undefined || !type.shape || type != before_.value(b).type) return false;
    return std::all_of(type.shape->begin(), type.shape->end(), [](const graph::Dimension& dimension) {
        return dimension.known() || !dimension.symbol().empty();
    });
}

std::span<const NodeId> Editor::readers(ValueId value) const { return uses_.readers(value); }

bool Editor::is_output(ValueId value) const { return uses_.outputs(value) > 0; }

bool Editor::replaceable(ValueId value, ValueId with) const {
    return !is_output(value) || (before_.producer(with) != nullptr && !is_output(with));
}

ValueId Editor::like(const Node& node, std::vector<ValueId> inputs) {
    Node fresh = node;
    fresh.inputs = std::move(inputs);
    fresh.name.clear();
    return add_node(std::move(fresh), 1)[0];
}

std::vector<ValueId> Editor::add_node(Node node, std::size_t outputs) {
    if (node.name.empty() && before_.alive(at_)) node.name = before_.node(at_).name;
    const NodeId id = draft().add_node(std::move(node), outputs);
    if (auto typed = infer_node_types(draft(), id); !typed.ok() && !failure_)
        failure_ = std::move(typed).error();
    return draft().node(id).outputs;
}

ValueId Editor::add(graph::Operator op, std::vector<ValueId> inputs, Attributes attributes) {
    Node node;
    node.op = std::move(op);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    return add_node(std::move(node), 1)[0];
}

ValueId Editor::constant(Tensor tensor) {
    const std::string name = before_.alive(at_) ? before_.node(at_).name + "/constant" : "constant";
    return draft().add_constant(name, std::move(tensor));
}

ValueId Editor::vector_of(const Dims& values) {
    return constant(Tensor::i64({static_cast<std::int64_t>(values.size())}, values));
}

ValueId Editor::scalar_like(ValueId value, double number) {
    const ElementType type = draft().value(value).type.element;
    const ValueId wide = constant(Tensor::of<double>(ElementType::f64, {}, std::span(&number, 1)));
    return type == ElementType::f64 ? wide : add("Cast", {wide}, {{"to", graph::onnx_code_of(type)}});
}

// If `value` is an output, the producer of `with` defines `value` itself, so that its name stays.
void Editor::replace(ValueId value, ValueId with) {
    Graph& graph = draft();
    if (before_.producer(value) != nullptr && graph.producer(with) != nullptr)
        taken_over_.emplace_back(graph.value(with).producer, before_.value(value).producer);
    if (!is_output(value)) {
        graph.replace_uses(value, with);
        return;
    }
    const NodeId old = graph.value(value).producer;
    const NodeId fresh = graph.value(with).producer;
    Node left = graph.node(old);
    std::replace(left.outputs.begin(), left.outputs.end(), value, ValueId::none);
    graph.set_node(old, std::move(left));
    Node taking = graph.node(fresh);
    std::replace(taking.outputs.begin(), taking.outputs.end(), with, value);
    const TensorType type = graph.value(with).type;
    graph.set_node(fresh, std::move(taking));
    graph.set_type(value, type);
    graph.replace_uses(with, value);
    if (heir_ == with) heir_ = value;
}

// Readers come before what they read in the first loop, and after it in the second.
void Editor::hand_on_phases(Graph& after) const {
    const std::vector<NodeId> old = before_.nodes();
    if (std::ranges::all_of(old, [&](NodeId id) { return before_.node(id).phase == Phase::forward; })) return;
    const auto order = topological_order(after);
    if (!order.ok()) return;  // verify() says so
    std::map<NodeId, Part> parts;
    const auto propose = [&](NodeId id, const Part& part) {
        const auto [entry, fresh] = parts.try_emplace(id, part);
        if (!fresh && part.phase < entry->second.phase) entry->second = part;
    };
    for (const auto& [taking, from] : taken_over_) {
        if (!after.alive(taking)) continue;
        if (before_.alive(taking)) propose(taking, part_of(before_.node(taking)));
        propose(taking, part_of(before_.node(from)));
    }
    const auto is_new = [&](NodeId id) {
        return index(id) >= before_.node_slots() && !(keep_origins_ && !after.node(id).origin.empty());
    };
    for (auto at = order->rbegin(); at != order->rend(); ++at) {
        if (!is_new(*at) && !parts.contains(*at)) continue;
        if (before_.alive(at_)) parts.try_emplace(*at, part_of(before_.node(at_)));
        if (!parts.contains(*at)) continue;
        for (const ValueId input : after.node(*at).inputs)
            if (after.producer(input) != nullptr && is_new(after.value(input).producer))
                propose(after.value(input).producer, parts.at(*at));
    }
    for (const NodeId id : *order) {
        const auto part = parts.find(id);
        if (part == parts.end()) continue;
        Node node = after.node(id);
        node.phase = part->second.phase;
        node.twin = part->second.twin;
        for (const ValueId input : node.inputs)
            if (const Node* read = after.producer(input); read != nullptr && read->phase > node.phase) {
                node.phase = read->phase;
                node.twin = read->twin;
            }
        after.set_node(id, std::move(node));
    }
}

Graph Editor::finish(std::vector<std::string>& removed) && {
    Graph after = std::move(draft());
    remove_dead_nodes(after);
    std::vector<std::string> origins;
    const auto collect = [&](const Node& node) {
        for (const std::string& name : node.origin)
            if (std::find(origins.begin(), origins.end(), name) == origins.end()) origins.push_back(name);
    };
    for (const NodeId id : before_.nodes())
        if (!after.alive(id)) {
            removed.push_back(before_.node(id).name);
            collect(before_.node(id));
        }
    if (keep_origins_) origins.clear();
    if (origins.empty() && before_.alive(at_)) collect(before_.node(at_));
    const auto hand_on = [&](NodeId id, bool keep) {
        Node node = after.node(id);
        std::vector<std::string> all = keep ? node.origin : std::vector<std::string>();
        for (const std::string& name : origins)
            if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
        node.origin = std::move(all);
        after.set_node(id, std::move(node));
    };
    for (std::size_t slot = before_.node_slots(); slot < after.node_slots(); ++slot)
        if (const auto id = static_cast<NodeId>(slot);
            after.alive(id) && !(keep_origins_ && !after.node(id).origin.empty()))
            hand_on(id, false);
    if (heir_ != ValueId::none && after.producer(heir_) != nullptr)
        hand_on(after.value(heir_).producer, true);
    hand_on_phases(after);
    return after;
}

}  // namespace viridian::rewrite
