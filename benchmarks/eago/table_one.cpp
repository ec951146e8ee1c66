#include <algorithm>
#include <map>

#include "tables.hpp"
#include "text.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::eago {
namespace {

// Convolutions of three kinds, as the paper has three of unnamed shapes.
struct Wanted {
    const char* network;
    std::int64_t kernel, stride;
    std::size_t which;  // of the convolutions like that
};
constexpr Wanted wanted[] = {{"squeezenet1_1", 1, 1, 0}, {"resnet50", 7, 2, 0}, {"resnet50", 3, 1, 3}};

struct Node {
    graph::NodeId id = graph::NodeId::none;
    std::string text;
};

Result<Node> find(const graph::Graph& graph, const Wanted& like) {
    std::size_t seen = 0;
    VIRIDIAN_TRY(const auto regions, plan::candidate_regions(graph));
    for (const plan::Region& region : regions) {
        const graph::Node& node = graph.node(region.nodes.front());
        if (region.nodes.size() != 1 || node.op != graph::op::Conv) continue;
        const graph::Dims x = graph.value(node.inputs[0]).type.dims(),
                          w = graph.value(node.inputs[1]).type.dims();
        const graph::Dims strides = node.get("strides", graph::Dims{1, 1});
        if (w[2] != like.kernel || w[3] != like.kernel || strides[0] != like.stride || seen++ != like.which)
            continue;
        return Node{region.nodes.front(),
                    fmt::format("{}×{}, {} → {} channels at {}×{}, stride {} ({})", w[2], w[3], w[1], w[0],
                                x[2], x[3], strides[0], like.network)};
    }
    return fail(ErrorCode::broken_invariant, "change `wanted`", "no such convolution");
}

}  // namespace

Result<std::string> table_one(Laboratory& laboratory) {
    std::string out = "## Table 1: one node, different algorithms\n\n" +
                      head({"node", "kernel", "ms", "W", "mJ", "of its first: time · power · energy"});
    for (const Wanted& like : wanted) {
        VIRIDIAN_TRY(graph::Graph graph, zoo::build(like.network));
        VIRIDIAN_TRY(graph::infer_types(graph));
        laboratory.price_for(graph);
        VIRIDIAN_TRY(const Node node, find(graph, like));
        const plan::Region region = plan::make_region(graph, graph::uses(graph), {node.id});
        VIRIDIAN_TRY(const auto choices, laboratory.source.choices(graph, region));
        std::map<std::string, cost::PricedChoice> best;  // by kernel: the formats that suit it
        std::vector<std::string> order;
        for (const cost::PricedChoice& priced : choices) {
            if (priced.choice.aliasing != plan::Aliasing::none) continue;
            const auto [at, fresh] = best.try_emplace(priced.choice.kernel, priced);
            if (fresh)
                order.push_back(priced.choice.kernel);
            else if (priced.price.seconds < at->second.price.seconds)
                at->second = priced;
        }
        std::optional<Figures> first;
        for (const std::string& kernel : order) {
            const cost::Price& price = best.at(kernel).price;
            const double seconds = price.seconds.value, joules = price.energy.value.value;
            const Figures figures{1e3 * seconds, joules / seconds, 1e3 * joules};
            out += line({first ? "" : node.text, "`" + kernel + "`", digits(figures.milliseconds),
                         digits(figures.watts), digits(figures.millijoules),
                         relative(figures, first.value_or(figures))});
            if (!first) first = figures;
        }
    }
    out += "\nThe paper, on a V100:\n\n" +
           head({"node", "algorithm", "ms", "W", "mJ", "of A: time · power · energy"});
    for (const PaperNode& node : table1) {
        const auto row = [&](const std::string& name, const char* algorithm, const Figures& f) {
            return line({name, algorithm, digits(f.milliseconds), digits(f.watts), digits(f.millijoules),
                         relative(f, node.a)});
        };
        out += row(std::string(node.name), "A", node.a) + row("", "B", node.b);
        if (node.c) out += row("", "C", *node.c);
    }
    return out;
}

}  // namespace viridian::eago
