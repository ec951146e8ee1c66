#pragma once
// Which operators may read or write bf16 in a network that was f32, and which must not: the classes of
// mixed-precision training (TensorFlow's grappler lists, PyTorch's autocast), for bf16, by operator.
#include <functional>

#include "viridian/plan/choice.hpp"
#include "viridian/plan/region.hpp"

namespace viridian::plan {

enum class Safety : std::uint8_t {
    allow,  // contractions with f32 sums: safe, and where the time goes
    infer,  // one rounding per element: safe unless what they read was amplified by a denied operator
    clear,  // rounds nothing of its own: moves, selects, compares
    deny,   // amplifies relative errors, or counts: f32 only
};
[[nodiscard]] std::string_view name_of(Safety safety);

// By the one table in precision.cpp; operators that are not in it are denied.
[[nodiscard]] Safety bf16_safety(const graph::Node& node);

// The whole table, for pages and tests.
struct SafetyRow {
    std::string_view op;
    Safety safety;
    std::string_view reason;
};
[[nodiscard]] std::span<const SafetyRow> bf16_table();

// Nodes that must not read or write bf16 in this graph, by node slot: denied operators; inferred ones that a
// denied one's result reaches through inferred and clear operators alone; and clear ones between those.
[[nodiscard]] std::vector<bool> f32_nodes(const graph::Graph& graph);

// The choice stores a value that was f32 in bf16 where `must_not` holds for the node of the region that reads
// or writes it. Inside a region everything is f32.
[[nodiscard]] bool rounds_at(const graph::Graph& graph, const Region& region, const Choice& choice,
                             const std::function<bool(graph::NodeId)>& must_not);
[[nodiscard]] bool rounds_at(const graph::Graph& graph, const Region& region, const Choice& choice,
                             const std::vector<bool>& f32_nodes);

// Any port of the choice is bf16 where the value is not.
[[nodiscard]] bool rounds(const graph::Graph& graph, const Region& region, const Choice& choice);

}  // namespace viridian::plan
