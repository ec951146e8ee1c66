#include "random_network.hpp"

#include <algorithm>

namespace viridian::search::tests {

using graph::NodeId;
using graph::ValueId;
using plan::Aliasing;

cost::Price price(double seconds, double joules) {
    return {Seconds(seconds),
            Seconds(seconds),
            Seconds(seconds),
            {Joules(joules), Joules(joules), Joules(joules), {Provenance::Kind::estimated, "synthetic"}}};
}

cost::PriceSource Network::source() const {
    return {
        [this](const graph::Graph&, const plan::Region& region) -> Result<std::vector<cost::PricedChoice>> {
            const auto at = choices.find(region.nodes);
            return at == choices.end() ? std::vector<cost::PricedChoice>{} : at->second;
        },
        [this](const graph::Dims&, const plan::Format& from, const plan::Format& to) -> Result<cost::Price> {
            return conversions.at({text(from), text(to)});
        }};
}

namespace {

plan::Region region_of(const graph::Graph& graph, const graph::Uses& uses, std::vector<NodeId> nodes) {
    plan::Region region;
    const auto inside = [&](NodeId id) { return std::find(nodes.begin(), nodes.end(), id) != nodes.end(); };
    for (const NodeId id : nodes) {
        for (const ValueId v : graph.node(id).inputs)
            if ((graph.producer(v) == nullptr || !inside(graph.value(v).producer)) &&
                std::find(region.inputs.begin(), region.inputs.end(), v) == region.inputs.end())
                region.inputs.push_back(v);
        for (const ValueId v : graph.node(id).outputs) {
            const auto readers = uses.readers(v);
            if (uses.outputs(v) > 0 || !std::all_of(readers.begin(), readers.end(), inside))
                region.outputs.push_back(v);
        }
    }
    for (const ValueId v : region.inputs) {
        const auto readers = uses.readers(v);
        region.dies.push_back(graph.producer(v) != nullptr && uses.outputs(v) == 0 &&
                              std::max_element(readers.begin(), readers.end()) != readers.end() &&
                              inside(*std::max_element(readers.begin(), readers.end())));
    }
    region.nodes = std::move(nodes);
    return region;
}

}  // namespace

Network random_network(Random& random, const Recipe& recipe) {
    Network net;
    net.formats = {{plan::plain(4), graph::ElementType::f32, {}},
                   {plan::channels_last(4), graph::ElementType::f32, {}},
                   {plan::channels_blocked(4, 16), graph::ElementType::f32, {}},
                   {plan::channels_blocked(4, 8), graph::ElementType::f32, {}}};
    net.formats.resize(recipe.formats);
    const auto coin = [&](double p) { return random.chance(p); };
    graph::Graph& g = net.graph;
    const graph::TensorType type{graph::ElementType::f32, graph::shape_of({1, 16, 4, 4})};
    std::vector<ValueId> values = {g.add_input("x", type)};
    for (std::size_t n = 0; n < recipe.nodes; ++n) {
        const auto pick = [&] {  // mostly recent values, so that there are chains
            return values[values.size() - 1 -
                          std::min<std::size_t>(random.below(values.size()), random.below(4))];
        };
        std::vector<ValueId> inputs = {pick()};
        if (coin(0.5)) inputs.push_back(pick());
        values.push_back(g.add(inputs.size() == 1 ? "Relu" : "Add", inputs));
        g.set_type(values.back(), type);
    }
    const graph::Uses before = graph::uses(g);
    std::vector<ValueId> outputs;
    for (const ValueId v : values)
        if (g.producer(v) != nullptr && (before.count(v) == 0 || coin(0.1))) outputs.push_back(v);
    g.set_outputs(outputs);
    const graph::Uses uses = graph::uses(g);

    std::vector<std::vector<NodeId>> groups;
    for (const NodeId id : g.nodes()) groups.push_back({id});
    if (recipe.fusion)
        for (const NodeId id : g.nodes())
            for (std::vector<NodeId> chain = {id}; coin(0.7) && chain.size() < 4;) {
                const auto readers = uses.readers(g.node(chain.back()).outputs[0]);
                if (readers.empty()) break;
                chain.push_back(readers[random.below(readers.size())]);
                if (std::find(groups.begin(), groups.end(), chain) == groups.end()) groups.push_back(chain);
            }
    for (const std::vector<NodeId>& nodes : groups) {
        net.regions.push_back(region_of(g, uses, nodes));
        const plan::Region& region = net.regions.back();
        const std::size_t count = 1 + random.below(recipe.choices);
        for (std::size_t c = 0; c < count; ++c) {
            cost::PricedChoice priced;
            priced.choice.kernel = fmt::format("k{}", c);
            for (std::size_t i = 0; i < region.inputs.size(); ++i)
                priced.choice.inputs.push_back(net.formats[random.below(net.formats.size())]);
            for (std::size_t i = 0; i < region.outputs.size(); ++i)
                priced.choice.outputs.push_back(net.formats[random.below(net.formats.size())]);
            if (recipe.in_place && c > 0 && coin(0.5)) {
                const Aliasing kinds[] = {Aliasing::overwrite, Aliasing::view, Aliasing::gather};
                priced.choice.aliasing = kinds[random.below(3)];
                priced.choice.overwritten = random.below(region.inputs.size());
            }
            const double work = 0.2 + static_cast<double>(nodes.size());
            priced.price = price(random.uniform(0.3, 1) * work, random.uniform(0.3, 1) * work);
            net.choices[nodes].push_back(priced);
        }
    }
    for (const plan::Format& from : net.formats)
        for (const plan::Format& to : net.formats)
            if (from != to)
                net.conversions[{text(from), text(to)}] =
                    price(random.uniform(0.05, 0.8), random.uniform(0.05, 0.8));
    return net;
}

Result<plan::Assignment> assigned(const Network& network, const Objective& objective,
                                  const AssignOptions& options) {
    VIRIDIAN_TRY(const Instance instance, Instance::make(network.graph, network.regions, network.source(),
                                                         options.boundary, options.keep_f32));
    VIRIDIAN_TRY(Outcome outcome, solve(instance, objective, options));
    return std::move(outcome.assignment);
}

}  // namespace viridian::search::tests
