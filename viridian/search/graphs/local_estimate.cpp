#include "viridian/search/graphs/local_estimate.hpp"

#include <algorithm>

#include "viridian/plan/precision.hpp"

namespace viridian::search {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Uses;
using graph::ValueId;

// A value with more readers (an attention mask) does not make them neighbours.
constexpr std::size_t many_readers = 8;
constexpr std::uint32_t no_region = 0xffffffffU;

// How the objective grows with each metric at these totals; exact if it is additive.
Weights slope(const Objective& objective, const Metrics& at, const Metrics& start) {
    if (objective.additive()) return objective.weights(start);
    Weights weights;
    for (const Metric metric : additive_metrics) {
        const double step = 1e-4 * measure(metric, at);
        if (!(step > 0)) continue;
        Metrics low = at, high = at;
        amount(metric, low) -= step;
        amount(metric, high) += step;
        add_weight(weights, metric,
                   (objective.value(high, start) - objective.value(low, start)) / (2 * step));
    }
    return weights;
}

// Nodes of `inside`, producers before readers.
void in_order(const Graph& graph, const std::vector<bool>& inside, NodeId id, std::vector<bool>& done,
              std::vector<NodeId>& order) {
    std::vector<std::pair<NodeId, std::size_t>> open = {{id, 0}};
    if (done[index(id)]) return;
    done[index(id)] = true;
    while (!open.empty()) {
        auto& [node, next] = open.back();
        const auto& inputs = graph.node(node).inputs;
        if (next == inputs.size()) {
            order.push_back(node);
            open.pop_back();
            continue;
        }
        const ValueId input = inputs[next++];
        if (graph.producer(input) == nullptr) continue;
        const NodeId producer = graph.value(input).producer;
        if (inside[index(producer)] && !done[index(producer)]) {
            done[index(producer)] = true;
            open.emplace_back(producer, 0);
        }
    }
}

}  // namespace

bool LocalEstimate::possible(const Objective& objective, const AssignOptions& options) {
    return options.solver == &exact_solver && !objective.limit;
}

LocalEstimate::LocalEstimate(const Graph& graph, const Outcome& outcome, const cost::PriceSource& source,
                             const Objective& objective, const AssignOptions& options, int radius)
    : graph_(graph),
      outcome_(outcome),
      source_(source),
      objective_(objective),
      options_(options),
      radius_(radius),
      weights_(slope(objective, outcome.totals, outcome.start)),
      uses_(graph::uses(graph)),
      f32_(plan::f32_nodes(graph)),
      region_of_(graph.node_slots(), no_region) {
    for (const NodeId node : options.keep_f32)
        if (index(node) < f32_.size()) f32_[index(node)] = true;
    for (std::size_t r = 0; r < outcome.assignment.regions.size(); ++r) {
        const plan::AssignedRegion& assigned = outcome.assignment.regions[r];
        for (const NodeId node : assigned.region.nodes)
            region_of_[index(node)] = static_cast<std::uint32_t>(r);
        for (std::size_t i = 0; i < assigned.region.outputs.size(); ++i)
            formats_[assigned.region.outputs[i]] = &assigned.choice.outputs[i];
    }
}

plan::Format LocalEstimate::format_of(const Graph& graph, ValueId value) const {
    if (graph.producer(value) == nullptr || uses_.value_count() <= index(value) || uses_.outputs(value) > 0)
        if (const auto at = options_.boundary.find(value); at != options_.boundary.end()) return at->second;
    if (const auto at = formats_.find(value); at != formats_.end()) return *at->second;
    const graph::TensorType& type = graph.value(value).type;
    return {plan::plain(type.shape ? type.shape->size() : 0), type.element, {}};
}

// Nodes that both graphs have within `radius_` steps of what differs, whole regions of the assignment.
LocalEstimate::Inside LocalEstimate::neighbourhood(const Graph& after, const Inside& gone,
                                                   const Inside& fresh) const {
    Inside near(graph_.node_slots(), false);
    std::vector<NodeId> edge;
    const auto add = [&](NodeId id) {
        if (index(id) < near.size() && graph_.alive(id) && !near[index(id)]) {
            near[index(id)] = true;
            edge.push_back(id);
        }
    };
    for (std::size_t i = 0; i < gone.size(); ++i)
        if (gone[i]) add(static_cast<NodeId>(i));
    for (std::size_t i = 0; i < fresh.size(); ++i)
        if (fresh[i])
            for (const ValueId input : after.node(static_cast<NodeId>(i)).inputs)
                if (input != ValueId::none && index(input) < graph_.value_count() &&
                    graph_.producer(input) != nullptr)
                    add(graph_.value(input).producer);
    for (int step = 0; step < radius_; ++step) {
        const std::vector<NodeId> last = std::move(edge);
        edge.clear();
        for (const NodeId id : last) {
            for (const ValueId input : graph_.node(id).inputs)
                if (graph_.producer(input) != nullptr) add(graph_.value(input).producer);
            for (const ValueId output : graph_.node(id).outputs)
                if (output != ValueId::none && uses_.readers(output).size() <= many_readers)
                    for (const NodeId reader : uses_.readers(output)) add(reader);
        }
    }
    for (std::size_t i = 0; i < near.size(); ++i)
        if (near[i] && region_of_[i] != no_region)
            for (const NodeId node : outcome_.assignment.regions[region_of_[i]].region.nodes)
                near[index(node)] = true;
    return near;
}

// The part as a graph of its own, assigned.
Result<Metrics> LocalEstimate::assign_part(const Graph& graph, const Uses& uses, const Inside& inside) const {
    std::vector<NodeId> order;
    Inside done(inside.size(), false);
    for (std::size_t i = 0; i < inside.size(); ++i)
        if (inside[i]) in_order(graph, inside, static_cast<NodeId>(i), done, order);
    Graph part;
    AssignOptions options = options_;
    options.boundary.clear();
    options.keep_f32.clear();
    std::vector<ValueId> own(graph.value_count(), ValueId::none);
    const auto border = [&](ValueId value) {
        const graph::TensorType& type = graph.value(value).type;
        if (type.shape) options.boundary.emplace(own[index(value)], format_of(graph, value));
    };
    std::vector<ValueId> outputs;
    for (const NodeId id : order) {
        const graph::Node& node = graph.node(id);
        graph::Node copy{node.op, "n", {}, {}, node.attributes, node.bodies, {}};
        for (const ValueId input : node.inputs) {
            if (input != ValueId::none && own[index(input)] == ValueId::none) {
                if (const graph::Tensor* constant = graph.constant(input)) {
                    own[index(input)] = part.add_constant("c", *constant);
                } else {
                    own[index(input)] = part.add_input("x", graph.value(input).type);
                    border(input);
                }
            }
            copy.inputs.push_back(input == ValueId::none ? input : own[index(input)]);
        }
        std::vector<std::string> names;
        for (const ValueId output : node.outputs) names.emplace_back(output == ValueId::none ? "" : "v");
        const NodeId made = part.add_node(std::move(copy), names);
        if (index(id) < f32_.size() && f32_[index(id)]) options.keep_f32.push_back(made);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const ValueId output = node.outputs[i];
            if (output == ValueId::none) continue;
            own[index(output)] = part.node(made).outputs[i];
            part.set_type(own[index(output)], graph.value(output).type);
            const auto readers = uses.readers(output);
            if (uses.outputs(output) > 0 ||
                std::any_of(readers.begin(), readers.end(), [&](NodeId r) { return !inside[index(r)]; })) {
                outputs.push_back(own[index(output)]);
                border(output);
            }
        }
    }
    part.set_outputs(std::move(outputs));
    VIRIDIAN_TRY(const Instance instance, Instance::of(part, source_, options));
    VIRIDIAN_TRY(const Outcome outcome, solve_additive(instance, weights_, options));
    return outcome.totals;
}

Result<double> LocalEstimate::of(const Graph& after) {
    Inside gone(graph_.node_slots(), false), fresh(after.node_slots(), false);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        const auto id = static_cast<NodeId>(i);
        const bool here = graph_.alive(id), there = after.alive(id);
        if (here && there && &graph_.node(id) == &after.node(id)) continue;
        if (here) gone[i] = true;
        if (there) fresh[i] = true;
    }
    const Inside before = neighbourhood(after, gone, fresh);
    Inside behind = fresh;
    for (std::size_t i = 0; i < before.size(); ++i)
        if (before[i] && !gone[i]) behind[i] = true;
    auto known = before_.find(before);
    if (known == before_.end()) {
        VIRIDIAN_TRY(const Metrics metrics, assign_part(graph_, uses_, before));
        known = before_.emplace(before, metrics).first;
    }
    VIRIDIAN_TRY(const Metrics metrics, assign_part(after, graph::uses(after), behind));
    return objective_.value(outcome_.totals + metrics - known->second, outcome_.start);
}

}  // namespace viridian::search
