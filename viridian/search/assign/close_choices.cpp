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

// A chosen region, and the upper end of what its price counts.
struct ChosenPrice {
    const AssignedRegion* assigned = nullptr;
    double high = 0;
};

class CloseChoices {
  public:
    CloseChoices(const graph::Graph& graph, const cost::PriceSource& source, const Yardstick& yardstick,
                 double margin)
        : source_(source), graph_(graph), yardstick_(yardstick), margin_(margin), found_(graph) {}

    Result<std::vector<AssignedRegion>> of(const std::vector<Region>& regions,
                                           const plan::Assignment& assignment) {
        std::vector<ChosenPrice> chosen(assignment.regions.size());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            const AssignedRegion& assigned = assignment.regions[i];
            invariant(assigned.price.has_value(), "a region that a solver chose has a price");
            found_.add(assigned);
            for (const NodeId node : assigned.region.nodes) owner_[node] = i;
            chosen[i] = {&assigned, yardstick_.high(*assigned.price)};
            VIRIDIAN_TRY(add_below(assigned.region, with_margin(chosen[i].high)));
        }
        for (const Region& region : regions)
            if (region.nodes.size() > 1) VIRIDIAN_TRY(merge(region, chosen));
        for (const ChosenPrice& one : chosen)
            if (one.assigned->region.nodes.size() > 1) VIRIDIAN_TRY(cut(one, regions));
        return found_.take();
    }

  private:
    // Values may be negative where the objective rewards slow kernels (power).
    [[nodiscard]] double with_margin(double value) const { return value + margin_ * std::abs(value); }

    Result<void> add_below(const Region& region, double limit) {
        VIRIDIAN_TRY(const auto choices, source_.choices(graph_, region));
        for (const cost::PricedChoice& priced : choices)
            if (yardstick_.low(priced.price) <= limit) found_.add({region, priced.choice, priced.price});
        return {};
    }

    // A region all of whose nodes lie in chosen regions that lie inside it.
    Result<void> merge(const Region& region, const std::vector<ChosenPrice>& chosen) {
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
        return add_below(region, with_margin(sum));
    }

    Result<std::optional<AssignedRegion>> best_of(const Region& region) {
        VIRIDIAN_TRY(const auto choices, source_.choices(graph_, region));
        std::optional<AssignedRegion> best;
        for (const cost::PricedChoice& priced : choices)
            if (!best || yardstick_.low(priced.price) < yardstick_.low(*best->price))
                best = AssignedRegion{region, priced.choice, priced.price};
        return best;
    }

    // The cheapest way to cut a chain into at least two regions.
    Result<void> cut(const ChosenPrice& one, const std::vector<Region>& regions) {
        const std::vector<NodeId>& chain = one.assigned->region.nodes;
        const std::size_t n = chain.size();
        std::vector<double> cost(n + 1, INFINITY);  // of the first i nodes
        std::vector<AssignedRegion> last(n + 1);
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
                VIRIDIAN_TRY(std::optional<AssignedRegion> best, best_of(*region));
                if (!best || cost[i] + yardstick_.low(*best->price) >= cost[i + length]) continue;
                cost[i + length] = cost[i] + yardstick_.low(*best->price);
                last[i + length] = std::move(*best);
            }
        }
        if (!(cost[n] <= with_margin(one.high))) return {};
        for (std::size_t i = n; i > 0; i -= last[i].region.nodes.size()) found_.add(last[i]);
        return {};
    }

    const cost::PriceSource& source_;
    const graph::Graph& graph_;
    Yardstick yardstick_;
    double margin_;
    Gatherer found_;
    std::map<NodeId, std::size_t> owner_;
    std::map<NodeId, std::vector<const Region*>> by_head_;
};

// The interval of a price's joules.
std::pair<double, double> joules_of(const cost::Price& price) {
    const Energy& energy = price.energy;
    if (energy.provenance.kind != Provenance::Kind::estimated) return {energy.low.value, energy.high.value};
    const double seconds = price.seconds.value;
    if (seconds <= 0) return {energy.value.value, energy.value.value};
    return {energy.value.value * (price.low.value / seconds),
            energy.value.value * (price.high.value / seconds)};
}

}  // namespace

Yardstick Yardstick::of(const Objective& objective, const Metrics& totals, const Metrics& start) {
    const double value = objective.value(totals, start);
    const auto slope = [&](Metric metric) {
        Metrics more = totals;
        double& changed = amount(metric, more);
        const double step = 1e-6 * changed;
        if (!(step > 0)) return 0.0;
        changed += step;
        return (objective.value(more, start) - value) / step;
    };
    const Yardstick yardstick{slope(Metric::time), slope(Metric::energy)};
    const bool counts = std::isfinite(yardstick.per_second) && std::isfinite(yardstick.per_joule) &&
                        (yardstick.per_second != 0 || yardstick.per_joule != 0);
    return counts ? yardstick : Yardstick{};
}

double Yardstick::low(const cost::Price& price) const {
    return per_second * (per_second < 0 ? price.high : price.low).value + per_joule * joules_of(price).first;
}

double Yardstick::high(const cost::Price& price) const {
    return per_second * (per_second < 0 ? price.low : price.high).value + per_joule * joules_of(price).second;
}

Result<std::vector<AssignedRegion>> close_choices(const graph::Graph& graph,
                                                  const std::vector<Region>& regions,
                                                  const cost::PriceSource& source,
                                                  const plan::Assignment& assignment,
                                                  const Yardstick& yardstick, double margin) {
    return CloseChoices(graph, source, yardstick, margin).of(regions, assignment);
}

}  // namespace viridian::search
