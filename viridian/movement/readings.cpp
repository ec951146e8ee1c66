#include "viridian/movement/readings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "viridian/graph/operators/names.hpp"
#include "viridian/movement/views.hpp"

namespace viridian::movement {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueId;
namespace op = graph::op;

bool is_forward(const Graph& graph, NodeId id) { return graph.node(id).phase == graph::Phase::forward; }

bool has_softmax(const Graph& graph, const Region& region) {
    return std::ranges::any_of(region.nodes, [&](NodeId id) {
        const Node& node = graph.node(id);
        return node.op == op::Softmax || node.op == op::SoftmaxGrad || node.op == op::LogSoftmax ||
               node.op == op::LogSoftmaxGrad;
    });
}

// The unfused regions of one reading: those of the user's operators, or instead of several of them the fused
// region of a softmax that the reading keeps whole.
std::vector<Region> unfused_regions(const Graph& graph, Reading reading, const Fusion& apart,
                                    const Fusion& published) {
    std::vector<Region> regions;
    std::set<NodeId> whole;
    for (const Region& region : published.regions) {
        if (reading == Reading::split || !has_softmax(graph, region)) continue;
        if (reading == Reading::split_forward && is_forward(graph, region.nodes[0])) continue;
        regions.push_back(region);
        whole.insert(region.nodes.begin(), region.nodes.end());
    }
    for (const Region& region : apart.regions)
        if (!whole.contains(region.nodes[0])) regions.push_back(region);
    return regions;
}

// The words that ReadWords::interim describes. `operators` are the regions of the printed reading.
std::int64_t interim_words(const Graph& graph, const Fusion& fusion, const std::vector<Region>& operators) {
    std::map<NodeId, std::size_t> operator_of;
    std::map<ValueId, std::vector<NodeId>> readers;
    for (std::size_t i = 0; i < operators.size(); ++i)
        for (const NodeId id : operators[i].nodes) {
            operator_of[id] = i;
            for (const ValueId input : graph.node(id).inputs)
                if (input != ValueId::none) readers[behind_views(graph, input)].push_back(id);
        }
    std::set<ValueId> kept;
    for (const ValueId id : graph::run_outputs(graph)) kept.insert(behind_views(graph, id));
    std::int64_t words = 0;
    for (const Region& region : fusion.regions)
        for (const ValueId value : region.writes) {
            const NodeId producer = graph.value(value).producer;
            if (kept.contains(value) || !is_forward(graph, producer)) continue;
            bool handed_on = false, only_gradients = true;
            for (const NodeId reader : readers[value]) {
                const bool inside = std::ranges::find(region.nodes, reader) != region.nodes.end();
                handed_on = handed_on || (inside && operator_of[reader] != operator_of[producer]);
                only_gradients = only_gradients && (inside || !is_forward(graph, reader));
            }
            if (handed_on && only_gradients) words += words_in(graph, value);
        }
    return words;
}

double share_saved(std::int64_t before, std::int64_t after) {
    return before == 0 ? 0 : 1 - static_cast<double>(after) / static_cast<double>(before);
}

}  // namespace

double ReadWords::saved() const { return share_saved(unfused.moved(), fused.moved()); }

double ReadWords::saved_as_the_paper_counts() const {
    return share_saved(unfused.moved(), fused.moved() - interim);
}

Words words_of(const Graph& graph, const std::vector<Region>& regions) {
    Words sum;
    for (const Region& region : regions) {
        const Words words = words_of(graph, region);
        sum.read += words.read;
        sum.written += words.written;
    }
    return sum;
}

Result<std::vector<ReadWords>> readings(const Graph& graph, const Fusion& fusion) {
    VIRIDIAN_TRY(const Fusion apart, fuse(graph, FusionRule::none));
    VIRIDIAN_TRY(const Fusion published, fuse(graph, FusionRule::published));
    const Words fused = words_of(graph, fusion.regions);
    const std::int64_t interim =
        interim_words(graph, fusion, unfused_regions(graph, Reading::printed, apart, published));
    std::vector<ReadWords> all;
    for (const Reading reading : {Reading::printed, Reading::split_forward, Reading::split})
        all.push_back({.reading = reading,
                       .unfused = words_of(graph, unfused_regions(graph, reading, apart, published)),
                       .fused = fused,
                       .interim = interim});
    return all;
}

std::string_view name_of(Reading reading) {
    switch (reading) {
        case Reading::printed:
            return "printed";
        case Reading::split_forward:
            return "split forward";
        case Reading::split:
            return "split";
    }
    return {};
}

std::string_view explanation_of(Reading reading) {
    switch (reading) {
        case Reading::printed:
            return "a softmax with its scaling and dropout is one operator, and so is its gradient";
        case Reading::split_forward:
            return "the gradient of a softmax with its scaling and dropout is one operator";
        case Reading::split:
            return "each operator of the model stands alone, and so does each of its gradients";
    }
    return {};
}

}  // namespace viridian::movement
