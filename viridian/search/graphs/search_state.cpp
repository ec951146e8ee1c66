#include "viridian/search/graphs/search_state.hpp"

#include <algorithm>

#include "viridian/rewrite/retrace.hpp"

namespace viridian::search {
namespace {

constexpr Seconds longest_solve{1};    // of one graph among many; the one that is kept is solved again
constexpr double close_enough = 1e-4;  // relative gap of such a graph, if the objective is not additive

}  // namespace

SearchState::SearchState(const cost::PriceSource& source, const Objective& objective,
                         const OuterOptions& options)
    : source_(source, [this] { return timed_ && left() < Seconds(0); }),
      objective_(objective),
      options_(options),
      to_proof_(options.assign),
      rules_(options.rules),
      folds_(options.visited ? rewrite::Large::computed : rewrite::Large::stand_in) {
    if (rules_.folds == nullptr) rules_.folds = &folds_;
    options_.assign.exact.time_limit = std::min(options_.assign.exact.time_limit, longest_solve);
    options_.assign.exact.tolerance = close_enough;
    if (options_.visited || !LocalEstimate::possible(objective, options_.assign))
        options_.pricing = Pricing::whole;
}

Result<Outcome> SearchState::assign(const graph::Graph& graph, const AssignOptions& options) const {
    VIRIDIAN_TRY(const Instance instance, Instance::of(graph, source_.source(), options));
    return solve(instance, objective_, options);
}

template <class T>
Result<std::optional<T>> SearchState::if_priced(Result<T> answer) {
    if (answer.ok()) return std::optional<T>(*std::move(answer));
    const ErrorCode code = answer.error().code;
    if (code == ErrorCode::cancelled)
        cancelled_ = true;
    else if (code == ErrorCode::unsupported || code == ErrorCode::missing_entry)
        ++result_.unpriced;
    else
        return std::move(answer).error();
    return std::optional<T>();
}

Result<std::optional<Outcome>> SearchState::assign_whole(const graph::Graph& graph) {
    ++result_.whole;
    return if_priced(assign(graph, options_.assign));
}

Result<std::optional<double>> SearchState::estimate(LocalEstimate& estimate, const graph::Graph& graph) {
    return if_priced(estimate.of(graph));
}

void SearchState::estimate_from(const graph::Graph& graph, const Outcome& outcome,
                                std::optional<LocalEstimate>& estimate) const {
    estimate.emplace(graph, outcome, source_.source(), objective_, options_.assign, options_.radius);
}

std::optional<double> SearchState::known_to_other(const Strategy& asking, std::uint64_t hash) const {
    return (&asking == &lead_ ? beside_ : lead_).known_cost(hash);
}

Result<void> SearchState::begin(const graph::Graph& graph) {
    VIRIDIAN_TRY(given_outcome_, assign(graph, options_.assign));
    if (objective_.needs_start()) options_.assign.start = to_proof_.start = given_outcome_.start;
    if (options_.visited) options_.visited(graph, given_outcome_);
    given_ = graph;
    result_.whole = 1;
    lead_.begin(graph, given_outcome_);
    if (options_.method == OuterMethod::joint) beside_.begin(graph, given_outcome_);
    begin_ = std::chrono::steady_clock::now();
    timed_ = true;
    report_improvement();
    return {};
}

OuterProgress SearchState::now() const {
    const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - begin_;
    return {lead_.graphs() + beside_.graphs(), lead_.waiting() + beside_.waiting(), best_cost(),
            Seconds(gone.count())};
}

Seconds SearchState::left() const { return options_.time_limit - now().seconds; }

std::optional<EndedBy> SearchState::stopped() const {
    if (options_.cancelled && options_.cancelled()) return EndedBy::cancelled;
    if (lead_.graphs() + beside_.graphs() >= options_.most_graphs) return EndedBy::graphs;
    if (left() < Seconds(0)) return EndedBy::time;
    if (cancelled_) return EndedBy::cancelled;
    return std::nullopt;
}

Result<void> SearchState::retrace() {
    if (result_.certificate.empty()) return {};
    auto real = rewrite::retrace(given_, result_.certificate);
    if (real.ok()) {
        result_.graph = std::move(real->graph);
        result_.certificate = std::move(real->certificate);
    } else if (real.error().code == ErrorCode::mismatch) {
        result_.graph = given_;
        result_.outcome = given_outcome_;
        result_.certificate.clear();
    } else {
        return std::move(real).error();
    }
    return {};
}

Result<OuterResult> SearchState::finish() && {
    result_.ended_by = stopped().value_or(EndedBy::exhausted);
    timed_ = false;
    result_.graph = lead_.best().graph;
    result_.certificate = lead_.best().certificate;
    result_.outcome = lead_.best_outcome();
    VIRIDIAN_TRY(retrace());
    if (result_.ended_by != EndedBy::cancelled) {
        graph::Graph graph = result_.graph;
        rewrite::Options real = rules_;
        real.folds = nullptr;
        VIRIDIAN_TRY(const rewrite::Outcome simplified, rewrite::simplify(graph, real));
        if (!simplified.certificate.empty() || result_.outcome.assignment.gap() > 0) {
            VIRIDIAN_TRY(auto outcome, if_priced(assign(graph, to_proof_)));
            if (outcome && outcome->assignment.value <= result_.outcome.assignment.value) {
                result_.graph = std::move(graph);
                result_.outcome = std::move(*outcome);
                result_.certificate.insert(result_.certificate.end(), simplified.certificate.begin(),
                                           simplified.certificate.end());
            }
        }
    }
    const OuterProgress end = now();
    result_.graphs = end.graphs;
    result_.seconds = end.seconds;
    return std::move(result_);
}

}  // namespace viridian::search
