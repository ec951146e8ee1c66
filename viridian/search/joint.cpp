// Joint changes (docs/search.md). A change is a few substitutions in one place of the graph, priced by
// assigning the whole graph. Changes that do not meet add up, nearly; so the best set of them is found at
// once (disjoint.hpp), instead of one by one.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "viridian/search/alike.hpp"
#include "viridian/search/disjoint.hpp"
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

// By rule and surroundings of its place: the alternatives of the cheapest change that starts there; empty
// where none pays. It holds in later rounds too.
using Look = std::pair<std::string, std::uint64_t>;
using Paid = std::map<Look, std::vector<std::string>>;

// Called between places: lets the other search go on.
using Turn = std::function<Result<void>()>;

constexpr std::size_t plain_share = 3;     // graphs of Algorithm 1 beside one of these
constexpr int alike_within = 4;            // steps around a node
constexpr std::size_t most_changes = 200;  // of which the best set is looked for

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
    Joint(OuterRun& run, const Place& base, std::size_t depth, Paid& paid)
        : run_(run), base_(base), depth_(depth), paid_(paid), uses_(graph::uses(base.graph)) {}

    // Every place, `depth` substitutions deep; where a place that looks alike was explored before, only the
    // rules that paid most there.
    Result<void> explore(const Turn& turn) {
        VIRIDIAN_TRY(std::vector<rewrite::Alternative> first,
                     rewrite::alternatives(base_.graph, run_.rules()));
        const std::vector<std::uint64_t> looks = surroundings(base_.graph, uses_, alike_within);
        for (rewrite::Alternative& alternative : first) {
            if (run_.stopped()) return {};
            const Look look(alternative.application.rule, looks[index(alternative.application.at)]);
            const auto known = paid_.find(look);
            if (known != paid_.end() && known->second.empty()) continue;
            const std::size_t before = changes_.size();
            VIRIDIAN_TRY(std::optional<Partial> start, follow({}, std::move(alternative)));
            std::vector<Partial> open;
            if (start) open.push_back(std::move(*start));
            const std::size_t depth = known == paid_.end() ? depth_ : known->second.size();
            for (std::size_t d = 1; d < depth && !open.empty(); ++d) {
                VIRIDIAN_TRY(open, deepen(open, known == paid_.end() ? std::string() : known->second[d]));
            }
            if (known == paid_.end() && !run_.stopped()) paid_.emplace(look, rules_that_paid(before));
            VIRIDIAN_TRY(turn());
        }
        return {};
    }

    // The changes that together promise most, one of which may be all. Empty: none helps.
    [[nodiscard]] std::vector<const Change*> choose() const {
        const std::vector<const Change*> worth = undominated();
        std::vector<double> gains;
        std::vector<std::vector<bool>> clash(worth.size(), std::vector<bool>(worth.size(), false));
        for (const Change* change : worth) gains.push_back(base_.cost - change->cost);
        for (std::size_t a = 0; a < worth.size(); ++a)
            for (std::size_t b = a + 1; b < worth.size(); ++b)
                clash[a][b] = clash[b][a] = meet(*worth[a], *worth[b]);
        const std::vector<std::size_t> together = best_together(gains, clash);
        // One that takes the place of a better one waits, where that must wait for a still better one.
        const auto waits = [&](std::size_t i) {
            for (std::size_t better = 0; better < worth.size(); ++better)
                if (clash[i][better] && gains[better] > gains[i] &&
                    std::ranges::any_of(together, [&](std::size_t best) {
                        return best != i && clash[best][better] && gains[best] >= gains[better];
                    }))
                    return true;
            return false;
        };
        std::vector<const Change*> chosen;
        for (const std::size_t i : together)
            if (!waits(i)) chosen.push_back(worth[i]);
        return chosen;
    }

    [[nodiscard]] const Change* cheapest() const {
        return &*std::min_element(changes_.begin(), changes_.end(),
                                  [](const Change& a, const Change& b) { return a.cost < b.cost; });
    }

    // The base graph with these changes.
    Result<Place> with(const std::vector<const Change*>& chosen) const {
        Place place = base_;
        for (const Change* change : chosen) {
            Place next = place;
            VIRIDIAN_TRY(const bool fits, apply(*change, next));
            if (fits) place = std::move(next);
        }
        VIRIDIAN_TRY(const rewrite::Certificate simplified,
                     rewrite::simplify_near(place.graph, rewrite::changed_nodes(base_.graph, place.graph),
                                            run_.rules()));
        append(place.certificate, simplified);
        return place;
    }

  private:
    static bool meet(const Change& a, const Change& b) {
        return std::any_of(a.touched.begin(), a.touched.end(),
                           [&](NodeId id) { return b.touched.contains(id); });
    }

    // Cheapest first, without those for which another costs no more and touches nothing else.
    [[nodiscard]] std::vector<const Change*> undominated() const {
        std::vector<const Change*> all, kept;
        for (const Change& change : changes_) all.push_back(&change);
        std::stable_sort(all.begin(), all.end(),
                         [](const Change* a, const Change* b) { return a->cost < b->cost; });
        for (const Change* change : all) {
            const bool dominated = std::any_of(kept.begin(), kept.end(), [&](const Change* other) {
                return std::includes(change->touched.begin(), change->touched.end(), other->touched.begin(),
                                     other->touched.end());
            });
            if (!dominated) kept.push_back(change);
            if (kept.size() == most_changes) break;
        }
        return kept;
    }

    // One more substitution; nothing where that graph was met in this round, cannot be priced or costs too
    // much.
    Result<std::optional<Partial>> follow(const rewrite::Certificate& before,
                                          rewrite::Alternative alternative) {
        Partial next{std::move(alternative.graph), before, 0};
        VIRIDIAN_TRY(const rewrite::Certificate simplified,
                     rewrite::simplify_near(next.graph, rewrite::changed_nodes(base_.graph, next.graph),
                                            run_.rules()));
        next.certificate.push_back(std::move(alternative.application));
        append(next.certificate, simplified);
        Place place{std::move(next.graph), base_.certificate};
        append(place.certificate, next.certificate);
        VIRIDIAN_TRY(const bool priced, run_.estimate(place));
        if (!priced || !met_.insert(place.hash).second) return std::optional<Partial>();
        next.graph = std::move(place.graph);
        next.cost = place.cost;
        if (next.cost < base_.cost) {
            Change change{{}, touched_nodes(base_.graph, uses_, next.graph), next.cost};
            for (const rewrite::Application& entry : next.certificate)
                change.steps.push_back({rewrite::find_rule(entry.rule), entry.at});
            changes_.push_back(std::move(change));
        }
        if (next.cost >= run_.options().alpha * base_.cost) return std::optional<Partial>();
        return std::optional(std::move(next));
    }

    // The alternatives of the cheapest change found since there were `before`.
    [[nodiscard]] std::vector<std::string> rules_that_paid(std::size_t before) const {
        const Change* best = nullptr;
        for (std::size_t i = before; i < changes_.size(); ++i)
            if (best == nullptr || changes_[i].cost < best->cost) best = &changes_[i];
        std::vector<std::string> names;
        if (best != nullptr)
            for (const Step& step : best->steps)
                if (step.rule->kind == rewrite::Kind::alternative) names.emplace_back(step.rule->name);
        return names;
    }

    // One step further from each, by one rule alone where it is named.
    Result<std::vector<Partial>> deepen(const std::vector<Partial>& open, const std::string& rule) {
        std::vector<Partial> found;
        for (const Partial& partial : open) {
            VIRIDIAN_TRY(auto next, rewrite::alternatives_near(
                                        partial.graph, rewrite::changed_nodes(base_.graph, partial.graph),
                                        run_.rules()));
            for (rewrite::Alternative& alternative : next) {
                if (run_.stopped()) return std::vector<Partial>();
                if (!rule.empty() && alternative.application.rule != rule) continue;
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
    std::size_t depth_;
    Paid& paid_;
    graph::Uses uses_;
    std::vector<Change> changes_;
    std::set<std::uint64_t> met_;  // graphs of this round, by structural hash
};

// A round of changes this deep.
Result<void> improve(OuterRun& run, Place& from, std::size_t depth, Paid& paid, const Turn& turn) {
    VIRIDIAN_TRY(const bool stands, run.stand_on(from));
    if (!stands) return {};
    Joint joint(run, from, depth, paid);
    VIRIDIAN_TRY(joint.explore(turn));
    const std::vector<const Change*> chosen = joint.choose();
    if (!chosen.empty()) {
        VIRIDIAN_TRY(Place together, joint.with(chosen));
        VIRIDIAN_TRY(run.price_whole(together));
    }
    // Neighbours can spoil each other's gain: then the best one alone.
    if (!(run.best_cost() < from.cost) && chosen.size() > 1) {
        VIRIDIAN_TRY(Place alone, joint.with({joint.cheapest()}));
        VIRIDIAN_TRY(run.price_whole(alone));
    }
    return {};
}

}  // namespace

Result<void> improve_jointly(OuterRun& run, Place from, OuterRun& beside) {
    const std::size_t deepest = run.options().depth;
    bool more = true;  // of Algorithm 1
    beside.wait_for(beside.best());
    const auto expand_one = [&]() -> Result<void> {
        VIRIDIAN_TRY(more, expand(beside));
        return {};
    };
    const Turn turn = [&]() -> Result<void> {
        while (more && !run.stopped() && beside.graphs() < plain_share * run.graphs())
            VIRIDIAN_TRY(expand_one());
        return {};
    };
    Paid single, deep;
    while (!run.stopped()) {
        const double before = from.cost;
        // Single substitutions first: they are few, and most of the gain.
        for (bool better = deepest > 1; better && !run.stopped();) {
            VIRIDIAN_TRY(improve(run, from, 1, single, turn));
            better = run.best_cost() < from.cost;
            if (better) from = run.best();
        }
        if (run.best_cost() < beside.best_cost()) {  // Algorithm 1 goes on from there too
            beside.adopt(run);
            beside.wait_for(beside.best());
        }
        if (!run.stopped()) VIRIDIAN_TRY(improve(run, from, deepest, deep, turn));
        if (!(run.best_cost() < before)) {
            // Nothing joint is left here; perhaps where Algorithm 1 gets to.
            while (more && !run.stopped() && !(beside.best_cost() < run.best_cost()))
                VIRIDIAN_TRY(expand_one());
            run.adopt(beside);
            if (!(run.best_cost() < before)) return {};
        }
        from = run.best();
    }
    return {};
}

}  // namespace viridian::search
