#include <functional>
#include <map>
#include <queue>
#include <set>

#include "viridian/plan/states.hpp"

namespace viridian::plan {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

constexpr const char* report_regions = "please report it with the model";

}  // namespace

Result<std::vector<std::size_t>> execution_order(const Graph& graph,
                                                 const std::vector<AssignedRegion>& regions,
                                                 const StateUpdates& updates) {
    std::map<ValueId, std::size_t> producer;
    std::set<NodeId> covered;
    for (std::size_t r = 0; r < regions.size(); ++r) {
        for (const NodeId id : regions[r].region.nodes)
            if (!covered.insert(id).second)
                return fail(ErrorCode::broken_invariant, report_regions, "node `{}` is in two regions",
                            graph.node(id).name);
        for (const ValueId output : regions[r].region.outputs) producer[output] = r;
    }
    for (const NodeId id : graph.nodes())
        if (!covered.contains(id))
            return fail(ErrorCode::broken_invariant, report_regions, "node `{}` is in no region",
                        graph.node(id).name);

    std::vector<int> waiting(regions.size(), 0);
    std::vector<std::vector<std::size_t>> readers(regions.size());
    for (const auto& [first, second] : updates.order) {
        readers[first].push_back(second);
        ++waiting[second];
    }
    using Ready = std::pair<NodeId, std::size_t>;  // first node, region
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    for (std::size_t r = 0; r < regions.size(); ++r) {
        for (const ValueId input : regions[r].region.inputs)
            if (const auto found = producer.find(input); found != producer.end()) {
                readers[found->second].push_back(r);
                ++waiting[r];
            } else if (graph.producer(input) != nullptr) {
                return fail(ErrorCode::broken_invariant, report_regions,
                            "`{}` is read outside the region that hides it", graph.value(input).name);
            }
        if (waiting[r] == 0) ready.push({regions[r].region.nodes.front(), r});
    }
    std::vector<std::size_t> order;
    while (!ready.empty()) {
        const std::size_t r = ready.top().second;
        ready.pop();
        order.push_back(r);
        for (const std::size_t reader : readers[r])
            if (--waiting[reader] == 0) ready.push({regions[reader].region.nodes.front(), reader});
    }
    if (order.size() != regions.size())
        return fail(ErrorCode::broken_invariant, report_regions,
                    "the regions depend on each other in a cycle");
    return order;
}

}  // namespace viridian::plan
