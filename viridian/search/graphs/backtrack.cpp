// EAGO, Algorithm 1.
#include "viridian/search/graphs/search_state.hpp"

namespace viridian::search {

Result<bool> expand(Strategy& strategy) {
    const SearchState& shared = strategy.shared();
    std::optional<RewrittenGraph> base = strategy.next();
    const auto promising = [&] { return base->cost < shared.options().alpha * strategy.best_cost(); };
    if (!base || !promising()) return false;
    VIRIDIAN_TRY(const bool assigned, strategy.set_base(*base));
    if (!assigned || !promising()) return true;
    VIRIDIAN_TRY(std::vector<rewrite::Alternative> next, rewrite::alternatives(base->graph, shared.rules()));
    for (rewrite::Alternative& alternative : next) {
        if (shared.stopped()) return true;
        RewrittenGraph found{std::move(alternative.graph), base->certificate};
        VIRIDIAN_TRY(rewrite::Certificate simplified,
                     rewrite::simplify_near(found.graph, rewrite::changed_nodes(base->graph, found.graph),
                                            shared.rules()));
        found.certificate.push_back(std::move(alternative.application));
        found.certificate.insert(found.certificate.end(), simplified.begin(), simplified.end());
        VIRIDIAN_TRY(strategy.price(found));
    }
    return true;
}

Result<void> backtrack(Strategy& strategy) {
    while (!strategy.shared().stopped()) {
        VIRIDIAN_TRY(const bool more, expand(strategy));
        if (!more) return {};
    }
    return {};
}

}  // namespace viridian::search
