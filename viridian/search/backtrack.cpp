// EAGO, Algorithm 1.
#include <set>

#include "viridian/search/outer_run.hpp"

namespace viridian::search {
namespace {

struct Waiting {
    double cost = 0;
    std::size_t number = 0;  // first come, first served among equals
    Place place;
};
struct Cheaper {
    bool operator()(const Waiting& a, const Waiting& b) const {
        return a.cost != b.cost ? a.cost < b.cost : a.number < b.number;
    }
};

}  // namespace

Result<void> backtrack(OuterRun& run, Place from) {
    std::set<Waiting, Cheaper> queue;
    const double cost = from.cost;
    queue.insert({cost, 0, std::move(from)});
    while (!queue.empty() && !run.stopped()) {
        const Place place = std::move(queue.extract(queue.begin()).value().place);
        VIRIDIAN_TRY(std::vector<rewrite::Alternative> next, rewrite::alternatives(place.graph, run.rules()));
        for (rewrite::Alternative& alternative : next) {
            if (run.stopped()) return {};
            Place found{std::move(alternative.graph), place.certificate, 0};
            VIRIDIAN_TRY(rewrite::Certificate simplified,
                         rewrite::simplify_near(found.graph, rewrite::changed_nodes(place.graph, found.graph),
                                                run.rules()));
            found.certificate.push_back(std::move(alternative.application));
            found.certificate.insert(found.certificate.end(), simplified.begin(), simplified.end());
            VIRIDIAN_TRY(const auto priced, run.price(found.graph, found.certificate, queue.size()));
            if (!priced) continue;
            found.cost = *priced;
            if (*priced < run.options().alpha * run.best_cost())
                queue.insert({*priced, run.best().graphs, std::move(found)});
        }
    }
    return {};
}

}  // namespace viridian::search
