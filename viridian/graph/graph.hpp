#pragma once
// A Graph is a network in static single assignment: nodes read values and define new ones, without other
// effects. An operator has one meaning, that of the newest ONNX operator set; the importer upgrades older
// models. Control flow and functions are nodes with bodies, which see only their explicit inputs. Copying a
// graph is cheap, because copies share nodes, values and tensors until one of them is written.
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viridian/graph/operator.hpp"
#include "viridian/graph/operators/names.hpp"
#include "viridian/graph/tensor.hpp"

namespace viridian::graph {

class Graph;

enum class ValueId : std::uint32_t { none = 0xffffffffU };  // `none`: an absent input or output
enum class NodeId : std::uint32_t { none = 0xffffffffU };
[[nodiscard]] constexpr std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }
[[nodiscard]] constexpr std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

enum class ValueKind : std::uint8_t { input, constant, state, intermediate };

// A Value is one edge of the network: an input, a constant, a state, or the output of a node.
struct Value {
    std::string name;  // unique in its graph
    ValueKind kind = ValueKind::intermediate;
    TensorType type;
    Tensor constant;                 // of a constant; of a state its first value, if it has one
    NodeId producer = NodeId::none;  // kind intermediate only
};

// An Attribute is a setting of a node, as ONNX has it.
using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

// A Phase says to which part of a training step a node belongs: the loss (forward), gradients of activations
// (backward), gradients of parameters (weight), and the new states (update). A graph that only infers is all
// forward.
enum class Phase : std::uint8_t { forward, backward, weight, update };
[[nodiscard]] std::string_view name_of(Phase phase);
[[nodiscard]] std::optional<Phase> parse_phase(std::string_view name);

// A Node applies an operator to its inputs.
struct Node {
    Operator op;
    std::string name;
    std::vector<ValueId> inputs;   // may hold `none`
    std::vector<ValueId> outputs;  // may hold `none`
    Attributes attributes;
    std::vector<std::shared_ptr<const Graph>>
        bodies;                       // If: then, else. Loop, Scan: body. Fused or function: its meaning
    std::vector<std::string> origin;  // names of the nodes that the user's model had here; rewrites keep them
    Phase phase = Phase::forward;
    std::string twin = {};  // the first origin of the forward node that this one belongs to; empty if forward

    // Returns the attribute `key`, or `otherwise` if it is absent or has another type:
    // node.get("axis", std::int64_t{1}).
    template <class T>
    [[nodiscard]] T get(std::string_view key, const T& otherwise) const {
        const auto found = attributes.find(key);
        const T* value = found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
        return value == nullptr ? otherwise : *value;
    }
    [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t otherwise) const {
        return get(key, otherwise);
    }
    [[nodiscard]] bool has(std::string_view key) const { return attributes.find(key) != attributes.end(); }
    [[nodiscard]] ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : ValueId::none; }
    [[nodiscard]] ValueId output(std::size_t i) const {
        return i < outputs.size() ? outputs[i] : ValueId::none;
    }
};

// A training step may compute a node of its forward part a second time, in its backward part, so that the
// first result need not be kept (gradient/memory/). The second node has this in its name.
inline constexpr std::string_view again_mark = ".again";
[[nodiscard]] inline bool is_computed_again(const Node& node) {
    return node.phase == Phase::backward && node.name.find(again_mark) != std::string::npos;
}

// A StateRole says what a state is for: a trained tensor, a running statistic, what an optimiser remembers
// of a parameter, a count of steps, a loss scale, or a sum of gradients over micro-batches.
enum class StateRole : std::uint8_t { parameter, statistic, moment, counter, scale, accumulator };
[[nodiscard]] std::string_view name_of(StateRole role);
[[nodiscard]] std::optional<StateRole> parse_state_role(std::string_view name);

// A State is a value that one run of the graph hands to the next: the run reads `before` and computes
// `after`, which has the same type and may share its memory.
struct State {
    ValueId before;
    ValueId after;  // none until set_after()
    StateRole role = StateRole::parameter;
    ValueId of = ValueId::none;  // the `before` of the parameter that a moment or accumulator belongs to
};

class Graph {
  public:
    std::string name;
    // What the model's file says beside the network, by key. Rewrites keep it, and the ONNX writer hands it
    // on.
    std::map<std::string, std::string, std::less<>> metadata;

    // --- building; a name that is taken gets a suffix
    ValueId add_input(std::string name, TensorType type);
    // Adds a state, either with the value that it has before the first run, or with a type alone; then the
    // caller of the graph has to give that value. set_after() names its final value.
    ValueId add_state(std::string name, Tensor first, StateRole role = StateRole::parameter,
                      ValueId of = ValueId::none);
    ValueId add_state(std::string name, TensorType type, StateRole role = StateRole::parameter,
                      ValueId of = ValueId::none);
    ValueId add_constant(std::string name, Tensor tensor);
    // Appends `node`, ignoring its outputs, and defines `output_count` new values that are named after it.
    NodeId add_node(Node node, std::size_t output_count = 1);
    // Does the same with a name for each output; an output with an empty name is absent.
    NodeId add_node(Node node, std::span<const std::string> output_names);
    // Adds a node with one output, and returns that output.
    ValueId add(Operator op, std::vector<ValueId> inputs, Attributes attributes = {}, std::string name = {});
    void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }
    // Makes `after` the final value of `state`.
    void set_after(ValueId state, ValueId after);

    // --- reading
    [[nodiscard]] const std::vector<ValueId>& inputs() const { return inputs_; }  // in order, without states
    [[nodiscard]] const std::vector<ValueId>& outputs() const { return outputs_; }
    [[nodiscard]] const std::vector<State>& states() const { return states_; }
    [[nodiscard]] const Value& value(ValueId id) const { return *values_[index(id)]; }
    [[nodiscard]] const Node& node(NodeId id) const { return *nodes_[index(id)]; }
    // Returns whether `id` names a node that was not removed.
    [[nodiscard]] bool alive(NodeId id) const {
        return index(id) < nodes_.size() && nodes_[index(id)] != nullptr;
    }
    [[nodiscard]] std::size_t value_count() const {
        return values_.size();
    }  // all ids are below this; some may be unused
    [[nodiscard]] std::size_t node_slots() const {
        return nodes_.size();
    }  // all ids are below this; some may be removed
    [[nodiscard]] std::vector<NodeId> nodes() const;       // those not removed, ascending
    [[nodiscard]] const Node* producer(ValueId id) const;  // null for inputs, constants, none
    // Returns the tensor of a constant; null for other values and for none.
    [[nodiscard]] const Tensor* constant(ValueId id) const;
    // Returns the value that a state has before the first run. Null for a state that has none, for other
    // values and for none. It is no constant: the next run has another value.
    [[nodiscard]] const Tensor* first_value(ValueId state) const;

    // --- editing
    void set_type(ValueId id, TensorType type);
    void set_first_value(ValueId state, Tensor tensor);  // of the state's type
    void set_name(ValueId id, std::string name);
    // Replaces node `id`. Unlike add_node, it takes over `node.outputs`, and makes `id` the producer of each.
    void set_node(NodeId id, Node node);
    // Gives node `id` the output number `i`, which it does not have yet, and names it `name`.
    ValueId add_output(NodeId id, std::size_t i, std::string name);
    void remove_node(NodeId id);                  // its outputs must have no uses
    void replace_uses(ValueId from, ValueId to);  // in nodes, outputs and states
    // Turns an input, or an intermediate whose producer was removed, into a constant.
    void make_constant(ValueId id, Tensor tensor);
    // Turns a constant into a state, whose first value it becomes.
    void make_state(ValueId id, StateRole role, ValueId of = ValueId::none);

  private:
    ValueId new_value(Value value);

    std::vector<std::shared_ptr<const Value>> values_;
    std::vector<std::shared_ptr<const Node>> nodes_;
    std::vector<ValueId> inputs_;
    std::vector<ValueId> outputs_;
    std::vector<State> states_;
    std::shared_ptr<std::map<std::string, std::uint32_t, std::less<>>>
        names_;  // name → next suffix; copy on write
};

// Returns what a run of `graph` takes, in order: its inputs, then the values of its states before the run.
[[nodiscard]] std::vector<ValueId> run_inputs(const Graph& graph);
// Returns what a run of `graph` gives, in order: its outputs, then the values of its states after the run.
[[nodiscard]] std::vector<ValueId> run_outputs(const Graph& graph);

// A Uses lists the readers of each value of a graph.
class Uses {
  public:
    // Returns the readers of a value, ascending. A node appears once for each input that is the value.
    [[nodiscard]] std::span<const NodeId> readers(ValueId id) const& {
        return std::span(readers_).subspan(first_[index(id)], first_[index(id) + 1] - first_[index(id)]);
    }
    std::span<const NodeId> readers(ValueId id) && = delete;  // the span would outlive what it points into
    // Returns how often a value is a graph output or the final value of a state.
    [[nodiscard]] int outputs(ValueId id) const { return outputs_[index(id)]; }
    // Returns how often a value is read, or is an output or the final value of a state.
    [[nodiscard]] std::size_t count(ValueId id) const {
        return readers(id).size() + static_cast<std::size_t>(outputs(id));
    }
    [[nodiscard]] std::size_t value_count() const { return outputs_.size(); }

  private:
    friend Uses uses(const Graph& graph);
    std::vector<NodeId> readers_;     // of all values, one after the other: compressed sparse rows
    std::vector<std::size_t> first_;  // where those of each value begin, and where the last ones end
    std::vector<int> outputs_;
};
[[nodiscard]] Uses uses(const Graph& graph);

// Returns the nodes with producers before readers. Among nodes that are ready, the smallest id comes first.
// Errors: malformed (a cycle).
[[nodiscard]] Result<std::vector<NodeId>> topological_order(const Graph& graph);

// Returns a hash that does not depend on numbering, names, origins, phases, and roles and first values of
// states; 0 if an output depends on itself. Constants enter by content. Equal graphs have equal hashes.
[[nodiscard]] std::uint64_t structural_hash(const Graph& graph);

// Removes the nodes that no output or state needs. Ids stay the same.
void remove_dead_nodes(Graph& graph);

}  // namespace viridian::graph
