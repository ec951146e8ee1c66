#pragma once
// Changes nodes of older operator sets to the newest meaning of their operators while a model is read. A rule
// applies to operator sets below its `before`. There is one file of rules per kind of change; upgrade.cpp
// runs them in order.
#include <span>

#include "viridian/graph/graph.hpp"

namespace viridian::onnx {

// An Upgrade is a node that is about to join `graph`, which already has its inputs. Rules may change the
// node and add helper nodes before it; the node itself always defines the outputs.
struct Upgrade {
    graph::Graph& graph;
    graph::Node& node;
    int opset;
    std::vector<std::string>& outputs;  // names; "" for an output that is left out

    // These return the type and the rank of input `i`, as far as they are known.
    [[nodiscard]] const graph::TensorType& input_type(std::size_t i) const;
    [[nodiscard]] std::optional<std::int64_t> input_rank(std::size_t i) const;
    // Sets input `i`; missing inputs before it are left out.
    void set_input(std::size_t i, graph::ValueId value);
    // These add a constant, which is named after the node and `suffix`.
    graph::ValueId constant(std::string_view suffix, graph::Tensor tensor);
    graph::ValueId integers(std::string_view suffix, const std::vector<std::int64_t>& values);
    // Adds a floating scalar of the element type of input `like`.
    graph::ValueId scalar_like(std::string_view suffix, std::size_t like, double value);
    // Adds a helper node before this one, and returns its output.
    graph::ValueId emit(graph::Operator op, std::vector<graph::ValueId> inputs,
                        graph::Attributes attributes = {});
    // Makes the list of attribute `key` a constant input `i`; does nothing if the node lacks the attribute.
    void attribute_to_input(std::string_view key, std::size_t i);
    void drop(std::string_view key) { node.attributes.erase(std::string(key)); }
    // Returns the error that says `what` of the node is not supported.
    [[nodiscard]] Error unsupported(std::string_view what) const;
};

// An UpgradeRule brings nodes of one operator from older operator sets up to date.
struct UpgradeRule {
    std::string_view op;
    int before;  // applies to operator sets below this one
    Result<void> (*apply)(Upgrade&);
};

[[nodiscard]] std::span<const UpgradeRule> axes_upgrades();           // upgrade_axes.cpp
[[nodiscard]] std::span<const UpgradeRule> argument_upgrades();       // upgrade_arguments.cpp
[[nodiscard]] std::span<const UpgradeRule> resize_upgrades();         // upgrade_resize.cpp
[[nodiscard]] std::span<const UpgradeRule> normalization_upgrades();  // upgrade_normalization.cpp
[[nodiscard]] std::span<const UpgradeRule> broadcast_upgrades();      // upgrade_broadcast.cpp
[[nodiscard]] std::span<const UpgradeRule> scan_upgrades();           // upgrade_scan.cpp

// Runs every rule that applies to the node, in order. Errors: unsupported, malformed.
[[nodiscard]] Result<void> upgrade(Upgrade& node);

}  // namespace viridian::onnx
