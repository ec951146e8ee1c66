#include "viridian/search/outer_run.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/rewrite/retrace.hpp"

namespace viridian::search {
namespace {

constexpr Seconds longest_solve{1};    // of one graph among many; the one that is kept is solved again
constexpr double close_enough = 1e-4;  // relative gap of such a graph, where the objective is not additive
constexpr std::size_t most_waiting = 4096;

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

OuterRun::OuterRun(const cost::Source& source, const Objective& objective, const OuterOptions& options)
    : remembered_(source, [this] { return searching_ && left() < Seconds(0); }),
      objective_(objective),
      options_(options),
      unhurried_(options.assign),
      rules_(options.rules),
      folds_(options.visited ? rewrite::Large::computed : rewrite::Large::stand_in) {
    if (rules_.folds == nullptr) rules_.folds = &folds_;
    options_.assign.exact.time_limit = std::min(options_.assign.exact.time_limit, longest_solve);
    options_.assign.exact.tolerance = close_enough;
    if (options_.visited || !Reassigner::possible(objective, options_.assign))
        options_.reassign = Reassign::whole;
}

Result<Outcome> OuterRun::assign(const graph::Graph& graph, const AssignOptions& options) const {
    VIRIDIAN_TRY(const std::vector<plan::Region> regions, plan::candidate_regions(graph));
    VIRIDIAN_TRY(const Instance instance,
                 Instance::make(graph, regions, remembered_.source(), options.boundary, options.keep_f32));
    return solve(instance, objective_, options);
}

template <class T>
Result<std::optional<T>> OuterRun::if_priced(Result<T> answer) {
    if (answer.ok()) return std::optional<T>(*std::move(answer));
    const ErrorCode code = answer.error().code;
    if (code == ErrorCode::cancelled)
        cancelled_ = true;
    else if (code == ErrorCode::unsupported || code == ErrorCode::missing_entry)
        ++best_.unpriced;
    else
        return std::move(answer).error();
    return std::optional<T>();
}

Result<std::optional<Outcome>> OuterRun::try_assign(const graph::Graph& graph) {
    ++best_.whole;
    return if_priced(assign(graph, options_.assign));
}

OuterProgress OuterRun::now() const {
    OuterProgress now{best_.graphs, waiting_.size(), best_cost(), Seconds(seconds_since(begin_))};
    if (other_ != nullptr) {
        now.graphs += other_->best_.graphs;
        now.waiting += other_->waiting_.size();
        now.best = std::min(now.best, other_->best_cost());
    }
    return now;
}

Seconds OuterRun::left() const { return Seconds(options_.time_limit.value - seconds_since(begin_)); }

Result<void> OuterRun::begin(const graph::Graph& graph) {
    VIRIDIAN_TRY(best_.outcome, assign(graph, options_.assign));
    if (objective_.needs_start()) options_.assign.start = unhurried_.start = best_.outcome.start;
    if (options_.visited) options_.visited(graph, best_.outcome);
    best_.graph = given_ = graph;
    given_outcome_ = best_.outcome;
    best_.graphs = best_.whole = 1;
    seen_.emplace(structural_hash(graph), best_cost());
    begin_ = std::chrono::steady_clock::now();
    searching_ = true;
    best_.improvements.push_back(now());
    return {};
}

std::optional<EndedBy> OuterRun::stopped() const {
    if (options_.cancelled && options_.cancelled()) return EndedBy::cancelled;
    if (best_.graphs + (other_ == nullptr ? 0 : other_->best_.graphs) >= options_.most_graphs)
        return EndedBy::graphs;
    if (left() < Seconds(0)) return EndedBy::time;
    if (cancelled_) return EndedBy::cancelled;
    return std::nullopt;
}

void OuterRun::adopt(const OuterRun& other) {
    if (!(other.best_cost() < best_cost())) return;
    best_.graph = other.best_.graph;
    best_.outcome = other.best_.outcome;
    best_.certificate = other.best_.certificate;
    best_.improvements.push_back(now());
}

void OuterRun::keep(const Place& place) {
    if (!(place.cost < options_.alpha * best_cost())) return;
    waiting_.insert({place.cost, best_.graphs, place});
    if (waiting_.size() <= most_waiting) return;
    waiting_.erase(std::prev(waiting_.end()));
    ++best_.crowded_out;
}

std::optional<Place> OuterRun::next() {
    if (waiting_.empty()) return std::nullopt;
    return std::move(waiting_.extract(waiting_.begin()).value().place);
}

Result<bool> OuterRun::stand_on(Place& place) {
    near_.reset();
    if (options_.reassign == Reassign::whole) return true;
    VIRIDIAN_TRY(auto outcome, try_assign(place.graph));
    if (!outcome) return false;
    base_ = std::move(*outcome);
    place.cost = base_.assignment.value;
    place.exact = true;
    near_.emplace(place.graph, base_, remembered_.source(), objective_, options_.assign, options_.radius);
    return true;
}

Result<bool> OuterRun::price_whole(Place& place, double below) {
    place.hash = structural_hash(place.graph);
    const auto [seen, fresh] = seen_.try_emplace(place.hash, infinite);
    if (!fresh) return false;
    double& cost = seen->second;  // stays where it is
    ++best_.graphs;
    VIRIDIAN_TRY(auto outcome, try_assign(place.graph));
    if (!outcome) return false;
    if (options_.visited) options_.visited(place.graph, *outcome);
    place.cost = cost = outcome->assignment.value;
    place.exact = true;
    if (place.cost < std::min(best_cost(), below)) {
        best_.graph = place.graph;
        best_.outcome = std::move(*outcome);
        best_.certificate = place.certificate;
        best_.improvements.push_back(now());
    }
    keep(place);
    if (options_.progress) options_.progress(now());
    return true;
}

Result<bool> OuterRun::price(Place& place) {
    place.hash = structural_hash(place.graph);
    return price(place, true);
}

Result<bool> OuterRun::estimate(Place& place) {
    place.hash = structural_hash(place.graph);
    const auto seen = seen_.find(place.hash);
    if (seen == seen_.end()) return price(place, false);
    place.cost = seen->second;
    place.exact = false;
    return place.cost < infinite;
}

std::optional<double> OuterRun::known_elsewhere(std::uint64_t hash) const {
    if (other_ == nullptr) return std::nullopt;
    const auto at = other_->seen_.find(hash);
    return at == other_->seen_.end() || at->second == infinite ? std::nullopt : std::optional(at->second);
}

Result<bool> OuterRun::price(Place& place, bool confirm) {
    if (!near_) return price_whole(place);
    if (!seen_.try_emplace(place.hash, infinite).second) return false;
    std::optional<double> estimate = known_elsewhere(place.hash);
    const bool asked = !estimate;
    if (asked) {
        VIRIDIAN_TRY(estimate, if_priced(near_->estimate(place.graph)));
    }
    if (!estimate) {
        ++best_.graphs;
        return false;
    }
    if (confirm && *estimate < best_cost() - 1e-9 * std::abs(best_cost())) {
        seen_.erase(place.hash);
        return price_whole(place);
    }
    best_.graphs += asked ? 1 : 0;
    place.cost = seen_[place.hash] = *estimate;
    place.exact = false;
    keep(place);
    if (options_.progress) options_.progress(now());
    return true;
}

Result<void> OuterRun::retrace() {
    if (best_.certificate.empty()) return {};
    auto real = rewrite::retrace(given_, best_.certificate);
    if (real.ok()) {
        best_.graph = std::move(real->graph);
        best_.certificate = std::move(real->certificate);
    } else if (real.error().code == ErrorCode::mismatch) {
        best_.graph = given_;
        best_.outcome = given_outcome_;
        best_.certificate.clear();
    } else {
        return std::move(real).error();
    }
    return {};
}

Result<OuterResult> OuterRun::finish() && {
    best_.ended_by = stopped().value_or(EndedBy::exhausted);
    searching_ = false;
    VIRIDIAN_TRY(retrace());
    if (best_.ended_by != EndedBy::cancelled) {
        graph::Graph graph = best_.graph;
        rewrite::Options real = rules_;
        real.folds = nullptr;
        VIRIDIAN_TRY(const rewrite::Outcome simplified, rewrite::simplify(graph, real));
        if (!simplified.certificate.empty() || best_.outcome.assignment.gap() > 0) {
            VIRIDIAN_TRY(auto outcome, if_priced(assign(graph, unhurried_)));
            if (outcome && outcome->assignment.value <= best_cost()) {
                best_.graph = std::move(graph);
                best_.outcome = std::move(*outcome);
                best_.certificate.insert(best_.certificate.end(), simplified.certificate.begin(),
                                         simplified.certificate.end());
            }
        }
    }
    best_.seconds = now().seconds;
    if (other_ != nullptr) {
        best_.graphs += other_->best_.graphs;
        best_.whole += other_->best_.whole;
        best_.unpriced += other_->best_.unpriced;
        best_.crowded_out += other_->best_.crowded_out;
    }
    return std::move(best_);
}

}  // namespace viridian::search
