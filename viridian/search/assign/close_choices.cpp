#include "viridian/search/assign/close_choices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace viridian::search {
namespace {

using graph::NodeId;
using plan::AssignedRegion;
using plan::Region;

// Gathers choices, each signature and key once.
class Gatherer {
  public:
    explicit Gatherer(const graph::Graph& graph) : graph_(graph) {}

    void add(const AssignedRegion& one) {
        if (seen_.insert(plan::signature(graph_, one.region) + '\n' + one.choice.key()).second)
            list_.push_back(one);
    }
    std::vector<AssignedRegion> take() { return std::move(list_); }

  private:
    const graph::Graph& graph_;
    std::set<std::string> seen_;
    std::vector<AssignedRegion> list_;
};

// A chosen region, and the upper end of its price.
struct ChosenPrice {
    const AssignedRegion* assigned = nullptr;
    Seconds high;
};

class CloseChoices {
  public:
    CloseChoices(const graph::Graph& graph, const cost::PriceSource& source, double margin)
        : source_(source), graph_(graph), factor_(1 + margin), found_(graph) {}

    Result<std::vector<AssignedRegion>> of(const std::vector<Region>& regions,
                                           const plan::Assignment& assignment) {
        std::vector<ChosenPrice> chosen(assignment.regions.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const AssignedRegion& assigned = assignment.regions[i];
            invariant(assigned.price.has_value(), "a region that a solver chose has a price");
            found_.add(assigned);
            for (const NodeId node : assigned.region.nodes) owner_[node] = i;
            chosen[i] = {&assigned, assigned.price->high};
            VIRIDIAN_TRY(add_below(assigned.region, chosen[i].high * factor_));
        }
        for (const Region& region : regions)
            if (region.nodes.size() > 1) VIRIDIAN_TRY(merge(region, chosen));
        for (const ChosenPrice& one : chosen)
            if (one.assigned->region.nodes.size() > 1) VIRIDIAN_TRY(cut(one, regions));
        return found_.take();
    }

  private:
    Result<void> add_below(const Region& region, Seconds limit) {
        VIRIDIAN_TRY(const auto choices, source_.choices(graph_, region));
        for (const cost::PricedChoice& priced : choices)
            if (priced.price.low <= limit) found_.add({region, priced.choice, priced.price});
        return {};
    }

    // A region all of whose nodes lie in chosen regions that lie inside it.
    Result<void> merge(const Region& region, const std::vector<ChosenPrice>& chosen) {
        std::set<std::size_t> parts;
        for (const NodeId node : region.nodes)
            if (const auto owner = owner_.find(node); owner != owner_.end()) parts.insert(owner->second);
        if (parts.size() < 2) return {};
        Seconds sum;
        std::size_t nodes = 0;
        for (const std::size_t part : parts) {
            sum += chosen[part].high;
            nodes += chosen[part].assigned->region.nodes.size();
        }
        if (nodes != region.nodes.size()) return {};
        return add_below(region, sum * factor_);
    }

    Result<std::optional<AssignedRegion>> best_of(const Region& region) {
        VIRIDIAN_TRY(const auto choices, source_.choices(graph_, region));
        std::optional<AssignedRegion> best;
        for (const cost::PricedChoice& priced : choices)
            if (!best || priced.price.low < best->price->low)
                best = AssignedRegion{region, priced.choice, priced.price};
        return best;
    }

    // The cheapest way to cut a chain into at least two regions.
    Result<void> cut(const ChosenPrice& one, const std::vector<Region>& regions) {
        const std::vector<NodeId>& chain = one.assigned->region.nodes;
        const std::size_t n = chain.size();
        constexpr Seconds never{INFINITY};
        std::vector<Seconds> cost(n + 1, never);  // of the first i nodes
        std::vector<AssignedRegion> last(n + 1);
        cost[0] = Seconds(0);
        if (by_head_.empty())
            for (const Region& region : regions) by_head_[region.nodes.front()].push_back(&region);
        for (std::size_t i = 0; i < n; ++i) {
            if (!(cost[i] < never)) continue;
            for (const Region* region : by_head_[chain[i]]) {
                const std::size_t length = region->nodes.size();
                if (length == n || i + length > n ||
                    !std::equal(region->nodes.begin(), region->nodes.end(),
                                chain.begin() + static_cast<std::ptrdiff_t>(i)))
                    continue;
                VIRIDIAN_TRY(std::optional<AssignedRegion> best, best_of(*region));
                if (!best || cost[i] + best->price->low >= cost[i + length]) continue;
                cost[i + length] = cost[i] + best->price->low;
                last[i + length] = std::move(*best);
            }
        }
        if (!(cost[n] <= one.high * factor_)) return {};
        for (std::size_t i = n; i > 0; i -= last[i].region.nodes.size()) found_.add(last[i]);
        return {};
    }

    const cost::PriceSource& source_;
    const graph::Graph& graph_;
    double factor_;
    Gatherer found_;
    std::map<NodeId, std::size_t> owner_;
    std::map<NodeId, std::vector<const Region*>> by_head_;
};

}  // namespace

Result<std::vector<AssignedRegion>> close_choices(const graph::Graph& graph,
                                                  const std::vector<Region>& regions,
                                                  const cost::PriceSource& source,
                                                  const plan::Assignment& assignment, double margin) {
    return CloseChoices(graph, source, margin).of(regions, assignment);
}

}  // namespace viridian::search
