#pragma once
// A Plan is an ordered list of steps over a table of buffers, ready to be executed. It is plain data, so that
// the planner and the executor need not know each other. The structural hash names the graph it belongs to.
#include "viridian/plan/assignment.hpp"

namespace viridian::plan {

using BufferId = std::uint32_t;

// A buffer holds one value in one format.
struct Buffer {
    graph::ValueId value = graph::ValueId::none;
    Format format;
    graph::Dims dims;
    // If `view_of` is set, this buffer is a view that begins `view_offset` bytes into that one. Otherwise
    // it is a root.
    std::optional<BufferId> view_of;
    std::int64_t view_offset = 0;
    // The members below apply to roots only. Graph inputs and outputs are external: they lie outside the
    // arena. States are persistent: they lie in memory that stays from run to run.
    bool external = false;
    bool persistent = false;
    std::int64_t bytes = 0;
    std::int64_t arena_offset = 0;  // of a state: its offset in the memory of all states
};

// A PlanState is a state of the graph with its memory, which holds `before` when a run begins and `after`
// when it ends. The layout is plain.
struct PlanState {
    graph::ValueId before = graph::ValueId::none;
    graph::ValueId after = graph::ValueId::none;
    BufferId buffer = 0;
    // True if the kernel that computes `after` writes it here. Otherwise a copy goes here at the end of the
    // run, unless `after` is `before`. A constant is copied by the executor, because no step writes it.
    bool in_place = false;
};

// A step runs one kernel over a region, or converts one value to another format.
struct Step {
    enum class Kind : std::uint8_t { kernel, conversion } kind = Kind::kernel;
    Region region;                  // kernel
    Choice choice;                  // kernel
    std::vector<BufferId> inputs;   // kernel: per region input; conversion: one
    std::vector<BufferId> outputs;  // kernel: per region output; conversion: one
    // `price` is what the assignment says of the step. It is absent if the assignment has no prices, and
    // for a copy that only the layout of the buffers asks for (a graph output that lies in another buffer),
    // which no solver knows.
    std::optional<Price> price = {};
};

// The members of a Plan are what an executor needs, and the assignment from which it was made.
struct Plan {
    std::vector<Step> steps;  // views and in-place concatenations need no step
    std::vector<Buffer> buffers;
    std::vector<BufferId> inputs;   // per graph input, plain layout
    std::vector<BufferId> outputs;  // per graph output, plain layout; no step writes a constant
    std::vector<PlanState> states;  // per state of the graph
    std::int64_t arena_bytes = 0;
    std::int64_t state_bytes = 0;      // of all states together
    std::int64_t workspace_bytes = 0;  // the most that a step needs

    std::uint64_t graph_hash = 0;
    std::string device;   // fingerprint of the device that the prices were measured on
    std::string library;  // kernel library and version
    int threads = 0;      // of the device; 0: not said
    Seconds predicted_seconds;
    Energy predicted_energy;
    Assignment assignment;  // the steps come from it
};

// Makes the steps and buffers of `assignment`: it orders the steps, resolves views, in-place concatenations
// and overwriting, and places all buffers in one arena. States are updated in place where that is possible
// (states.hpp), and every reader of the old value then comes before. Errors: broken_invariant (the assignment
// does not cover `graph`, or formats do not match).
[[nodiscard]] Result<Plan> make_plan(const graph::Graph& graph, Assignment assignment);

// Returns the content of the plan's file. Regions are written with node names, so that the plan can be
// matched to the graph after a round trip through ONNX.
[[nodiscard]] Json to_json(const graph::Graph& graph, const Plan& plan);
// Reads the content of such a file for `graph`. Errors: mismatch (the structural hash is that of another
// graph), malformed.
[[nodiscard]] Result<Plan> plan_from_json(const graph::Graph& graph, const Json& json);

}  // namespace viridian::plan
