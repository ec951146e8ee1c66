// Rules of the whole network: too large for a search that looks at one place after the other, so they are
// tried at a few nodes of one graph, before the search (does it pay at all? with what prices?) and on what
// the search found.
#include "viridian/search/outer_run.hpp"

namespace viridian::search {
namespace {

constexpr std::size_t most_places = 12;
constexpr double least_gain = 0.02;  // for less the network shall not become so much longer

// `rule` at the last node among the first `end` in `order`, behind the first `begin`, where it matches.
Result<std::optional<std::size_t>> apply_before(const rewrite::Rule& rule, Place& place,
                                                const std::vector<graph::NodeId>& order, std::size_t begin,
                                                std::size_t end, const rewrite::Options& rules) {
    for (; end > begin; --end) {
        VIRIDIAN_TRY(auto applied, rewrite::apply(rule, place.graph, order[end - 1], rules));
        if (!applied) continue;
        place.certificate.push_back(*std::move(applied));
        return std::optional(end - 1);
    }
    return std::optional<std::size_t>();
}

}  // namespace

Result<std::vector<Place>> whole_changes(const Place& from, const rewrite::Options& options) {
    VIRIDIAN_TRY(const std::vector<graph::NodeId> order, topological_order(from.graph));
    VIRIDIAN_TRY(const auto rules, rewrite::rules_of(rewrite::Kind::whole, options));
    std::vector<Place> changes;
    for (const rewrite::Rule* rule : rules) {
        std::size_t end = order.size();
        for (std::size_t n = most_places; n > 0; --n) {
            // The last node where it matches, wherever that is; then one in every twelfth of the network.
            const std::size_t begin = n == most_places ? 0 : order.size() * (n - 1) / most_places;
            end = std::min(end, order.size() * n / most_places);
            Place place = from;
            VIRIDIAN_TRY(const auto found, apply_before(*rule, place, order, begin, end, options));
            if (found) {
                end = *found;
                changes.push_back(std::move(place));
            } else if (n == most_places) {
                break;
            }
        }
    }
    return changes;
}

Result<bool> try_changes(OuterRun& run, std::vector<Place> changes) {
    const double before = run.best_cost(), below = before - least_gain * std::abs(before);
    for (Place& place : changes) {
        if (run.stopped() == EndedBy::cancelled) break;
        VIRIDIAN_TRY([[maybe_unused]] const bool priced, run.price_whole(place, below));
    }
    return run.best_cost() < before;
}

}  // namespace viridian::search
