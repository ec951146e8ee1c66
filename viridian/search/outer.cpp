#include "viridian/search/outer.hpp"

#include <chrono>
#include <set>
#include <unordered_set>

namespace viridian::search {
namespace {

struct Waiting {
    double cost = 0;
    std::size_t number = 0;  // first come, first served among equals
    graph::Graph graph;
    rewrite::Certificate certificate;
};
struct Cheaper {
    bool operator()(const Waiting& a, const Waiting& b) const {
        return a.cost != b.cost ? a.cost < b.cost : a.number < b.number;
    }
};

Result<Outcome> assign_graph(const graph::Graph& graph, const cost::Source& source,
                             const Objective& objective, const AssignOptions& options) {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    VIRIDIAN_TRY(const Instance instance, Instance::make(graph, regions, source, options.boundary));
    return solve(instance, objective, options);
}

}  // namespace

Result<OuterResult> outer_search(const graph::Graph& graph, const cost::Source& source,
                                 const Objective& objective, const OuterOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    OuterResult best;
    best.graph = graph;
    VIRIDIAN_TRY(best.outcome, assign_graph(graph, source, objective, options.assign));
    AssignOptions relative = options.assign;
    if (objective.needs_start()) relative.start = best.outcome.start;
    best.graphs = 1;

    std::set<Waiting, Cheaper> queue;
    std::unordered_set<std::uint64_t> seen = {structural_hash(graph)};
    queue.insert({best.outcome.assignment.value, 0, graph, {}});
    const auto stopped = [&] {
        const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return best.graphs >= options.most_graphs || spent > options.time_limit.value ||
               (options.cancelled && options.cancelled());
    };
    while (!queue.empty() && !stopped()) {
        const Waiting from = std::move(queue.extract(queue.begin()).value());
        VIRIDIAN_TRY(std::vector<rewrite::Alternative> next,
                     rewrite::alternatives(from.graph, options.rules));
        for (rewrite::Alternative& alternative : next) {
            if (stopped()) return best;
            rewrite::Certificate certificate = from.certificate;
            certificate.push_back(alternative.application);
            VIRIDIAN_TRY(const rewrite::Outcome simplified,
                         rewrite::simplify(alternative.graph, options.rules));
            certificate.insert(certificate.end(), simplified.certificate.begin(),
                               simplified.certificate.end());
            if (!seen.insert(structural_hash(alternative.graph)).second) continue;
            auto outcome = assign_graph(alternative.graph, source, objective, relative);
            ++best.graphs;
            if (!outcome.ok()) {
                if (outcome.error().code == ErrorCode::unsupported) continue;  // no kernel does the new graph
                if (outcome.error().code == ErrorCode::cancelled) return best;
                return std::move(outcome).error();
            }
            const double cost = outcome->assignment.value;
            if (cost < best.outcome.assignment.value) {
                best.graph = alternative.graph;
                best.outcome = std::move(*outcome);
                best.certificate = certificate;
            }
            if (cost < options.alpha * best.outcome.assignment.value)
                queue.insert({cost, best.graphs, std::move(alternative.graph), std::move(certificate)});
            if (options.progress)
                options.progress({best.graphs, queue.size(), best.outcome.assignment.value});
        }
    }
    best.exhausted = queue.empty();
    return best;
}

}  // namespace viridian::search
