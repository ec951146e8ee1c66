// EAGO, Algorithm 1.
#include "viridian/search/outer_run.hpp"

namespace viridian::search {

Result<void> backtrack(OuterRun& run) {
    while (!run.stopped()) {
        std::optional<Place> place = run.next();
        if (!place || !(place->cost < run.options().alpha * run.best_cost())) return {};
        VIRIDIAN_TRY(const bool stands, run.stand_on(*place));
        if (!stands || !(place->cost < run.options().alpha * run.best_cost())) continue;
        VIRIDIAN_TRY(std::vector<rewrite::Alternative> next,
                     rewrite::alternatives(place->graph, run.rules()));
        for (rewrite::Alternative& alternative : next) {
            if (run.stopped()) return {};
            Place found{std::move(alternative.graph), place->certificate};
            VIRIDIAN_TRY(rewrite::Certificate simplified,
                         rewrite::simplify_near(
                             found.graph, rewrite::changed_nodes(place->graph, found.graph), run.rules()));
            found.certificate.push_back(std::move(alternative.application));
            found.certificate.insert(found.certificate.end(), simplified.begin(), simplified.end());
            VIRIDIAN_TRY(run.price(found));
        }
    }
    return {};
}

}  // namespace viridian::search
