#include "viridian/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace viridian::graph {
namespace {

constexpr std::array<std::string_view, 4> phase_names = {"forward", "backward", "weight", "update"};
constexpr std::array<std::string_view, 6> role_names = {"parameter", "statistic", "moment",
                                                        "counter",   "scale",     "accumulator"};

template <class Enum, std::size_t count>
std::optional<Enum> parse(const std::array<std::string_view, count>& names, std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) return std::nullopt;
    return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view name_of(Phase phase) { return phase_names[static_cast<std::size_t>(phase)]; }
std::optional<Phase> parse_phase(std::string_view name) { return parse<Phase>(phase_names, name); }
std::string_view name_of(StateRole role) { return role_names[static_cast<std::size_t>(role)]; }
std::optional<StateRole> parse_state_role(std::string_view name) {
    return parse<StateRole>(role_names, name);
}

ValueId Graph::new_value(Value value) {
    if (!names_)
        names_ = std::make_shared<std::map<std::string, std::uint32_t, std::less<>>>();
    else if (names_.use_count() > 1)
        names_ = std::make_shared<std::map<std::string, std::uint32_t, std::less<>>>(*names_);
    if (value.name.empty()) value.name = "value";
    const std::string stem = value.name;
    for (auto [entry, fresh] = names_->try_emplace(stem, 0); !fresh;) {
        value.name = fmt::format("{}_{}", stem, ++entry->second);
        if (names_->try_emplace(value.name, 0).second) break;
    }
    values_.push_back(std::make_shared<const Value>(std::move(value)));
    return static_cast<ValueId>(values_.size() - 1);
}

ValueId Graph::add_input(std::string input_name, TensorType type) {
    Value value{
        .name = std::move(input_name), .kind = ValueKind::input, .type = std::move(type), .constant = {}};
    inputs_.push_back(new_value(std::move(value)));
    return inputs_.back();
}

ValueId Graph::add_state(std::string state_name, TensorType type, StateRole role, ValueId of) {
    Value value{
        .name = std::move(state_name), .kind = ValueKind::state, .type = std::move(type), .constant = {}};
    states_.push_back({new_value(std::move(value)), ValueId::none, role, of});
    return states_.back().before;
}

ValueId Graph::add_state(std::string state_name, Tensor first, StateRole role, ValueId of) {
    const ValueId state = add_state(std::move(state_name), first.tensor_type(), role, of);
    set_first_value(state, std::move(first));
    return state;
}

ValueId Graph::add_constant(std::string constant_name, Tensor tensor) {
    Value value{.name = std::move(constant_name),
                .kind = ValueKind::constant,
                .type = tensor.tensor_type(),
                .constant = std::move(tensor)};
    return new_value(std::move(value));
}

NodeId Graph::add_node(Node node, std::size_t output_count) {
    if (node.name.empty()) node.name = fmt::format("{}_{}", node.op, nodes_.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < output_count; ++i)
        names.push_back(output_count == 1 ? node.name : fmt::format("{}:{}", node.name, i));
    return add_node(std::move(node), names);
}

NodeId Graph::add_node(Node node, std::span<const std::string> output_names) {
    const auto id = static_cast<NodeId>(nodes_.size());
    if (node.name.empty()) node.name = fmt::format("{}_{}", node.op, index(id));
    if (node.origin.empty()) node.origin.push_back(node.name);
    node.outputs.clear();
    for (const std::string& output_name : output_names)
        node.outputs.push_back(
            output_name.empty()
                ? ValueId::none
                : new_value(Value{.name = output_name, .type = {}, .constant = {}, .producer = id}));
    nodes_.push_back(std::make_shared<const Node>(std::move(node)));
    return id;
}

ValueId Graph::add(Operator op, std::vector<ValueId> node_inputs, Attributes attributes,
                   std::string node_name) {
    Node node;
    node.op = std::move(op);
    node.name = std::move(node_name);
    node.inputs = std::move(node_inputs);
    node.attributes = std::move(attributes);
    return nodes_[index(add_node(std::move(node)))]->outputs[0];
}

void Graph::set_after(ValueId state, ValueId after) {
    for (State& entry : states_)
        if (entry.before == state) entry.after = after;
}

std::vector<NodeId> Graph::nodes() const {
    std::vector<NodeId> live;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i]) live.push_back(static_cast<NodeId>(i));
    return live;
}

const Node* Graph::producer(ValueId id) const {
    if (id == ValueId::none) return nullptr;
    const NodeId node_id = value(id).producer;
    return node_id == NodeId::none || !alive(node_id) ? nullptr : nodes_[index(node_id)].get();
}

const Tensor* Graph::constant(ValueId id) const {
    if (id == ValueId::none || value(id).kind != ValueKind::constant) return nullptr;
    return &value(id).constant;
}

const Tensor* Graph::first_value(ValueId state) const {
    if (state == ValueId::none || value(state).kind != ValueKind::state) return nullptr;
    const Tensor& first = value(state).constant;
    return first.type() == ElementType::undefined ? nullptr : &first;
}

void Graph::set_first_value(ValueId state, Tensor tensor) {
    Value changed = value(state);
    changed.constant = std::move(tensor);
    values_[index(state)] = std::make_shared<const Value>(std::move(changed));
}

void Graph::set_type(ValueId id, TensorType type) {
    Value changed = value(id);
    changed.type = std::move(type);
    values_[index(id)] = std::make_shared<const Value>(std::move(changed));
}

void Graph::set_name(ValueId id, std::string value_name) {
    Value changed = value(id);
    const ValueId fresh = new_value(Value{.name = std::move(value_name), .type = {}, .constant = {}});
    changed.name = value(fresh).name;
    values_.pop_back();
    values_[index(id)] = std::make_shared<const Value>(std::move(changed));
}

void Graph::set_node(NodeId id, Node node) {
    for (const ValueId output : node.outputs)
        if (output != ValueId::none && value(output).producer != id) {
            Value changed = value(output);
            changed.producer = id;
            changed.kind = ValueKind::intermediate;
            values_[index(output)] = std::make_shared<const Value>(std::move(changed));
        }
    nodes_[index(id)] = std::make_shared<const Node>(std::move(node));
}

ValueId Graph::add_output(NodeId id, std::size_t i, std::string output_name) {
    Node changed = node(id);
    if (changed.outputs.size() <= i) changed.outputs.resize(i + 1, ValueId::none);
    changed.outputs[i] =
        new_value(Value{.name = std::move(output_name), .type = {}, .constant = {}, .producer = id});
    const ValueId made = changed.outputs[i];
    nodes_[index(id)] = std::make_shared<const Node>(std::move(changed));
    return made;
}

void Graph::remove_node(NodeId id) { nodes_[index(id)] = nullptr; }

void Graph::replace_uses(ValueId from, ValueId to) {
    for (auto& pointer : nodes_) {
        if (!pointer ||
            std::find(pointer->inputs.begin(), pointer->inputs.end(), from) == pointer->inputs.end())
            continue;
        Node changed = *pointer;
        std::replace(changed.inputs.begin(), changed.inputs.end(), from, to);
        pointer = std::make_shared<const Node>(std::move(changed));
    }
    std::replace(outputs_.begin(), outputs_.end(), from, to);
    for (State& state : states_)
        if (state.after == from) state.after = to;
}

void Graph::make_constant(ValueId id, Tensor tensor) {
    Value changed = value(id);
    changed.kind = ValueKind::constant;
    changed.type = tensor.tensor_type();
    changed.constant = std::move(tensor);
    changed.producer = NodeId::none;
    values_[index(id)] = std::make_shared<const Value>(std::move(changed));
    std::erase(inputs_, id);
    std::erase_if(states_, [&](const State& state) { return state.before == id; });
    for (State& state : states_)
        if (state.of == id) state.of = ValueId::none;
}

std::vector<ValueId> run_inputs(const Graph& graph) {
    std::vector<ValueId> ids = graph.inputs();
    for (const State& state : graph.states()) ids.push_back(state.before);
    return ids;
}

std::vector<ValueId> run_outputs(const Graph& graph) {
    std::vector<ValueId> ids = graph.outputs();
    for (const State& state : graph.states()) ids.push_back(state.after);
    return ids;
}

void Graph::make_state(ValueId id, StateRole role, ValueId of) {
    invariant(value(id).kind == ValueKind::constant, "only constants become states");
    Value changed = value(id);
    changed.kind = ValueKind::state;
    values_[index(id)] = std::make_shared<const Value>(std::move(changed));
    states_.push_back({id, ValueId::none, role, of});
}

Uses uses(const Graph& graph) {
    Uses found;
    found.first_.resize(graph.value_count() + 1);
    found.outputs_.resize(graph.value_count());
    const std::vector<NodeId> nodes = graph.nodes();
    for (const NodeId id : nodes)
        for (const ValueId input : graph.node(id).inputs)
            if (input != ValueId::none) ++found.first_[index(input) + 1];
    std::partial_sum(found.first_.begin(), found.first_.end(), found.first_.begin());
    found.readers_.resize(found.first_.back());
    std::vector<std::size_t> next = found.first_;
    for (const NodeId id : nodes)
        for (const ValueId input : graph.node(id).inputs)
            if (input != ValueId::none) found.readers_[next[index(input)]++] = id;
    for (const ValueId output : graph.outputs())
        if (output != ValueId::none) ++found.outputs_[index(output)];
    for (const State& state : graph.states())
        if (state.after != ValueId::none) ++found.outputs_[index(state.after)];
    return found;
}

}  // namespace viridian::graph
