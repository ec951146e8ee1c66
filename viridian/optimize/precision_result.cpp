#include "viridian/optimize/precision_result.hpp"

#include "viridian/base/json.hpp"

#include <set>

#include "viridian/plan/precision.hpp"

namespace viridian::optimize {
namespace {

std::string elements(const std::vector<plan::Format>& formats) {
    std::set<std::string> names;
    for (const plan::Format& format : formats)
        if (graph::is_floating(format.element)) names.insert(std::string(graph::name_of(format.element)));
    return fmt::format("{}", fmt::join(names, "+"));
}

// Operators that the safety table, or a denied neighbour, keeps in f32.
Json kept_f32(const graph::Graph& graph) {
    const std::vector<bool> exact = plan::f32_nodes(graph);
    Json counts = Json::object();
    for (const graph::NodeId id : graph.nodes()) {
        const graph::Node& node = graph.node(id);
        const bool floating = !node.outputs.empty() && node.outputs[0] != graph::ValueId::none &&
                              graph.value(node.outputs[0]).type.element == graph::ElementType::f32;
        if (exact[index(id)] && floating)
            counts[std::string(node.op.name())] = counts.value(std::string(node.op.name()), 0) + 1;
    }
    return counts;
}

struct Counts {
    std::size_t regions = 0, rounding = 0, casts = 0;
};

Counts count(const PlannedModel& planned) {
    const plan::Assignment& assignment = planned.plan.assignment;
    Counts counts{assignment.regions.size()};
    for (const plan::AssignedRegion& assigned : assignment.regions)
        counts.rounding += plan::rounds(planned.graph, assigned.region, assigned.choice) ? 1 : 0;
    for (const plan::Conversion& conversion : assignment.conversions)
        counts.casts += conversion.from.element != conversion.to.element ? 1 : 0;
    return counts;
}

}  // namespace

std::string precision_of(const plan::Choice& choice) {
    std::string from = elements(choice.inputs), to = elements(choice.outputs);
    if (from.empty() || from == to) return to;
    return to.empty() ? from : from + " → " + to;
}

Json precision_json(const PlannedModel& planned, const std::vector<prove::Forbidden>& forbidden) {
    const Counts counts = count(planned);
    return {{"regions", counts.regions},
            {"bf16_regions", counts.rounding},
            {"casts", counts.casts},
            {"kept_f32", kept_f32(planned.graph)},
            {"forbidden", to_json(forbidden)}};
}

std::string precision_text(const PlannedModel& planned, const std::vector<prove::Forbidden>& forbidden) {
    const Counts counts = count(planned);
    std::string out =
        fmt::format("  bf16     {} of {} regions, {} casts", counts.rounding, counts.regions, counts.casts);
    for (const bool winograd : {false, true}) {
        std::vector<std::string> nodes;
        for (const prove::Forbidden& entry : forbidden)
            if (entry.blame.winograd_bf16 == winograd) nodes.push_back(entry.blame.node);
        if (!nodes.empty())
            out += fmt::format("; {} {} by the error budget, first `{}`", nodes.size(),
                               winograd ? "not by Winograd in bf16" : "kept in f32", nodes[0]);
    }
    return out + "\n";
}

}  // namespace viridian::optimize
