#pragma once
// Runs a graph without choosing: for every node one of the kernels its device offers. Real plans come from
// `search`.
#include <algorithm>
#include <map>

#include "viridian/execute/device.hpp"

namespace viridian::execute {

// Which of a region's choices to take: an index into the list, by default the first.
using Pick = std::function<std::size_t(const plan::Region&, const std::vector<plan::Choice>&)>;

inline std::vector<plan::Region> single_node_regions(const graph::Graph& graph) {
    const graph::Uses uses = graph::uses(graph);
    std::vector<plan::Region> regions;
    for (const graph::NodeId id : graph.nodes()) regions.push_back(plan::make_region(graph, uses, {id}));
    return regions;
}

// An assignment of the regions, with the conversions that their formats need.
inline Result<plan::Assignment> assign(Device& device, const graph::Graph& graph,
                                       std::vector<plan::Region> regions, const Pick& pick) {
    plan::Assignment assignment;
    assignment.solver = "first";
    std::map<graph::ValueId, plan::Format> made;
    const auto boundary = [&](graph::ValueId id) {
        return plan::Format{
            plan::plain(graph.value(id).type.dims().size()), graph.value(id).type.element, {}};
    };
    for (plan::Region& region : regions) {
        VIRIDIAN_TRY(const std::vector<plan::Choice> choices, device.choices(graph, region));
        const graph::Node& head = graph.node(region.nodes.front());
        if (choices.empty())
            return fail(ErrorCode::unsupported, "replace the operator, or report it",
                        "no kernel for `{}` ({})", head.name, head.op);
        const std::size_t chosen = pick ? pick(region, choices) : 0;
        const plan::Choice& choice = choices[chosen];
        for (std::size_t i = 0; i < region.outputs.size(); ++i) made[region.outputs[i]] = choice.outputs[i];
        assignment.regions.push_back({std::move(region), choice});
    }
    for (const graph::ValueId id : run_inputs(graph)) made[id] = boundary(id);
    const auto need = [&](graph::ValueId id, const plan::Format& format) {
        const auto have = made.find(id);
        if (have == made.end() || have->second == format) return;
        const plan::Conversion conversion{id, have->second, format};
        if (std::ranges::find(assignment.conversions, conversion) == assignment.conversions.end())
            assignment.conversions.push_back(conversion);
    };
    for (const plan::AssignedRegion& assigned : assignment.regions)
        for (std::size_t i = 0; i < assigned.region.inputs.size(); ++i)
            need(assigned.region.inputs[i], assigned.choice.inputs[i]);
    for (const graph::ValueId id : run_outputs(graph)) need(id, boundary(id));
    return assignment;
}

struct GreedyRun {
    std::vector<graph::Tensor> outputs;
    std::vector<std::pair<std::string, std::string>> kernels;  // operator, kernel
};

// Runs the graph with these regions. Errors: those of the device; unsupported if a region has no kernel.
inline Result<GreedyRun> run_regions(Device& device, const graph::Graph& graph,
                                     std::vector<plan::Region> regions,
                                     const std::vector<graph::Tensor>& inputs, const Pick& pick = {}) {
    VIRIDIAN_TRY(plan::Assignment assignment, assign(device, graph, std::move(regions), pick));
    GreedyRun run;
    for (const plan::AssignedRegion& assigned : assignment.regions)
        run.kernels.emplace_back(graph.node(assigned.region.nodes.front()).op.name(), assigned.choice.kernel);
    VIRIDIAN_TRY(const plan::Plan plan, plan::make_plan(graph, std::move(assignment)));
    VIRIDIAN_TRY(const std::unique_ptr<Executable> executable, device.prepare(graph, plan));
    for (const graph::ValueId id : graph.outputs())
        run.outputs.emplace_back(graph.value(id).type.element, graph.value(id).type.dims());
    VIRIDIAN_TRY(executable->run(inputs, run.outputs));
    return run;
}

// Runs every node as a region of its own.
inline Result<GreedyRun> run_greedily(Device& device, const graph::Graph& graph,
                                      const std::vector<graph::Tensor>& inputs, const Pick& pick = {}) {
    return run_regions(device, graph, single_node_regions(graph), inputs, pick);
}

}  // namespace viridian::execute
