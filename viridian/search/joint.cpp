// Joint changes (docs/search.md). A change is a few substitutions in one place of the graph, priced by
// assigning the whole graph. Changes that do not meet add up, nearly; so the best set of them is found at
// once, as one more assignment problem, instead of one by one.
#include <algorithm>
#include <set>

#include "viridian/search/exact/solve.hpp"
#include "viridian/search/outer_run.hpp"

namespace viridian::search {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

struct Step {
    const rewrite::Rule* rule = nullptr;
    NodeId at = NodeId::none;  // of the base graph, or counted on from its last node
};

struct Change {
    std::vector<Step> steps;
    std::set<NodeId> touched;  // nodes of the base graph that went or read something else
    double cost = 0;           // of the base graph with this change alone
};

// A change in the making.
struct Partial {
    Graph graph;
    rewrite::Certificate certificate;  // from the base graph
    double cost = 0;
};

void append(rewrite::Certificate& certificate, const rewrite::Certificate& more) {
    certificate.insert(certificate.end(), more.begin(), more.end());
}

// Nodes of `base` that are gone or altered, and their neighbours in it.
std::set<NodeId> touched_nodes(const Graph& base, const graph::Uses& uses, const Graph& after) {
    std::set<NodeId> touched;
    for (const NodeId id : base.nodes()) {
        if (after.alive(id) && &after.node(id) == &base.node(id)) continue;
        touched.insert(id);
        for (const ValueId input : base.node(id).inputs)
            if (base.producer(input) != nullptr) touched.insert(base.value(input).producer);
        for (const ValueId output : base.node(id).outputs)
            if (output != ValueId::none)
                touched.insert(uses.readers[index(output)].begin(), uses.readers[index(output)].end());
    }
    return touched;
}

class Joint {
  public:
    Joint(OuterRun& run, const Place& base)
        : run_(run), base_(base), uses_(graph::uses(base.graph)), changes_() {}

    // Every place, `depth` substitutions deep.
    Result<void> explore() {
        VIRIDIAN_TRY(std::vector<rewrite::Alternative> first,
                     rewrite::alternatives(base_.graph, run_.rules()));
        for (rewrite::Alternative& alternative : first) {
            if (run_.stopped()) return {};
            VIRIDIAN_TRY(std::optional<Partial> start, follow({}, std::move(alternative)));
            std::vector<Partial> open;
            if (start) open.push_back(std::move(*start));
            for (std::size_t depth = 2; depth <= run_.options().depth && !open.empty(); ++depth) {
                VIRIDIAN_TRY(open, deepen(open));
            }
        }
        return {};
    }

    // The changes that together promise most, one of which may be all. Empty: none helps.
    [[nodiscard]] std::vector<const Change*> choose() const {
        Problem problem;
        for (const Change& change : changes_) problem.add_variable({0, change.cost - base_.cost});
        Matrix never(2, 2);
        never(1, 1) = infinite;
        for (std::size_t a = 0; a < changes_.size(); ++a)
            for (std::size_t b = a + 1; b < changes_.size(); ++b)
                if (meet(changes_[a], changes_[b]))
                    problem.add_cost(static_cast<Variable>(a), static_cast<Variable>(b), never);
        SolveOptions brief;
        brief.time_limit = Seconds(1);
        const Solution solution = solve_exact(problem, brief);
        std::vector<const Change*> chosen;
        for (std::size_t i = 0; i < solution.states.size(); ++i)
            if (solution.states[i] == 1) chosen.push_back(&changes_[i]);
        std::stable_sort(chosen.begin(), chosen.end(),
                         [](const Change* a, const Change* b) { return a->cost < b->cost; });
        return chosen;
    }

    [[nodiscard]] const Change* cheapest() const {
        const auto best = std::min_element(changes_.begin(), changes_.end(),
                                           [](const Change& a, const Change& b) { return a.cost < b.cost; });
        return best == changes_.end() ? nullptr : &*best;
    }

    // The base graph with these changes, priced; no cost where it could not be.
    Result<std::optional<Place>> with(const std::vector<const Change*>& chosen) {
        Place place = base_;
        for (const Change* change : chosen) {
            Place next = place;
            VIRIDIAN_TRY(const bool fits, apply(*change, next));
            if (fits) place = std::move(next);
        }
        VIRIDIAN_TRY(const rewrite::Outcome simplified, rewrite::simplify(place.graph, run_.rules()));
        append(place.certificate, simplified.certificate);
        VIRIDIAN_TRY(const auto cost, run_.price(place.graph, place.certificate, changes_.size()));
        if (!cost) return std::optional<Place>();
        place.cost = *cost;
        return std::optional(std::move(place));
    }

  private:
    static bool meet(const Change& a, const Change& b) {
        return std::any_of(a.touched.begin(), a.touched.end(),
                           [&](NodeId id) { return b.touched.contains(id); });
    }

    // One more substitution; nothing where that graph was seen, cannot be priced or costs too much.
    Result<std::optional<Partial>> follow(const rewrite::Certificate& before,
                                          rewrite::Alternative alternative) {
        Partial next{std::move(alternative.graph), before, 0};
        VIRIDIAN_TRY(const rewrite::Certificate simplified,
                     rewrite::simplify_near(next.graph, rewrite::changed_nodes(base_.graph, next.graph),
                                            run_.rules()));
        next.certificate.push_back(std::move(alternative.application));
        append(next.certificate, simplified);
        rewrite::Certificate whole = base_.certificate;
        append(whole, next.certificate);
        VIRIDIAN_TRY(const auto cost, run_.price(next.graph, whole, changes_.size()));
        if (!cost) return std::optional<Partial>();
        next.cost = *cost;
        if (*cost < base_.cost) {
            Change change{{}, touched_nodes(base_.graph, uses_, next.graph), *cost};
            for (const rewrite::Application& entry : next.certificate)
                change.steps.push_back({rewrite::find_rule(entry.rule), entry.at});
            changes_.push_back(std::move(change));
        }
        if (*cost >= run_.options().alpha * base_.cost) return std::optional<Partial>();
        return std::optional(std::move(next));
    }

    Result<std::vector<Partial>> deepen(const std::vector<Partial>& open) {
        std::vector<Partial> found;
        for (const Partial& partial : open) {
            VIRIDIAN_TRY(auto next, rewrite::alternatives_near(
                                        partial.graph, rewrite::changed_nodes(base_.graph, partial.graph),
                                        run_.rules()));
            for (rewrite::Alternative& alternative : next) {
                if (run_.stopped()) return std::vector<Partial>();
                VIRIDIAN_TRY(std::optional<Partial> deeper,
                             follow(partial.certificate, std::move(alternative)));
                if (deeper) found.push_back(std::move(*deeper));
            }
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const Partial& a, const Partial& b) { return a.cost < b.cost; });
        if (found.size() > run_.options().width) found.resize(run_.options().width);
        return found;
    }

    // Node ids that the change made itself are counted on from the end of the graph it is applied to.
    Result<bool> apply(const Change& change, Place& place) const {
        const std::size_t slots = base_.graph.node_slots();
        const std::size_t start = place.graph.node_slots();
        for (const Step& step : change.steps) {
            const std::size_t at = index(step.at) < slots ? index(step.at) : index(step.at) - slots + start;
            if (!place.graph.alive(static_cast<NodeId>(at))) return false;
            VIRIDIAN_TRY(const auto done,
                         rewrite::apply(*step.rule, place.graph, static_cast<NodeId>(at), run_.rules()));
            if (!done) return false;
            place.certificate.push_back(*done);
        }
        return true;
    }

    OuterRun& run_;
    const Place& base_;
    graph::Uses uses_;
    std::vector<Change> changes_;
};

}  // namespace

Result<Place> improve_jointly(OuterRun& run, Place from) {
    while (!run.stopped()) {
        Joint joint(run, from);
        VIRIDIAN_TRY(joint.explore());
        const std::vector<const Change*> chosen = joint.choose();
        if (chosen.empty()) return from;
        VIRIDIAN_TRY(std::optional<Place> next, joint.with(chosen));
        // Neighbours can spoil each other's gain: then the best one alone.
        if (!next || next->cost > joint.cheapest()->cost) {
            const Place& best = from;
            Place alone{run.best().graph, run.best().certificate, run.best_cost()};
            if (alone.cost >= best.cost) return from;
            next = std::move(alone);
        }
        if (next->cost >= from.cost) return from;
        from = std::move(*next);
    }
    return from;
}

}  // namespace viridian::search
