#pragma once
// A plan: an ordered list of steps over a table of buffers. Plain data, where planner and executor meet
// without knowing each other. The graph it belongs to is told by its structural hash.
#include "viridian/base/energy.hpp"
#include "viridian/plan/assignment.hpp"

namespace viridian::plan {

using BufferId = std::uint32_t;

struct Buffer {
    graph::ValueId value = graph::ValueId::none;
    Format format;
    graph::Dims dims;
    // A view of another buffer, `view_offset` bytes into it; a buffer is its own root otherwise.
    std::optional<BufferId> view_of;
    std::int64_t view_offset = 0;
    // Roots only. Graph inputs and outputs lie outside the arena.
    bool external = false;
    std::int64_t bytes = 0;
    std::int64_t arena_offset = 0;
};

struct Step {
    enum class Kind : std::uint8_t { kernel, conversion } kind = Kind::kernel;
    Region region;                  // kernel
    Choice choice;                  // kernel
    std::vector<BufferId> inputs;   // kernel: per region input; conversion: one
    std::vector<BufferId> outputs;  // kernel: per region output; conversion: one
};

struct Plan {
    std::vector<Step> steps;  // views and in-place concatenations have none
    std::vector<Buffer> buffers;
    std::vector<BufferId> inputs;   // per graph input, plain layout
    std::vector<BufferId> outputs;  // per graph output, plain layout; no step writes a constant
    std::int64_t arena_bytes = 0;
    std::int64_t workspace_bytes = 0;  // the largest of any step

    std::uint64_t graph_hash = 0;
    std::string device;   // fingerprint of the device the costs were measured on
    std::string library;  // kernel library and version
    int threads = 1;
    Seconds predicted_seconds;
    Energy predicted_energy;
    Assignment assignment;  // what the steps came from
};

// Lays out steps and buffers for an assignment: execution order, views, in-place concatenations, overwriting,
// one arena from lifetimes. Errors: broken_invariant when the assignment does not cover the graph or formats
// do not meet.
[[nodiscard]] Result<Plan> make_plan(const graph::Graph& graph, Assignment assignment);

// The sidecar: regions by node names, so that it can be matched to the graph again after a round trip through
// ONNX.
[[nodiscard]] Json to_json(const graph::Graph& graph, const Plan& plan);
// Errors: mismatch when the graph is another one (by hash), malformed.
[[nodiscard]] Result<Plan> plan_from_json(const graph::Graph& graph, const Json& json);

}  // namespace viridian::plan
