#include "viridian/cli/precision_result.hpp"

#include <set>

#include "viridian/plan/precision.hpp"

namespace viridian::cli {
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
        if (exact[index(id)] && floating) counts[node.op] = counts.value(node.op, 0) + 1;
    }
    return counts;
}

}  // namespace

std::string precision_of(const plan::Choice& choice) {
    std::string from = elements(choice.inputs), to = elements(choice.outputs);
    if (from.empty() || from == to) return to;
    return to.empty() ? from : from + " → " + to;
}

Json precision_json(const Planned& planned, const std::vector<Forbidden>& forbidden) {
    const plan::Assignment& assignment = planned.plan.assignment;
    std::size_t rounding = 0, casts = 0;
    for (const plan::AssignedRegion& assigned : assignment.regions)
        rounding += plan::rounds(planned.graph, assigned.region, assigned.choice) ? 1 : 0;
    for (const plan::Conversion& conversion : assignment.conversions)
        casts += conversion.from.element != conversion.to.element ? 1 : 0;
    return {{"regions", assignment.regions.size()},
            {"bf16_regions", rounding},
            {"casts", casts},
            {"kept_f32", kept_f32(planned.graph)},
            {"forbidden", to_json(forbidden)}};
}

std::string precision_text(const Json& result) {
    if (!result.contains("precision")) return "";
    const Json& precision = result["precision"];
    std::string out =
        fmt::format("  bf16     {} of {} regions, {} casts", precision["bf16_regions"].get<std::size_t>(),
                    precision["regions"].get<std::size_t>(), precision["casts"].get<std::size_t>());
    const Json& forbidden = precision["forbidden"];
    for (const auto& [kept, words] :
         {std::pair{"f32", "kept in f32"}, {"unfiltered", "not filtered in bf16"}}) {
        std::vector<std::string> nodes;
        for (const Json& entry : forbidden)
            if (entry["kept"] == kept) nodes.push_back(entry["node"].get<std::string>());
        if (!nodes.empty())
            out += fmt::format("; {} {} by the error budget, first `{}`", nodes.size(), words, nodes[0]);
    }
    return out + "\n";
}

}  // namespace viridian::cli
