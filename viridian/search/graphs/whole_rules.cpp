// Rules of the whole network change too much for a search that looks at one place after the other. They are
// tried at a few nodes of one graph: before the search, to learn whether they pay, and on what it found.
#include "viridian/search/graphs/search_state.hpp"

namespace viridian::search {
namespace {

constexpr std::size_t most_places = 12;
constexpr double least_gain = 0.02;  // a smaller gain is not worth a network that is so much longer

// `rule` at the last node among the first `end` in `order`, behind the first `begin`, where it matches.
Result<std::optional<std::size_t>> apply_before(const rewrite::Rule& rule, RewrittenGraph& to,
                                                const std::vector<graph::NodeId>& order, std::size_t begin,
                                                std::size_t end, const rewrite::Options& rules) {
    for (; end > begin; --end) {
        VIRIDIAN_TRY(auto applied, rewrite::apply(rule, to.graph, order[end - 1], rules));
        if (!applied) continue;
        to.certificate.push_back(*std::move(applied));
        return std::optional(end - 1);
    }
    return std::optional<std::size_t>();
}

}  // namespace

Result<std::vector<RewrittenGraph>> whole_changes(const RewrittenGraph& from,
                                                  const rewrite::Options& options) {
    VIRIDIAN_TRY(const std::vector<graph::NodeId> order, topological_order(from.graph));
    VIRIDIAN_TRY(const auto rules, rewrite::rules_of(rewrite::Kind::whole, options));
    std::vector<RewrittenGraph> changes;
    for (const rewrite::Rule* rule : rules) {
        std::size_t end = order.size();
        for (std::size_t n = most_places; n > 0; --n) {
            // The last node where it matches, wherever that is; then one in every twelfth of the network.
            const std::size_t begin = n == most_places ? 0 : order.size() * (n - 1) / most_places;
            end = std::min(end, order.size() * n / most_places);
            RewrittenGraph change = from;
            VIRIDIAN_TRY(const auto found, apply_before(*rule, change, order, begin, end, options));
            if (found) {
                end = *found;
                changes.push_back(std::move(change));
            } else if (n == most_places) {
                break;
            }
        }
    }
    return changes;
}

Result<bool> try_changes(Strategy& strategy, std::vector<RewrittenGraph> changes) {
    const double before = strategy.best_cost(), below = before - least_gain * std::abs(before);
    for (RewrittenGraph& change : changes) {
        if (strategy.shared().stopped() == EndedBy::cancelled) break;
        VIRIDIAN_TRY([[maybe_unused]] const bool priced, strategy.price_whole(change, below));
    }
    return strategy.best_cost() < before;
}

}  // namespace viridian::search
