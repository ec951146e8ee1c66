#include "viridian/search/contenders.hpp"

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

    void add(const Region& region, const plan::Choice& choice) {
        if (seen_.insert(plan::signature(graph_, region) + '\n' + choice.key()).second)
            list_.push_back({region, choice});
    }
    std::vector<AssignedRegion> take() { return std::move(list_); }

  private:
    const graph::Graph& graph_;
    std::set<std::string> seen_;
    std::vector<AssignedRegion> list_;
};

struct Chosen {
    const AssignedRegion* assigned = nullptr;
    double high = 0;  // upper end of its price, seconds
};

class Contenders {
  public:
    Contenders(const graph::Graph& graph, const cost::Source& source, double margin)
        : source_(source), graph_(graph), factor_(1 + margin), found_(graph) {}

    Result<std::vector<AssignedRegion>> of(const std::vector<Region>& regions,
                                           const plan::Assignment& assignment) {
        std::vector<Chosen> chosen(assignment.regions.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const AssignedRegion& assigned = assignment.regions[i];
            found_.add(assigned.region, assigned.choice);
            for (const NodeId node : assigned.region.nodes) owner_[node] = i;
            VIRIDIAN_TRY(const double high, high_of(assigned));
            chosen[i] = {&assigned, high};
            VIRIDIAN_TRY(add_below(assigned.region, high * factor_));
        }
        for (const Region& region : regions)
            if (region.nodes.size() > 1) VIRIDIAN_TRY(merge(region, chosen));
        for (const Chosen& one : chosen)
            if (one.assigned->region.nodes.size() > 1) VIRIDIAN_TRY(cut(one, regions));
        return found_.take();
    }

  private:
    Result<double> high_of(const AssignedRegion& assigned) {
        VIRIDIAN_TRY(const auto choices, source_.choices(graph_, assigned.region));
        for (const cost::PricedChoice& priced : choices)
            if (priced.choice.key() == assigned.choice.key()) return priced.price.high.value;
        return 0.0;
    }

    Result<void> add_below(const Region& region, double limit) {
        VIRIDIAN_TRY(const auto choices, source_.choices(graph_, region));
        for (const cost::PricedChoice& priced : choices)
            if (priced.price.low.value <= limit) found_.add(region, priced.choice);
        return {};
    }

    // A region all of whose nodes lie in chosen regions that lie inside it.
    Result<void> merge(const Region& region, const std::vector<Chosen>& chosen) {
        std::set<std::size_t> parts;
        for (const NodeId node : region.nodes)
            if (const auto owner = owner_.find(node); owner != owner_.end()) parts.insert(owner->second);
        if (parts.size() < 2) return {};
        double sum = 0;
        std::size_t nodes = 0;
        for (const std::size_t part : parts) {
            sum += chosen[part].high;
            nodes += chosen[part].assigned->region.nodes.size();
        }
        if (nodes != region.nodes.size()) return {};
        return add_below(region, sum * factor_);
    }

    struct Part {
        const Region* region = nullptr;
        plan::Choice choice;
        double low = 0;
    };
    Result<std::optional<Part>> best_of(const Region& region) {
        VIRIDIAN_TRY(const auto choices, source_.choices(graph_, region));
        std::optional<Part> best;
        for (const cost::PricedChoice& priced : choices)
            if (!best || priced.price.low.value < best->low)
                best = Part{&region, priced.choice, priced.price.low.value};
        return best;
    }

    // The cheapest way to cut a chain into at least two regions.
    Result<void> cut(const Chosen& one, const std::vector<Region>& regions) {
        const std::vector<NodeId>& chain = one.assigned->region.nodes;
        const std::size_t n = chain.size();
        std::vector<double> cost(n + 1, INFINITY);  // of the first i nodes
        std::vector<Part> last(n + 1);
        cost[0] = 0;
        if (by_head_.empty())
            for (const Region& region : regions) by_head_[region.nodes.front()].push_back(&region);
        for (std::size_t i = 0; i < n; ++i) {
            if (!(cost[i] < INFINITY)) continue;
            for (const Region* region : by_head_[chain[i]]) {
                const std::size_t length = region->nodes.size();
                if (length == n || i + length > n ||
                    !std::equal(region->nodes.begin(), region->nodes.end(),
                                chain.begin() + static_cast<std::ptrdiff_t>(i)))
                    continue;
                VIRIDIAN_TRY(std::optional<Part> best, best_of(*region));
                if (!best || cost[i] + best->low >= cost[i + length]) continue;
                cost[i + length] = cost[i] + best->low;
                last[i + length] = std::move(*best);
            }
        }
        if (!(cost[n] <= one.high * factor_)) return {};
        for (std::size_t i = n; i > 0; i -= last[i].region->nodes.size())
            found_.add(*last[i].region, last[i].choice);
        return {};
    }

    const cost::Source& source_;
    const graph::Graph& graph_;
    double factor_;
    Gatherer found_;
    std::map<NodeId, std::size_t> owner_;
    std::map<NodeId, std::vector<const Region*>> by_head_;
};

}  // namespace

Result<std::vector<AssignedRegion>> contenders(const graph::Graph& graph, const std::vector<Region>& regions,
                                               const cost::Source& source, const plan::Assignment& assignment,
                                               double margin) {
    return Contenders(graph, source, margin).of(regions, assignment);
}

}  // namespace viridian::search
