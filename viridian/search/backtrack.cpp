// EAGO, Algorithm 1.
#include "viridian/search/outer_run.hpp"

namespace viridian::search {

Result<bool> expand(OuterRun& run) {
    std::optional<Place> place = run.next();
    if (!place || !(place->cost < run.options().alpha * run.best_cost())) return false;
    VIRIDIAN_TRY(const bool stands, run.stand_on(*place));
    if (!stands || !(place->cost < run.options().alpha * run.best_cost())) return true;
    VIRIDIAN_TRY(std::vector<rewrite::Alternative> next, rewrite::alternatives(place->graph, run.rules()));
    for (rewrite::Alternative& alternative : next) {
        if (run.stopped()) return true;
        Place found{std::move(alternative.graph), place->certificate};
        VIRIDIAN_TRY(rewrite::Certificate simplified,
                     rewrite::simplify_near(found.graph, rewrite::changed_nodes(place->graph, found.graph),
                                            run.rules()));
        found.certificate.push_back(std::move(alternative.application));
        found.certificate.insert(found.certificate.end(), simplified.begin(), simplified.end());
        VIRIDIAN_TRY(run.price(found));
    }
    return true;
}

Result<void> backtrack(OuterRun& run) {
    while (!run.stopped()) {
        VIRIDIAN_TRY(const bool more, expand(run));
        if (!more) return {};
    }
    return {};
}

}  // namespace viridian::search
