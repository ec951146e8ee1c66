#include "viridian/prove/allowed_error.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/plan/precision.hpp"

namespace viridian::prove {
namespace {

using graph::ElementType;
using graph::Graph;
using graph::ValueId;

constexpr double of_rounding_plans = 2e-2;
constexpr double of_rounded_gradients = 0.0447;  // √(1 − 0.999²)

double unit_roundoff(ElementType type) {
    if (type == ElementType::f16) return 0x1p-11;
    if (type == ElementType::bf16) return 0x1p-8;
    return 0;
}

// Graphs that have no order were refused long before.
std::vector<graph::NodeId> in_order(const Graph& graph) {
    auto order = topological_order(graph);
    return order.ok() ? *std::move(order) : std::vector<graph::NodeId>();
}

bool has_floating_values(const std::shared_ptr<const Graph>& graph) {
    for (std::size_t i = 0; i < graph->value_count(); ++i)
        if (is_floating(graph->value(static_cast<ValueId>(i)).type.element)) return true;
    return false;
}

}  // namespace

bool uses_winograd(const plan::Plan& plan) {
    return std::ranges::any_of(plan.assignment.regions, [](const plan::AssignedRegion& assigned) {
        const plan::Algorithm algorithm = assigned.choice.variant.algorithm;
        return algorithm == plan::Algorithm::winograd || algorithm == plan::Algorithm::winograd_bf16;
    });
}

Roundings own_roundings(const Graph& graph) {
    std::vector<Roundings> at(graph.value_count());  // `error` is the sum of squares here
    for (const graph::NodeId id : in_order(graph)) {
        const graph::Node& node = graph.node(id);
        Roundings before;
        for (const ValueId input : node.inputs)
            if (input != ValueId::none && at[index(input)].error > before.error) before = at[index(input)];
        for (const auto& body : node.bodies) {
            const Roundings inside = own_roundings(*body);
            before.count += inside.count, before.error += inside.error * inside.error / 4;
        }
        const bool moves = plan::bf16_safety(node) == plan::Safety::clear;
        for (const ValueId output : node.outputs) {
            if (output == ValueId::none) continue;
            const double u = moves ? 0 : unit_roundoff(graph.value(output).type.element);
            at[index(output)] = {before.count + (u > 0 ? 1 : 0), before.error + u * u};
        }
    }
    Roundings most;
    for (const ValueId output : run_outputs(graph))
        if (at[index(output)].error > most.error) most = at[index(output)];
    return {most.count, 2 * std::sqrt(most.error)};
}

AllowedError allowed_error(const Graph& original, const Graph& graph, const plan::Plan& plan,
                           std::optional<double> budget) {
    if (plan::rounds(graph, plan.assignment)) {
        if (budget) return {*budget, "--max-error", budget};
        return {of_rounding_plans, "the plan rounds to bf16", of_rounded_gradients};
    }
    AllowedError allowed = {1e-4, "f32"};
    if (uses_winograd(plan)) allowed = {allowed_with_winograd, "Winograd"};
    if (const Roundings own = own_roundings(original); own.error > allowed.error)
        allowed = {std::min(own.error, of_rounding_plans),
                   fmt::format("the model itself rounds {} times on the way to an output", own.count)};
    if (budget && *budget < allowed.error) allowed = {*budget, "--max-error"};
    return allowed;
}

std::vector<bool> exact_outputs(const Graph& graph) {
    std::vector<bool> computed(graph.value_count());  // a computed floating value reaches it
    for (const graph::NodeId id : in_order(graph)) {
        const graph::Node& node = graph.node(id);
        const bool reads_values = node.op != graph::op::Shape && node.op != graph::op::Size;
        const bool reached =
            (reads_values && std::ranges::any_of(node.inputs,
                                                 [&](ValueId input) {
                                                     return input != ValueId::none && computed[index(input)];
                                                 })) ||
            std::ranges::any_of(node.bodies, has_floating_values);
        for (const ValueId output : node.outputs)
            if (output != ValueId::none)
                computed[index(output)] = reached || is_floating(graph.value(output).type.element);
    }
    std::vector<bool> exact;
    for (const ValueId output : run_outputs(graph))
        exact.push_back(!is_floating(graph.value(output).type.element) && !computed[index(output)]);
    return exact;
}

}  // namespace viridian::prove
