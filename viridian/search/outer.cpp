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

std::string_view name_of(EndedBy reason) {
    switch (reason) {
        case EndedBy::exhausted:
            return "exhausted";
        case EndedBy::graphs:
            return "graphs";
        case EndedBy::time:
            return "time";
        case EndedBy::cancelled:
            return "cancelled";
    }
    return "";
}

Result<OuterResult> outer_search(const graph::Graph& graph, const cost::Source& source,
                                 const Objective& objective, const OuterOptions& options) {
    OuterResult best;
    best.graph = graph;
    VIRIDIAN_TRY(best.outcome, assign_graph(graph, source, objective, options.assign));
    AssignOptions relative = options.assign;
    if (objective.needs_start()) relative.start = best.outcome.start;
    best.graphs = 1;

    const auto begin = std::chrono::steady_clock::now();  // the first graph's prices are not the search's
    const auto spent = [&] {
        return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    };
    std::set<Waiting, Cheaper> queue;
    std::unordered_set<std::uint64_t> seen = {structural_hash(graph)};
    queue.insert({best.outcome.assignment.value, 0, graph, {}});
    const auto now = [&] {
        return OuterProgress{best.graphs, queue.size(), best.outcome.assignment.value, spent()};
    };
    const auto ended = [&](EndedBy reason) {
        best.ended_by = reason;
        best.seconds = spent();
        return std::move(best);
    };
    const auto stopped = [&]() -> std::optional<EndedBy> {
        if (options.cancelled && options.cancelled()) return EndedBy::cancelled;
        if (best.graphs >= options.most_graphs) return EndedBy::graphs;
        if (spent() > options.time_limit) return EndedBy::time;
        return std::nullopt;
    };
    best.improvements.push_back(now());
    while (!queue.empty()) {
        if (const auto reason = stopped()) return ended(*reason);
        const Waiting from = std::move(queue.extract(queue.begin()).value());
        VIRIDIAN_TRY(std::vector<rewrite::Alternative> next,
                     rewrite::alternatives(from.graph, options.rules));
        for (rewrite::Alternative& alternative : next) {
            if (const auto reason = stopped()) return ended(*reason);
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
                const ErrorCode code = outcome.error().code;
                if (code == ErrorCode::cancelled) return ended(EndedBy::cancelled);
                if (code != ErrorCode::unsupported && code != ErrorCode::missing_entry)
                    return std::move(outcome).error();
                ++best.unpriced;
                continue;
            }
            const double cost = outcome->assignment.value;
            if (cost < best.outcome.assignment.value) {
                best.graph = alternative.graph;
                best.outcome = std::move(*outcome);
                best.certificate = certificate;
                best.improvements.push_back(now());
            }
            if (cost < options.alpha * best.outcome.assignment.value)
                queue.insert({cost, best.graphs, std::move(alternative.graph), std::move(certificate)});
            if (options.progress) options.progress(now());
        }
    }
    return ended(EndedBy::exhausted);
}

}  // namespace viridian::search
