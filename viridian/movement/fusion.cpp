#include "viridian/movement/fusion.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "viridian/graph/reference/movement.hpp"
#include "viridian/movement/cluster.hpp"
#include "viridian/movement/stacks.hpp"

namespace viridian::movement {
namespace {

using graph::Graph;
using graph::ValueId;
using Pairs = std::vector<std::array<std::size_t, 2>>;

class Finder {
  public:
    Finder(const Graph& graph, FusionRule rule, std::int64_t fast_words, std::vector<OperatorNode> operators)
        : graph_(graph),
          rule_(rule),
          fast_words_(fast_words),
          operators_(std::move(operators)),
          stacks_(graph) {
        for (std::size_t i = 0; i < operators_.size(); ++i) {
            Place place{.cluster = i, .stage = 0, .loops = {}};
            Stage stage;
            if (const auto& walk = operators_[i].walk) {
                stage.loops = walk->loops;
                for (std::size_t loop = 0; loop < walk->loops.size(); ++loop) place.loops.push_back(loop);
            }
            clusters_.push_back({.stages = {stage}, .members = {i}});
            places_.push_back(std::move(place));
        }
    }

    void fuse() {
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t reader = 0; reader < operators_.size(); ++reader)
                for (const std::size_t source : operators_[reader].sources)
                    changed = try_merge(source, reader, {}) || changed;
            if (rule_ != FusionRule::none) changed = fuse_siblings() || changed;
        }
    }

    // The clusters, producers before readers.
    [[nodiscard]] std::vector<const Cluster*> clusters() const {
        std::vector<const Cluster*> ordered;
        std::vector<bool> listed(clusters_.size(), false);
        const auto list = [&](const auto& self, std::size_t cluster) -> void {
            if (listed[cluster]) return;
            listed[cluster] = true;
            for (const std::size_t member : clusters_[cluster].members)
                for (const std::size_t source : operators_[member].sources)
                    self(self, places_[source].cluster);
            ordered.push_back(&clusters_[cluster]);
        };
        for (const Place& place : places_) list(list, place.cluster);
        return ordered;
    }
    [[nodiscard]] const std::vector<OperatorNode>& operators() const { return operators_; }

  private:
    [[nodiscard]] bool may_share(const OperatorNode& a, const OperatorNode& b) const {
        return a.walk && b.walk && a.pass == b.pass && (rule_ != FusionRule::none || a.owner == b.owner);
    }

    // Operators that read one tensor, or parts of a stacked one, whole and at the same place.
    bool fuse_siblings() {
        bool changed = false;
        std::map<std::pair<ValueId, std::size_t>, std::vector<std::pair<std::size_t, const Operand*>>>
            readers;
        for (std::size_t i = 0; i < operators_.size(); ++i) {
            changed = fuse_stacked(i) || changed;
            for (const Operand& operand : operators_[i].operands) {
                if (!operand.whole) continue;
                auto& others = readers[{stacks_.tensor_of(operand.value), operand.input}];
                for (const auto& [other, theirs] : others)
                    changed = try_merge(other, i, loops_of(theirs->loops, operand.loops)) || changed;
                others.emplace_back(i, &operand);
            }
        }
        return changed;
    }

    // A contraction and an earlier one whose result is a part of the same stacked tensor: loop by loop the
    // same.
    bool fuse_stacked(std::size_t reader) {
        const OperatorNode& own = operators_[reader];
        if (!own.contracts) return false;
        const auto tensor = [&](const OperatorNode& of) {
            return stacks_.tensor_of(graph_.node(of.node).outputs[0]);
        };
        bool changed = false;
        for (std::size_t other = 0; other < reader; ++other) {
            if (!operators_[other].contracts || tensor(operators_[other]) != tensor(own)) continue;
            Pairs loops;
            if (operators_[other].walk->loops.size() != own.walk->loops.size()) continue;
            for (std::size_t loop = 0; loop < own.walk->loops.size(); ++loop) loops.push_back({loop, loop});
            changed = try_merge(other, reader, loops) || changed;
        }
        return changed;
    }

    static Pairs loops_of(const Access& a, const Access& b) {
        Pairs pairs;
        for (std::size_t axis = 0; axis < std::min(a.size(), b.size()); ++axis)
            if (a[axis] != no_loop && b[axis] != no_loop)
                pairs.push_back({static_cast<std::size_t>(a[axis]), static_cast<std::size_t>(b[axis])});
        return pairs;
    }

    // The loops along which `reader` walks the results of `source`.
    [[nodiscard]] Link link(std::size_t source, std::size_t reader) const {
        const OperatorNode& from = operators_[source];
        const OperatorNode& to = operators_[reader];
        if (!from.walk || !to.walk) return {.loops = {}, .known = false};
        const graph::Node& node = graph_.node(from.node);
        Link link;
        std::set<std::size_t> walked;
        for (const Operand& operand : to.operands)
            for (std::size_t k = 0; k < node.outputs.size(); ++k)
                if (node.outputs[k] == operand.value) {
                    walked.insert(operand.input);
                    const Pairs pairs = loops_of(from.walk->outputs[k], operand.loops);
                    link.loops.insert(link.loops.end(), pairs.begin(), pairs.end());
                }
        // Every input that comes from `source` must be one of them.
        const std::vector<ValueId>& inputs = graph_.node(to.node).inputs;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (inputs[i] == ValueId::none || walked.contains(i)) continue;
            if (graph_.value(behind_views(graph_, inputs[i])).producer == from.node) link.known = false;
        }
        return link;
    }

    // Merges the clusters of two operators if the rules allow it. `shared`: for siblings, the pairs of their
    // loops.
    bool try_merge(std::size_t a, std::size_t b, const Pairs& shared) {
        if (!may_share(operators_[a], operators_[b])) return false;
        const std::size_t x = places_[a].cluster, y = places_[b].cluster;
        if (x == y) return false;
        const std::size_t first = places_[a].stage, second = places_[b].stage;
        Pairs pairs;
        const auto add = [&](std::size_t i, std::size_t j, const Pairs& loops) {
            for (const auto& [p, q] : loops) pairs.push_back({places_[i].loops[p], places_[j].loops[q]});
        };
        add(a, b, shared);
        for (const std::size_t member : clusters_[y].members)
            for (const auto& [here, there] : {std::pair(&operators_[member].sources, true),
                                              std::pair(&operators_[member].readers, false)})
                for (const std::size_t other : *here) {
                    if (places_[other].cluster != x) continue;
                    const Link between = there ? link(other, member) : link(member, other);
                    if (!between.known || places_[other].stage != first || places_[member].stage != second)
                        return false;
                    Pairs loops = between.loops;
                    if (!there)
                        for (auto& [p, q] : loops) std::swap(p, q);
                    add(other, member, loops);
                }
        const bool partial = rule_ != FusionRule::none && shared.empty();
        const std::optional<Match> found =
            match(clusters_[x].stages[first], clusters_[y].stages[second], pairs, partial);
        if (!found || !outer_loops_agree(x, y, *found) || comes_back(x, y)) return false;
        if (fast_words_of(x, y, second, *found) > fast_words_) return false;
        merge(x, first, y, second, *found);
        return true;
    }

    // Whether the outer loops that stages share stay shared.
    [[nodiscard]] bool outer_loops_agree(std::size_t x, std::size_t y, const Match& match) const {
        const std::size_t shared = std::min({clusters_[x].outer, clusters_[y].outer, match.outer});
        if (shared == every_loop) return true;
        for (std::size_t loop = 0; loop < shared; ++loop)
            if (loop >= match.loops.size() || match.loops[loop] != loop) return false;
        return shared > 0;
    }

    // The words of fast memory that both clusters need for one pass of their shared loops: 0 if no
    // contraction in them reads a result of theirs.
    [[nodiscard]] std::int64_t fast_words_of(std::size_t x, std::size_t y, std::size_t second,
                                             const Match& match) const {
        const auto inside = [&](std::size_t each) {
            return places_[each].cluster == x || places_[each].cluster == y;
        };
        const std::size_t outer = std::min({clusters_[x].outer, clusters_[y].outer, match.outer});
        std::map<ValueId, std::int64_t> kept;
        bool reads_own = false;
        for (const std::size_t cluster : {x, y})
            for (const std::size_t member : clusters_[cluster].members) {
                const OperatorNode& each = operators_[member];
                const bool reads = std::ranges::any_of(each.sources, inside);
                reads_own = reads_own || (reads && each.contracts);
                if (each.contracts && !reads) continue;
                const bool joins =
                    cluster == y && match.outer == every_loop && places_[member].stage == second;
                const graph::Node& node = graph_.node(each.node);
                for (std::size_t i = 0; i < each.walk->inputs.size(); ++i) {
                    const Access& access = each.walk->inputs[i];
                    std::int64_t words = 1;
                    for (std::size_t axis = 0; axis < access.size(); ++axis) {
                        std::size_t loop = places_[member].loops[static_cast<std::size_t>(access[axis])];
                        if (joins) loop = match.loops[loop];
                        if (loop >= outer) words *= graph_.value(node.inputs[i]).type.dims()[axis];
                    }
                    if (!access.empty()) kept[behind_views(graph_, node.inputs[i])] = words;
                }
            }
        std::int64_t sum = 0;
        for (const auto& [value, words] : kept) sum += words;
        return reads_own ? sum : 0;
    }

    // Whether a result of the two clusters reaches them again through another one.
    [[nodiscard]] bool comes_back(std::size_t x, std::size_t y) const {
        std::vector<bool> seen(clusters_.size(), false);
        std::vector<std::size_t> open;
        const auto leave = [&](std::size_t cluster) {
            for (const std::size_t member : clusters_[cluster].members)
                for (const std::size_t reader : operators_[member].readers) {
                    const std::size_t next = places_[reader].cluster;
                    if (next == cluster || seen[next]) continue;
                    seen[next] = true;
                    open.push_back(next);
                }
        };
        for (const auto& [own, other] : {std::pair(x, y), std::pair(y, x)}) {
            leave(own);
            std::erase(open, other);  // reached at once, and not through another one
            seen[other] = false;
        }
        seen[x] = seen[y] = false;
        while (!open.empty()) {
            const std::size_t cluster = open.back();
            open.pop_back();
            if (cluster == x || cluster == y) return true;
            leave(cluster);
        }
        return false;
    }

    void merge(std::size_t x, std::size_t first, std::size_t y, std::size_t second, const Match& found) {
        Cluster& to = clusters_[x];
        Cluster& from = clusters_[y];
        to.outer = std::min({to.outer, from.outer, found.outer});
        std::vector<std::size_t> loops = found.loops;
        const bool whole = found.outer == every_loop;
        if (whole)
            for (std::size_t i = 0; i < loops.size(); ++i) {
                const graph::Axis& axis = from.stages[second].loops[i];
                graph::IterationSpace& space = to.stages[first].loops;
                if (loops[i] == every_loop) {
                    loops[i] = space.size();
                    space.push_back(axis);
                }
                space[loops[i]].reduced = space[loops[i]].reduced || axis.reduced;
            }
        std::vector<std::size_t> stages;  // where each stage of `from` goes
        for (std::size_t stage = 0; stage < from.stages.size(); ++stage) {
            const bool joins = whole && stage == second;
            stages.push_back(joins ? first : to.stages.size());
            if (!joins) to.stages.push_back(from.stages[stage]);
        }
        for (const std::size_t member : from.members) {
            Place& place = places_[member];
            if (whole && place.stage == second)
                for (std::size_t& loop : place.loops) loop = loops[loop];
            place = {.cluster = x, .stage = stages[place.stage], .loops = std::move(place.loops)};
            to.members.push_back(member);
        }
        std::sort(to.members.begin(), to.members.end());
        from = {};
    }

    const Graph& graph_;
    FusionRule rule_;
    std::int64_t fast_words_;
    std::vector<OperatorNode> operators_;
    Stacks stacks_;
    std::vector<Cluster> clusters_;
    std::vector<Place> places_;
};

// What a region reads from outside and what is read of it, behind views.
void add_borders(const Graph& graph, const std::set<ValueId>& kept,
                 const std::map<ValueId, std::set<graph::NodeId>>& readers, Region& region) {
    std::set<ValueId> reads;
    const auto inside = [&](graph::NodeId id) {
        return std::ranges::find(region.nodes, id) != region.nodes.end();
    };
    for (const graph::NodeId id : region.nodes) {
        for (const ValueId input : graph.node(id).inputs) {
            if (input == ValueId::none) continue;
            const ValueId value = behind_views(graph, input);
            if (graph.producer(value) == nullptr || !inside(graph.value(value).producer)) reads.insert(value);
        }
        for (const ValueId output : graph.node(id).outputs) {
            if (output == ValueId::none) continue;
            const auto found = readers.find(output);
            const bool leaves = found != readers.end() && !std::ranges::all_of(found->second, inside);
            if (leaves || kept.contains(output)) region.writes.push_back(output);
        }
    }
    region.reads.assign(reads.begin(), reads.end());
}

}  // namespace

Result<Fusion> fuse(const Graph& graph, FusionRule rule, std::int64_t fast_words) {
    VIRIDIAN_TRY(std::vector<OperatorNode> operators, operators_of(graph, rule == FusionRule::free));
    Finder finder(graph, rule, fast_words, std::move(operators));
    finder.fuse();
    std::set<ValueId> kept;
    for (const ValueId id : graph::run_outputs(graph)) kept.insert(behind_views(graph, id));
    std::map<ValueId, std::set<graph::NodeId>> readers;
    for (const OperatorNode& each : finder.operators())
        for (const ValueId input : graph.node(each.node).inputs)
            if (input != ValueId::none) readers[behind_views(graph, input)].insert(each.node);
    Fusion fusion;
    for (const Cluster* cluster : finder.clusters()) {
        Region region;
        for (const std::size_t member : cluster->members)
            region.nodes.push_back(finder.operators()[member].node);
        region.loops = cluster->stages[0].loops;
        region.shared_loops = std::min(cluster->outer, region.loops.size());
        add_borders(graph, kept, readers, region);
        fusion.regions.push_back(std::move(region));
    }
    return fusion;
}

std::int64_t words_in(const Graph& graph, ValueId value) {
    const graph::TensorType& type = graph.value(value).type;
    return type.known() ? graph::product(type.dims()) : 0;
}

Words words_of(const Graph& graph, const Region& region) {
    const auto sum = [&](const std::vector<ValueId>& values) {
        std::int64_t words = 0;
        for (const ValueId id : values) words += words_in(graph, id);
        return words;
    };
    return {.read = sum(region.reads), .written = sum(region.writes)};
}

Bytes bytes_of(const graph::Graph& graph, const Region& region) {
    std::int64_t bytes = 0;
    for (const auto* values : {&region.reads, &region.writes})
        for (const ValueId id : *values) bytes += words_in(graph, id) * size_of(graph.value(id).type.element);
    return Bytes(bytes);
}

std::string_view name_of(FusionRule rule) {
    switch (rule) {
        case FusionRule::none:
            return "none";
        case FusionRule::published:
            return "published";
        case FusionRule::free:
            return "free";
    }
    return {};
}

std::optional<FusionRule> parse_fusion_rule(std::string_view name) {
    for (const FusionRule rule : {FusionRule::none, FusionRule::published, FusionRule::free})
        if (name == name_of(rule)) return rule;
    return std::nullopt;
}

}  // namespace viridian::movement
