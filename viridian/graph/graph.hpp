#pragma once
// The network, in static single assignment: nodes read values and define new ones; nothing else happens.
// Operators have one meaning, that of the newest ONNX opset; importers bring older models to it. Control flow
// and functions are nodes with bodies, which see nothing but their explicit inputs. Copying is cheap: nodes,
// values and tensors are shared until written.
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "viridian/graph/tensor.hpp"

namespace viridian::graph {

class Graph;

enum class ValueId : std::uint32_t { none = 0xffffffffU };  // `none`: an input or output that is left out
enum class NodeId : std::uint32_t { none = 0xffffffffU };
[[nodiscard]] constexpr std::size_t index(ValueId id) { return static_cast<std::size_t>(id); }
[[nodiscard]] constexpr std::size_t index(NodeId id) { return static_cast<std::size_t>(id); }

enum class ValueKind : std::uint8_t { input, constant, state, intermediate };

struct Value {
    std::string name;  // unique in its graph
    ValueKind kind = ValueKind::intermediate;
    TensorType type;
    Tensor constant;                 // kind constant only
    NodeId producer = NodeId::none;  // kind intermediate only
};

using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

struct Node {
    std::string op;      // "Conv"; row in graph/operators
    std::string domain;  // "" is ai.onnx
    std::string name;
    std::vector<ValueId> inputs;   // may hold `none`
    std::vector<ValueId> outputs;  // may hold `none`
    Attributes attributes;
    std::vector<std::shared_ptr<const Graph>>
        bodies;                       // If: then, else. Loop, Scan: body. Fused or function: its meaning
    std::vector<std::string> origin;  // qualified names this came from; every rewrite keeps them

    // Attribute access with ONNX's defaults at the call: node.get("axis", std::int64_t{1}).
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

// An input whose final value comes out again and may share its memory: weights, running statistics, moments.
struct State {
    ValueId before;
    ValueId after;
};

class Graph {
  public:
    std::string name;

    // --- building; names are made unique by a suffix where they clash
    ValueId add_input(std::string name, TensorType type);
    ValueId add_state(std::string name, TensorType type);  // set what follows it by set_after
    ValueId add_constant(std::string name, Tensor tensor);
    // Appends `node`, whose outputs are ignored, and defines `output_count` new values named after it.
    NodeId add_node(Node node, std::size_t output_count = 1);
    // The same with names of its own for the outputs; an empty name leaves that output out.
    NodeId add_node(Node node, std::span<const std::string> output_names);
    // Shorthand for the common node: one output, returned.
    ValueId add(std::string op, std::vector<ValueId> inputs, Attributes attributes = {},
                std::string name = {});
    void set_outputs(std::vector<ValueId> outputs) { outputs_ = std::move(outputs); }
    void set_after(ValueId state, ValueId after);

    // --- reading
    [[nodiscard]] const std::vector<ValueId>& inputs() const { return inputs_; }  // of kind input, in order
    [[nodiscard]] const std::vector<ValueId>& outputs() const { return outputs_; }
    [[nodiscard]] const std::vector<State>& states() const { return states_; }
    [[nodiscard]] const Value& value(ValueId id) const { return *values_[index(id)]; }
    [[nodiscard]] const Node& node(NodeId id) const { return *nodes_[index(id)]; }
    [[nodiscard]] bool alive(NodeId id) const {
        return index(id) < nodes_.size() && nodes_[index(id)] != nullptr;
    }
    [[nodiscard]] std::size_t value_count() const {
        return values_.size();
    }  // ids below this; some may be unused
    [[nodiscard]] std::size_t node_slots() const {
        return nodes_.size();
    }  // ids below this; some may be dead
    [[nodiscard]] std::vector<NodeId> nodes() const;       // live, ascending
    [[nodiscard]] const Node* producer(ValueId id) const;  // null for inputs, constants, none
    // The constant behind `id`, or null.
    [[nodiscard]] const Tensor* constant(ValueId id) const;

    // --- editing
    void set_type(ValueId id, TensorType type);
    void set_name(ValueId id, std::string name);
    void set_node(NodeId id, Node node);          // keeps the output values that `node` names
    void remove_node(NodeId id);                  // its outputs must have no uses
    void replace_uses(ValueId from, ValueId to);  // in nodes, outputs and states
    // Turns an input (or an intermediate without a live producer) into a constant.
    void make_constant(ValueId id, Tensor tensor);

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

// Who reads each value, by ValueId; graph outputs and states are counted apart.
struct Uses {
    std::vector<std::vector<NodeId>> readers;  // ascending, a node once per input slot
    std::vector<int> outputs;                  // how often the value is a graph output or state result
    [[nodiscard]] std::size_t count(ValueId id) const {
        return readers[index(id)].size() + static_cast<std::size_t>(outputs[index(id)]);
    }
};
[[nodiscard]] Uses uses(const Graph& graph);

// Producers before readers, smallest id first where free: deterministic. Errors: malformed for a cycle.
[[nodiscard]] Result<std::vector<NodeId>> topological_order(const Graph& graph);

// Independent of numbering, names and origin; constants by content. Equal graphs hash equal.
[[nodiscard]] std::uint64_t structural_hash(const Graph& graph);

// Drops nodes that no output or state needs; renumbers nothing.
void remove_dead_nodes(Graph& graph);

}  // namespace viridian::graph
