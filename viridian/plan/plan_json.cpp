#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "viridian/plan/plan.hpp"

#include "viridian/base/json.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

constexpr std::string_view schema = "viridian.plan/2";

Error malformed_plan_json(std::string_view what) {
    return fail(ErrorCode::malformed, "write the plan again with `viridian optimize`", "the plan {}", what);
}

// What the sidecar calls each node: its name, made unique as the ONNX writer does, in order of execution,
// where rewrites left one several times.
std::map<NodeId, std::string> node_keys(const Graph& graph) {
    std::map<NodeId, std::string> keys;
    std::set<std::string> taken;
    const auto order = graph::topological_order(graph);
    if (!order.ok()) return keys;
    for (const NodeId id : *order) {
        std::string key = graph.node(id).name;
        for (int i = 1; !taken.insert(key).second; ++i) key = fmt::format("{}_{}", graph.node(id).name, i);
        keys[id] = std::move(key);
    }
    return keys;
}

struct Names {
    std::map<std::string, NodeId, std::less<>> nodes;
    std::map<std::string, ValueId, std::less<>> values;

    explicit Names(const Graph& graph) {
        for (auto& [id, key] : node_keys(graph)) nodes.emplace(key, id);
        for (std::size_t i = 0; i < graph.value_count(); ++i)
            values.emplace(graph.value(static_cast<ValueId>(i)).name, static_cast<ValueId>(i));
    }
};

Result<std::string> string_at(const Json& json, const char* key) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_string())
        return malformed_plan_json(fmt::format("lacks the text `{}`", key));
    return json[key].get<std::string>();
}

// Each value of a region is one that the format of its port can hold.
Result<void> check_ports(const Graph& graph, const std::vector<ValueId>& values,
                         const std::vector<Format>& formats) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const graph::Value& value = graph.value(values[i]);
        if (!can_hold(value.type, formats[i]))
            return malformed_plan_json(
                fmt::format("gives `{}` the format {}, which cannot hold it", value.name, text(formats[i])));
    }
    return {};
}

Result<AssignedRegion> region_from_json(const Graph& graph, const graph::Uses& uses, const Names& names,
                                        const Json& json) {
    if (!json.is_object() || !json.contains("nodes") || !json["nodes"].is_array() || !json.contains("choice"))
        return malformed_plan_json("has a region without nodes or choice");
    std::vector<NodeId> nodes;
    for (const Json& name : json["nodes"]) {
        const auto found = name.is_string() ? names.nodes.find(name.get<std::string>()) : names.nodes.end();
        if (found == names.nodes.end())
            return malformed_plan_json(fmt::format("names an unknown node {}", name.dump()));
        nodes.push_back(found->second);
    }
    if (nodes.empty()) return malformed_plan_json("has an empty region");
    VIRIDIAN_TRY(Choice choice, choice_from_json(json["choice"]));
    AssignedRegion assigned{make_region(graph, uses, std::move(nodes)), std::move(choice)};
    if (assigned.region.inputs.size() != assigned.choice.inputs.size() ||
        assigned.region.outputs.size() != assigned.choice.outputs.size())
        return malformed_plan_json(fmt::format(
            "gives `{}` {} and {} formats for its {} inputs and {} outputs",
            json["nodes"].front().get<std::string>(), assigned.choice.inputs.size(),
            assigned.choice.outputs.size(), assigned.region.inputs.size(), assigned.region.outputs.size()));
    VIRIDIAN_TRY(check_ports(graph, assigned.region.inputs, assigned.choice.inputs));
    VIRIDIAN_TRY(check_ports(graph, assigned.region.outputs, assigned.choice.outputs));
    return assigned;
}

Result<double> number_at(const Json& json, const char* key) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_number() ||
        !std::isfinite(json[key].get<double>()))
        return malformed_plan_json(fmt::format("lacks the number `{}`", key));
    return json[key].get<double>();
}

// Reads who solved the assignment, and how good it is said to be; a bound of null is none. Which solvers
// there are is not this room's business, so any name may stand there.
Result<void> solved_from_json(const Json& json, Assignment& assignment) {
    VIRIDIAN_TRY(assignment.solver, string_at(json, "solver"));
    const auto in_name = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (assignment.solver.empty() || !std::ranges::all_of(assignment.solver, in_name))
        return malformed_plan_json(fmt::format("was made by an unknown solver `{}`", assignment.solver));
    VIRIDIAN_TRY(assignment.value, number_at(json, "value"));
    assignment.bound = -std::numeric_limits<double>::infinity();
    if (!json.contains("bound") || !json["bound"].is_null()) {
        VIRIDIAN_TRY(assignment.bound, number_at(json, "bound"));
    }
    if (assignment.bound > assignment.value)
        return malformed_plan_json(
            fmt::format("reached {} but is bounded by {}", assignment.value, assignment.bound));
    return {};
}

Result<void> predicted_from_json(const Json& json, Plan& plan) {
    if (!json.contains("predicted") || !json["predicted"].is_object())
        return malformed_plan_json("lacks what is `predicted`");
    VIRIDIAN_TRY(const double seconds, number_at(json["predicted"], "seconds"));
    VIRIDIAN_TRY(plan.predicted_energy, energy_from_json(json["predicted"].value("joules", Json())));
    if (seconds < 0) return malformed_plan_json("predicts a negative time");
    plan.predicted_seconds = Seconds(seconds);
    return {};
}

Result<Conversion> conversion_from_json(const Graph& graph, const Names& names, const Json& json) {
    VIRIDIAN_TRY(const std::string value, string_at(json, "value"));
    VIRIDIAN_TRY(const std::string from, string_at(json, "from"));
    VIRIDIAN_TRY(const std::string to, string_at(json, "to"));
    const auto found = names.values.find(value);
    if (found == names.values.end())
        return malformed_plan_json(fmt::format("converts an unknown value `{}`", value));
    Conversion conversion{found->second, {}, {}};
    VIRIDIAN_TRY(conversion.from, parse_format(from));
    VIRIDIAN_TRY(conversion.to, parse_format(to));
    if (!can_hold(graph.value(found->second).type, conversion.to) || !conversion.to.layout.dense())
        return malformed_plan_json(fmt::format("converts `{}` to {}, which cannot hold it", value, to));
    return conversion;
}

Json states_json(const Graph& graph, const Plan& plan) {
    Json states = Json::array();
    for (const PlanState& state : plan.states)
        states.push_back({{"before", graph.value(state.before).name},
                          {"after", graph.value(state.after).name},
                          {"in_place", state.in_place}});
    return states;
}

// How states are updated follows from the regions, so the file can only say it right or wrong.
Result<void> check_states_json(const Graph& graph, const Json& json, const Plan& plan) {
    const Json own = states_json(graph, plan);
    const Json none = Json::array();
    const Json& said = json.contains("states") ? json["states"] : none;
    if (!said.is_array() || said.size() != own.size())
        return malformed_plan_json(fmt::format("lacks the list of {} `states`", own.size()));
    for (std::size_t i = 0; i < own.size(); ++i)
        if (said[i] != own[i])
            return malformed_plan_json(
                fmt::format("says {} of a state, but its regions mean {}", said[i].dump(), own[i].dump()));
    return {};
}

}  // namespace

Json to_json(const Graph& graph, const Plan& plan) {
    Json json = {{"schema", schema},
                 {"graph", fmt::format("{:016x}", plan.graph_hash)},
                 {"device", plan.device},
                 {"library", plan.library},
                 {"threads", std::max(plan.threads, 1)},
                 {"predicted",
                  {{"seconds", plan.predicted_seconds.value}, {"joules", to_json(plan.predicted_energy)}}},
                 {"solver", plan.assignment.solver},
                 {"value", plan.assignment.value},
                 {"bound", std::isfinite(plan.assignment.bound) ? Json(plan.assignment.bound) : Json()},
                 {"regions", Json::array()},
                 {"conversions", Json::array()}};
    const auto keys = node_keys(graph);
    for (const AssignedRegion& assigned : plan.assignment.regions) {
        Json nodes = Json::array();
        for (const NodeId id : assigned.region.nodes) nodes.push_back(keys.at(id));
        json["regions"].push_back({{"nodes", std::move(nodes)}, {"choice", to_json(assigned.choice)}});
    }
    for (const Conversion& conversion : plan.assignment.conversions)
        json["conversions"].push_back({{"value", graph.value(conversion.value).name},
                                       {"from", text(conversion.from)},
                                       {"to", text(conversion.to)}});
    if (!plan.states.empty()) json["states"] = states_json(graph, plan);
    return json;
}

Result<Plan> plan_from_json(const Graph& graph, const Json& json) {
    VIRIDIAN_TRY(const std::string found_schema, string_at(json, "schema"));
    if (found_schema != schema)
        return fail(ErrorCode::mismatch, "optimise the model again with `viridian optimize`",
                    "the plan is of another version: its schema is `{}`, not `{}`", found_schema, schema);
    VIRIDIAN_TRY(const std::string hash, string_at(json, "graph"));
    if (hash != fmt::format("{:016x}", structural_hash(graph)))
        return fail(ErrorCode::mismatch, "give the .onnx that was written with it",
                    "the plan belongs to another model");
    for (const char* key : {"regions", "conversions"})
        if (!json.contains(key) || !json[key].is_array())
            return malformed_plan_json(fmt::format("lacks the list `{}`", key));

    const Names names(graph);
    const graph::Uses uses = graph::uses(graph);
    Assignment assignment;
    for (const Json& item : json["regions"]) {
        VIRIDIAN_TRY(AssignedRegion assigned, region_from_json(graph, uses, names, item));
        assignment.regions.push_back(std::move(assigned));
    }
    for (const Json& item : json["conversions"]) {
        VIRIDIAN_TRY(Conversion conversion, conversion_from_json(graph, names, item));
        assignment.conversions.push_back(std::move(conversion));
    }
    VIRIDIAN_TRY(solved_from_json(json, assignment));

    auto built = make_plan(graph, std::move(assignment));
    if (!built.ok()) return malformed_plan_json(fmt::format("cannot be laid out: {}", built.error().message));
    Plan plan = std::move(built).value();
    VIRIDIAN_TRY(check_states_json(graph, json, plan));
    VIRIDIAN_TRY(plan.device, string_at(json, "device"));
    VIRIDIAN_TRY(plan.library, string_at(json, "library"));
    if (!json.contains("threads") || !json["threads"].is_number_integer() || json["threads"] < 1 ||
        json["threads"] > 4096)
        return malformed_plan_json("lacks a number of threads");
    plan.threads = json["threads"];
    VIRIDIAN_TRY(predicted_from_json(json, plan));
    return plan;
}

}  // namespace viridian::plan
