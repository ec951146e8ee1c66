#include "viridian/search/outer_run.hpp"

namespace viridian::search {
namespace {

constexpr Seconds longest_solve{1};  // of one graph among many; the one that is kept is solved again

}  // namespace

OuterRun::OuterRun(const cost::Source& source, const Objective& objective, const OuterOptions& options)
    : source_(source), objective_(objective), options_(options), rules_(options.rules) {
    if (rules_.folds == nullptr) rules_.folds = &folds_;
    options_.assign.exact.time_limit = std::min(options_.assign.exact.time_limit, longest_solve);
}

Result<Outcome> OuterRun::assign(const graph::Graph& graph) const {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    VIRIDIAN_TRY(const Instance instance, Instance::make(graph, regions, source_, options_.assign.boundary));
    return solve(instance, objective_, options_.assign);
}

OuterProgress OuterRun::now(std::size_t waiting) const {
    return {best_.graphs, waiting, best_cost(),
            Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count())};
}

Result<void> OuterRun::begin(const graph::Graph& graph) {
    VIRIDIAN_TRY(best_.outcome, assign(graph));
    if (objective_.needs_start()) options_.assign.start = best_.outcome.start;
    if (options_.visited) options_.visited(graph, best_.outcome);
    best_.graph = graph;
    best_.graphs = 1;
    seen_.insert(structural_hash(graph));
    begin_ = std::chrono::steady_clock::now();
    best_.improvements.push_back(now(0));
    return {};
}

std::optional<EndedBy> OuterRun::stopped() const {
    if (cancelled_ || (options_.cancelled && options_.cancelled())) return EndedBy::cancelled;
    if (best_.graphs >= options_.most_graphs) return EndedBy::graphs;
    if (now(0).seconds > options_.time_limit) return EndedBy::time;
    return std::nullopt;
}

Result<std::optional<double>> OuterRun::price(const graph::Graph& graph,
                                              const rewrite::Certificate& certificate, std::size_t waiting) {
    if (!seen_.insert(structural_hash(graph)).second) return std::optional<double>();
    auto outcome = assign(graph);
    ++best_.graphs;
    if (!outcome.ok()) {
        const ErrorCode code = outcome.error().code;
        if (code == ErrorCode::cancelled)
            cancelled_ = true;
        else if (code == ErrorCode::unsupported || code == ErrorCode::missing_entry)
            ++best_.unpriced;
        else
            return std::move(outcome).error();
        return std::optional<double>();
    }
    if (options_.visited) options_.visited(graph, *outcome);
    const double cost = outcome->assignment.value;
    if (cost < best_cost()) {
        best_.graph = graph;
        best_.outcome = std::move(*outcome);
        best_.certificate = certificate;
        best_.improvements.push_back(now(waiting));
    }
    if (options_.progress) options_.progress(now(waiting));
    return std::optional(cost);
}

OuterResult OuterRun::finish() && {
    best_.ended_by = stopped().value_or(EndedBy::exhausted);
    best_.seconds = now(0).seconds;
    return std::move(best_);
}

}  // namespace viridian::search
