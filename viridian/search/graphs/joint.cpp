// Joint changes (docs/search.md). A change is a few substitutions in one place of the graph, priced by
// itself. Gains of changes that do not touch each other nearly add up, so the best set of them is found at
// once (independent_set.hpp), instead of one after the other.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "viridian/search/graphs/independent_set.hpp"
#include "viridian/search/graphs/neighbourhood_hash.hpp"
#include "viridian/search/graphs/search_state.hpp"

namespace viridian::search {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::ValueId;

struct Substitution {
    const rewrite::Rule* rule = nullptr;
    NodeId at = NodeId::none;  // of the base graph, or counted on from its last node
};

struct LocalChange {
    std::vector<Substitution> substitutions;
    std::set<NodeId> touched;  // nodes of the base graph that went or read something else
    double cost = 0;           // of the base graph with this change alone
};

// A change that may be followed further.
struct UnfinishedChange {
    Graph graph;
    rewrite::Certificate certificate;  // from the base graph
    double cost = 0;
};

// A rule, and the hash of the neighbourhood that it is applied in.
using RuleAtShape = std::pair<std::string, std::uint64_t>;
// The rules of the cheapest change that starts there; none if no change gains. Later rounds use it too.
using KnownGains = std::map<RuleAtShape, std::vector<std::string>>;

// Called between places: lets the other strategy go on.
using YieldToOther = std::function<Result<void>()>;

constexpr std::size_t backtracking_share = 3;  // graphs of Algorithm 1 for each one of joint changes
constexpr int neighbourhood_steps = 4;         // edges around a node
constexpr std::size_t most_changes = 200;      // of which the best set is looked for

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
                touched.insert(uses.readers(output).begin(), uses.readers(output).end());
    }
    return touched;
}

class JointRound {
  public:
    JointRound(Strategy& strategy, const RewrittenGraph& base, std::size_t depth, KnownGains& gains)
        : strategy_(strategy),
          shared_(strategy.shared()),
          base_(base),
          depth_(depth),
          gains_(gains),
          uses_(graph::uses(base.graph)) {}

    // Tries every place, `depth` substitutions deep; if one of equal neighbourhood was explored before, only
    // the rules that gained most there.
    Result<void> explore(const YieldToOther& yield) {
        VIRIDIAN_TRY(std::vector<rewrite::Alternative> first,
                     rewrite::alternatives(base_.graph, shared_.rules()));
        const std::vector<std::uint64_t> shapes =
            neighbourhood_hashes(base_.graph, uses_, neighbourhood_steps);
        for (rewrite::Alternative& alternative : first) {
            if (shared_.stopped()) return {};
            const RuleAtShape here(alternative.application.rule, shapes[index(alternative.application.at)]);
            const auto known = gains_.find(here);
            if (known != gains_.end() && known->second.empty()) continue;
            const std::size_t before = changes_.size();
            VIRIDIAN_TRY(std::optional<UnfinishedChange> start, follow({}, std::move(alternative)));
            std::vector<UnfinishedChange> open;
            if (start) open.push_back(std::move(*start));
            const std::size_t depth = known == gains_.end() ? depth_ : known->second.size();
            for (std::size_t d = 1; d < depth && !open.empty(); ++d) {
                VIRIDIAN_TRY(open, deepen(open, known == gains_.end() ? std::string() : known->second[d]));
            }
            if (known == gains_.end() && !shared_.stopped()) gains_.emplace(here, rules_that_gained(before));
            VIRIDIAN_TRY(yield());
        }
        return {};
    }

    // The changes that together promise most, one of which may be all. Empty: none helps.
    [[nodiscard]] std::vector<const LocalChange*> choose() const {
        const std::vector<const LocalChange*> worth = undominated();
        std::vector<double> gains;
        std::vector<std::vector<bool>> clash(worth.size(), std::vector<bool>(worth.size(), false));
        for (const LocalChange* change : worth) gains.push_back(base_.cost - change->cost);
        for (std::size_t a = 0; a < worth.size(); ++a)
            for (std::size_t b = a + 1; b < worth.size(); ++b)
                clash[a][b] = clash[b][a] = meet(*worth[a], *worth[b]);
        const std::vector<std::size_t> together = independent_set(gains, clash);
        // A change waits if it excludes a better one that itself is excluded by a still better one.
        const auto waits = [&](std::size_t i) {
            for (std::size_t better = 0; better < worth.size(); ++better)
                if (clash[i][better] && gains[better] > gains[i] &&
                    std::ranges::any_of(together, [&](std::size_t best) {
                        return best != i && clash[best][better] && gains[best] >= gains[better];
                    }))
                    return true;
            return false;
        };
        std::vector<const LocalChange*> chosen;
        for (const std::size_t i : together)
            if (!waits(i)) chosen.push_back(worth[i]);
        return chosen;
    }

    [[nodiscard]] const LocalChange* cheapest() const {
        return &*std::min_element(changes_.begin(), changes_.end(),
                                  [](const LocalChange& a, const LocalChange& b) { return a.cost < b.cost; });
    }

    // The base graph with these changes.
    Result<RewrittenGraph> with(const std::vector<const LocalChange*>& chosen) const {
        RewrittenGraph changed = base_;
        for (const LocalChange* change : chosen) {
            RewrittenGraph next = changed;
            VIRIDIAN_TRY(const bool fits, apply(*change, next));
            if (fits) changed = std::move(next);
        }
        VIRIDIAN_TRY(const rewrite::Certificate simplified,
                     rewrite::simplify_near(changed.graph, rewrite::changed_nodes(base_.graph, changed.graph),
                                            shared_.rules()));
        append(changed.certificate, simplified);
        return changed;
    }

  private:
    static bool meet(const LocalChange& a, const LocalChange& b) {
        return std::any_of(a.touched.begin(), a.touched.end(),
                           [&](NodeId id) { return b.touched.contains(id); });
    }

    // Cheapest first, without those that another beats: it costs no more and touches no other node.
    [[nodiscard]] std::vector<const LocalChange*> undominated() const {
        std::vector<const LocalChange*> all, kept;
        for (const LocalChange& change : changes_) all.push_back(&change);
        std::stable_sort(all.begin(), all.end(),
                         [](const LocalChange* a, const LocalChange* b) { return a->cost < b->cost; });
        for (const LocalChange* change : all) {
            const bool dominated = std::any_of(kept.begin(), kept.end(), [&](const LocalChange* other) {
                return std::includes(change->touched.begin(), change->touched.end(), other->touched.begin(),
                                     other->touched.end());
            });
            if (!dominated) kept.push_back(change);
            if (kept.size() == most_changes) break;
        }
        return kept;
    }

    // Makes one more substitution; absent if the graph was met in this round, cannot be priced or costs too
    // much to be followed further.
    Result<std::optional<UnfinishedChange>> follow(const rewrite::Certificate& before,
                                                   rewrite::Alternative alternative) {
        UnfinishedChange next{std::move(alternative.graph), before, 0};
        VIRIDIAN_TRY(const rewrite::Certificate simplified,
                     rewrite::simplify_near(next.graph, rewrite::changed_nodes(base_.graph, next.graph),
                                            shared_.rules()));
        next.certificate.push_back(std::move(alternative.application));
        append(next.certificate, simplified);
        RewrittenGraph found{std::move(next.graph), base_.certificate};
        append(found.certificate, next.certificate);
        VIRIDIAN_TRY(const bool priced, strategy_.estimate(found));
        if (!priced || !met_.insert(found.hash).second) return std::optional<UnfinishedChange>();
        next.graph = std::move(found.graph);
        next.cost = found.cost;
        if (next.cost < base_.cost) {
            LocalChange change{{}, touched_nodes(base_.graph, uses_, next.graph), next.cost};
            for (const rewrite::Application& entry : next.certificate)
                change.substitutions.push_back({rewrite::find_rule(entry.rule), entry.at});
            changes_.push_back(std::move(change));
        }
        if (next.cost >= shared_.options().alpha * base_.cost) return std::optional<UnfinishedChange>();
        return std::optional(std::move(next));
    }

    // The rules of the cheapest change found since there were `before`, without those that always pay.
    [[nodiscard]] std::vector<std::string> rules_that_gained(std::size_t before) const {
        const LocalChange* best = nullptr;
        for (std::size_t i = before; i < changes_.size(); ++i)
            if (best == nullptr || changes_[i].cost < best->cost) best = &changes_[i];
        std::vector<std::string> names;
        if (best != nullptr)
            for (const Substitution& step : best->substitutions)
                if (step.rule->kind == rewrite::Kind::alternative) names.emplace_back(step.rule->name);
        return names;
    }

    // Makes one more substitution in each, by this rule alone if it has a name.
    Result<std::vector<UnfinishedChange>> deepen(const std::vector<UnfinishedChange>& open,
                                                 const std::string& rule) {
        std::vector<UnfinishedChange> found;
        for (const UnfinishedChange& partial : open) {
            VIRIDIAN_TRY(auto next, rewrite::alternatives_near(
                                        partial.graph, rewrite::changed_nodes(base_.graph, partial.graph),
                                        shared_.rules()));
            for (rewrite::Alternative& alternative : next) {
                if (shared_.stopped()) return std::vector<UnfinishedChange>();
                if (!rule.empty() && alternative.application.rule != rule) continue;
                VIRIDIAN_TRY(std::optional<UnfinishedChange> deeper,
                             follow(partial.certificate, std::move(alternative)));
                if (deeper) found.push_back(std::move(*deeper));
            }
        }
        std::stable_sort(
            found.begin(), found.end(),
            [](const UnfinishedChange& a, const UnfinishedChange& b) { return a.cost < b.cost; });
        if (found.size() > shared_.options().width) found.resize(shared_.options().width);
        return found;
    }

    // Node ids that the change made itself are counted on from the end of the graph it is applied to.
    Result<bool> apply(const LocalChange& change, RewrittenGraph& to) const {
        const std::size_t slots = base_.graph.node_slots();
        const std::size_t start = to.graph.node_slots();
        for (const Substitution& step : change.substitutions) {
            const std::size_t at = index(step.at) < slots ? index(step.at) : index(step.at) - slots + start;
            if (!to.graph.alive(static_cast<NodeId>(at))) return false;
            VIRIDIAN_TRY(const auto done,
                         rewrite::apply(*step.rule, to.graph, static_cast<NodeId>(at), shared_.rules()));
            if (!done) return false;
            to.certificate.push_back(*done);
        }
        return true;
    }

    Strategy& strategy_;
    const SearchState& shared_;
    const RewrittenGraph& base_;
    std::size_t depth_;
    KnownGains& gains_;
    graph::Uses uses_;
    std::vector<LocalChange> changes_;
    std::set<std::uint64_t> met_;  // graphs of this round, by structural hash
};

// One round of changes this deep.
Result<void> improve(Strategy& strategy, RewrittenGraph& from, std::size_t depth, KnownGains& gains,
                     const YieldToOther& yield) {
    VIRIDIAN_TRY(const bool assigned, strategy.set_base(from));
    if (!assigned) return {};
    JointRound round(strategy, from, depth, gains);
    VIRIDIAN_TRY(round.explore(yield));
    const std::vector<const LocalChange*> chosen = round.choose();
    if (!chosen.empty()) {
        VIRIDIAN_TRY(RewrittenGraph together, round.with(chosen));
        VIRIDIAN_TRY(strategy.price_whole(together));
    }
    // Neighbours can spoil each other's gain: then the best one alone.
    if (!(strategy.best_cost() < from.cost) && chosen.size() > 1) {
        VIRIDIAN_TRY(RewrittenGraph alone, round.with({round.cheapest()}));
        VIRIDIAN_TRY(strategy.price_whole(alone));
    }
    return {};
}

}  // namespace

Result<void> improve_jointly(Strategy& lead, Strategy& beside) {
    const SearchState& shared = lead.shared();
    const std::size_t deepest = shared.options().depth;
    RewrittenGraph from = lead.best();
    bool more = true;  // whether Algorithm 1 has anything left
    beside.enqueue(beside.best());
    const auto expand_one = [&]() -> Result<void> {
        VIRIDIAN_TRY(more, expand(beside));
        return {};
    };
    const YieldToOther yield = [&]() -> Result<void> {
        while (more && !shared.stopped() && beside.graphs() < backtracking_share * lead.graphs())
            VIRIDIAN_TRY(expand_one());
        return {};
    };
    KnownGains single, deep;
    while (!shared.stopped()) {
        const double before = from.cost;
        // Single substitutions first: they are few, and most of the gain.
        for (bool better = deepest > 1; better && !shared.stopped();) {
            VIRIDIAN_TRY(improve(lead, from, 1, single, yield));
            better = lead.best_cost() < from.cost;
            if (better) from = lead.best();
        }
        if (lead.best_cost() < beside.best_cost()) {  // Algorithm 1 goes on from there too
            beside.adopt(lead);
            beside.enqueue(beside.best());
        }
        if (!shared.stopped()) VIRIDIAN_TRY(improve(lead, from, deepest, deep, yield));
        if (!(lead.best_cost() < before)) {
            // No joint change gains any more; perhaps one does from where Algorithm 1 gets to.
            while (more && !shared.stopped() && !(beside.best_cost() < lead.best_cost()))
                VIRIDIAN_TRY(expand_one());
            lead.adopt(beside);
            if (!(lead.best_cost() < before)) return {};
        }
        from = lead.best();
    }
    return {};
}

}  // namespace viridian::search
