#include "viridian/execute/greedy.hpp"

#include <algorithm>
#include <map>

namespace viridian::execute {

using graph::Graph;
using graph::Tensor;
using graph::ValueId;
using plan::Format;

std::vector<plan::Region> single_node_regions(const Graph& graph) {
    const graph::Uses uses = graph::uses(graph);
    std::vector<plan::Region> regions;
    for (const graph::NodeId id : graph.nodes()) regions.push_back(plan::make_region(graph, uses, {id}));
    return regions;
}

Result<plan::Assignment> assign(Device& device, const Graph& graph, std::vector<plan::Region> regions,
                                const Pick& pick) {
    plan::Assignment assignment;
    assignment.solver = "first";
    std::map<ValueId, Format> made;
    const auto boundary = [&](ValueId id) {
        return Format{plan::plain(graph.value(id).type.dims().size()), graph.value(id).type.element, {}};
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
    for (const ValueId id : graph.inputs()) made[id] = boundary(id);
    const auto need = [&](ValueId id, const Format& format) {
        const auto have = made.find(id);
        if (have == made.end() || have->second == format) return;
        const plan::Conversion conversion{id, have->second, format};
        if (std::ranges::find(assignment.conversions, conversion) == assignment.conversions.end())
            assignment.conversions.push_back(conversion);
    };
    for (const plan::AssignedRegion& assigned : assignment.regions)
        for (std::size_t i = 0; i < assigned.region.inputs.size(); ++i)
            need(assigned.region.inputs[i], assigned.choice.inputs[i]);
    for (const ValueId id : graph.outputs()) need(id, boundary(id));
    return assignment;
}

Result<GreedyRun> run_greedily(Device& device, const Graph& graph, const std::vector<Tensor>& inputs,
                               const Pick& pick) {
    VIRIDIAN_TRY(plan::Assignment assignment, assign(device, graph, single_node_regions(graph), pick));
    GreedyRun run;
    for (const plan::AssignedRegion& assigned : assignment.regions)
        run.kernels.emplace_back(graph.node(assigned.region.nodes.front()).op, assigned.choice.kernel);
    VIRIDIAN_TRY(const plan::Plan plan, plan::make_plan(graph, std::move(assignment)));
    VIRIDIAN_TRY(const std::unique_ptr<Executable> executable, device.prepare(graph, plan));
    for (const ValueId id : graph.outputs())
        run.outputs.emplace_back(graph.value(id).type.element, graph.value(id).type.dims());
    VIRIDIAN_TRY(executable->run(inputs, run.outputs));
    return run;
}

}  // namespace viridian::execute
