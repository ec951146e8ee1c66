#include "viridian/gradient/differentiate.hpp"

#include <algorithm>

#include "viridian/gradient/inline_bodies.hpp"
#include "viridian/gradient/rule.hpp"

namespace viridian::gradient {
namespace {

using Mask = std::vector<bool>;  // by ValueId

bool wants_gradient(const Graph& graph, ValueId id) { return is_floating(graph.value(id).type.element); }

// Returns the values that depend on `of`: gradients flow through these alone.
Mask dependent(const Graph& graph, const std::vector<NodeId>& order, std::span<const ValueId> of,
               std::span<const ValueId> stops) {
    Mask depends(graph.value_count());
    for (const ValueId id : of) depends[index(id)] = true;
    for (const NodeId id : order) {
        const Node& node = graph.node(id);
        const NoGradient* none = find_no_gradient(node.op);
        if (none != nullptr && none->zero) continue;
        if (std::ranges::any_of(
                node.inputs, [&](ValueId input) { return input != ValueId::none && depends[index(input)]; }))
            for (const ValueId output : node.outputs)
                if (output != ValueId::none && wants_gradient(graph, output)) depends[index(output)] = true;
    }
    for (const ValueId id : stops) depends[index(id)] = false;
    return depends;
}

// Replaces every node on the way that means its body and has no rule.
Result<void> inline_where_needed(Graph& graph, std::span<const ValueId> of) {
    for (bool changed = true; changed;) {
        changed = false;
        VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
        const Mask depends = dependent(graph, order, of, {});
        for (const NodeId id : order) {
            const Node& node = graph.node(id);
            if (node.bodies.size() != 1 || find_rule(node.op) != nullptr ||
                node.bodies[0]->inputs().size() != node.inputs.size() || node.op == op::Loop ||
                node.op == op::Scan)
                continue;
            if (std::ranges::none_of(node.outputs, [&](ValueId output) {
                    return output != ValueId::none && depends[index(output)];
                }))
                continue;
            VIRIDIAN_TRY(inline_body(graph, id));
            changed = true;
        }
    }
    return {};
}

// Sweep walks the nodes from the last to the first and collects gradients.
class Sweep {
  public:
    Sweep(Graph& graph, Mask depends)
        : graph_(graph),
          build_(graph),
          depends_(std::move(depends)),
          contributions_(graph.value_count()),
          readers_(graph.value_count(), NodeId::none) {}

    // `reader`: the node through which `gradient` comes. Nodes are visited from the last to the first, so
    // that the first of several readers stays.
    void add(ValueId value, ValueId gradient, NodeId reader = NodeId::none) {
        if (contributions_.size() <= index(value)) {
            contributions_.resize(index(value) + 1);
            readers_.resize(index(value) + 1, NodeId::none);
        }
        contributions_[index(value)].push_back(gradient);
        readers_[index(value)] = reader;
    }

    // Returns the gradient of `value`: one contribution, or the sum of several. `none` if there is none.
    ValueId gradient(ValueId value) {
        if (value == ValueId::none || index(value) >= contributions_.size()) return ValueId::none;
        std::vector<ValueId>& parts = contributions_[index(value)];
        if (parts.empty()) return ValueId::none;
        if (parts.size() > 1) {
            std::vector<Term> terms;
            for (const ValueId part : parts) terms.push_back(build_.value(part));
            const Node* twin = graph_.producer(value);  // nothing produces a parameter: then its first reader
            const NodeId reader = readers_[index(value)];
            if (twin == nullptr && reader != NodeId::none) twin = &graph_.node(reader);
            build_.at(twin, graph::Phase::backward);
            parts = {build_.add(op::Sum, terms).id};
        }
        return parts[0];
    }

    void visit(NodeId id) {
        const Node node = graph_.node(id);
        std::vector<ValueId> gradients;
        for (const ValueId output : node.outputs) gradients.push_back(gradient(output));
        if (std::ranges::all_of(gradients, [](ValueId g) { return g == ValueId::none; })) return;
        Mask wanted;
        for (const ValueId input : node.inputs)
            wanted.push_back(input != ValueId::none && index(input) < depends_.size() &&
                             depends_[index(input)] && wants_gradient(graph_, input));
        if (std::ranges::none_of(wanted, [](bool one) { return one; })) return;
        const Rule* rule = find_rule(node.op);
        if (rule == nullptr) {
            const NoGradient* none = find_no_gradient(node.op);
            if (none == nullptr || !none->zero)
                refuse(node, none == nullptr ? "there is no gradient rule for it" : none->reason, wanted);
            return;
        }
        build_.at(&node, graph::Phase::backward);
        Site site(build_, id, gradients, wanted);
        try {
            const std::vector<Term> made = rule->apply(site);
            for (std::size_t i = 0; i < made.size(); ++i)
                if (made[i] && i < wanted.size() && wanted[i]) {
                    invariant(build_.dims(made[i]) == build_.dims(site.x(i)),
                              "a gradient has the dimensions of its value");
                    add(node.inputs[i], made[i].id, id);
                }
        } catch (const Refusal& refusal) {
            refuse(node, refusal.error.message, wanted);
        }
    }

    // Gives the phase `weight` to the nodes that only gradients of `of` need.
    void mark_weights(std::span<const ValueId> of) {
        Mask needed(graph_.node_slots());
        std::vector<ValueId> open;
        for (std::size_t i = 0; i < contributions_.size(); ++i)
            if (std::ranges::find(of, static_cast<ValueId>(i)) == of.end())
                open.insert(open.end(), contributions_[i].begin(), contributions_[i].end());
        while (!open.empty()) {
            const ValueId value = open.back();
            open.pop_back();
            const NodeId id = value == ValueId::none ? NodeId::none : graph_.value(value).producer;
            if (!graph_.alive(id) || needed[index(id)]) continue;
            needed[index(id)] = true;
            const Node& node = graph_.node(id);
            open.insert(open.end(), node.inputs.begin(), node.inputs.end());
        }
        for (const NodeId id : graph_.nodes())
            if (graph_.node(id).phase == graph::Phase::backward && !needed[index(id)]) {
                Node node = graph_.node(id);
                node.phase = graph::Phase::weight;
                graph_.set_node(id, std::move(node));
            }
    }

    [[nodiscard]] std::optional<Error> failure() const {
        if (refused_.empty()) return std::nullopt;
        return fail(ErrorCode::unsupported,
                    "leave these nodes out of the path to the loss, or freeze the parameters before them",
                    "{} of the network cannot be differentiated: {}",
                    refused_.size() == 1 ? "one node" : fmt::format("{} nodes", refused_.size()),
                    fmt::join(refused_, "; "));
    }

  private:
    // Each wanted input stands in for its own gradient, of which it has the type, so that the nodes before
    // are visited too and the error lists all that cannot be differentiated.
    void refuse(const Node& node, std::string_view reason, const Mask& wanted) {
        refused_.push_back(fmt::format("`{}` ({}): {}", node.name, node.op.qualified_name(), reason));
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (wanted[i]) add(node.inputs[i], node.inputs[i]);
    }

    Graph& graph_;
    Builder build_;
    Mask depends_;
    std::vector<std::vector<ValueId>> contributions_;  // by value
    std::vector<NodeId> readers_;                      // the first one that gave a contribution, by value
    std::vector<std::string> refused_;
};

}  // namespace

Result<std::vector<ValueId>> differentiate(Graph& graph, std::span<const ValueId> of,
                                           std::span<const Seed> seeds, std::span<const ValueId> stops) {
    VIRIDIAN_TRY(inline_where_needed(graph, of));
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    Sweep sweep(graph, dependent(graph, order, of, stops));
    for (const Seed& seed : seeds) {
        if (graph.value(seed.value).type != graph.value(seed.gradient).type)
            return fail(ErrorCode::mismatch, "give a gradient of the value's type",
                        "`{}` is {}, its gradient `{}` is {}", graph.value(seed.value).name,
                        text(graph.value(seed.value).type), graph.value(seed.gradient).name,
                        text(graph.value(seed.gradient).type));
        sweep.add(seed.value, seed.gradient);
    }
    for (auto id = order.rbegin(); id != order.rend(); ++id) sweep.visit(*id);
    if (auto failure = sweep.failure()) return std::move(*failure);
    std::vector<ValueId> gradients;
    try {
        for (const ValueId id : of) gradients.push_back(sweep.gradient(id));
    } catch (const Refusal& refusal) {
        return refusal.error;
    }
    sweep.mark_weights(of);
    return gradients;
}

}  // namespace viridian::gradient
