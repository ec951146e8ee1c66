#include "viridian/rewrite/rewrite.hpp"

#include <algorithm>
#include <chrono>
#include <set>

#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::rewrite {
namespace {

constexpr int round_limit = 100;
constexpr int reach = 4;  // how many steps behind a changed node the last node of a match may lie

// The result of applying one rule to a graph whose uses are known. The caller hashes it.
struct Attempt {
    std::optional<Graph> graph;
    std::vector<std::string> removed;
};

// Returns whether what a node reads first, or its result, are numbers without any element that are no
// constants. Nothing that is computed of these is worth rewriting, and rules divide and multiply extents.
bool is_empty(const Graph& graph, NodeId at) {
    const graph::Node& node = graph.node(at);
    if (node.input(0) == ValueId::none || graph.constant(node.input(0)) != nullptr) return false;
    for (const ValueId id : {node.input(0), node.output(0)}) {
        if (id == ValueId::none) continue;
        const graph::TensorType& type = graph.value(id).type;
        if (!graph::is_floating(type.element) || !type.shape) continue;
        for (const graph::Dimension& dimension : *type.shape)
            if (dimension.known() && dimension.value() == 0) return true;
    }
    return false;
}

Result<Attempt> attempt(const Rule& rule, const Graph& graph, const graph::Uses& uses, NodeId at,
                        const Options& options) {
    if (is_empty(graph, at)) return Attempt{};
    Editor editor(graph, uses, options.folds);
    editor.at(at);
    if (!rule.apply(editor, at)) {
        invariant(!editor.edited(), "a rule that does not match edits nothing");
        return Attempt{};
    }
    if (editor.failure())
        return fail(ErrorCode::broken_invariant, "please report it with the model",
                    "rule `{}` at node `{}`: {}", rule.name, graph.node(at).name, editor.failure()->message);
    Attempt done;
    done.graph = std::move(editor).finish(done.removed);
    if (options.verify)
        if (auto verified = verify(*done.graph); !verified.ok())
            return std::move(verified).error().within(
                fmt::format("rule `{}` at node `{}`", rule.name, graph.node(at).name));
    return done;
}

double seconds_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The entry for `done`, which was made of `graph`. `hash` is that of `graph`, and becomes that of the result.
Application application(const Rule& rule, NodeId at, const Graph& graph, const Attempt& done,
                        std::uint64_t& hash) {
    const std::uint64_t before = std::exchange(hash, structural_hash(*done.graph));
    return {.rule = std::string(rule.name),
            .at = at,
            .node = graph.node(at).name,
            .removed = done.removed,
            .before = before,
            .after = hash};
}

// A graph while rules are applied to it, with its hash, its order and its uses. The order is that at the
// start of a pass, the others are those after the last application.
struct Rewriting {
    Graph& graph;
    std::uint64_t hash;
    std::vector<NodeId> order;
    graph::Uses uses;

    static Result<Rewriting> of(Graph& graph) {
        VIRIDIAN_TRY(std::vector<NodeId> order, topological_order(graph));
        return Rewriting{graph, structural_hash(graph), std::move(order), graph::uses(graph)};
    }
};

// One pass of one rule over the nodes in order. Returns how often it was applied.
Result<std::int64_t> pass(const Rule& rule, Rewriting& now, const Options& options,
                          Certificate& certificate) {
    Graph& graph = now.graph;
    std::int64_t applied = 0;
    for (const NodeId id : now.order) {
        if (!graph.alive(id)) continue;
        VIRIDIAN_TRY(Attempt done, attempt(rule, graph, now.uses, id, options));
        if (!done.graph) continue;
        certificate.push_back(application(rule, id, graph, done, now.hash));
        graph = *std::move(done.graph);
        now.uses = graph::uses(graph);
        ++applied;
    }
    if (applied > 0) {
        VIRIDIAN_TRY(now.order, topological_order(graph));
    }
    return applied;
}

Result<std::vector<Alternative>> alternatives_at(const Graph& graph, std::span<const NodeId> nodes,
                                                 const Options& options) {
    VIRIDIAN_TRY(const std::vector<const Rule*> list, rules_of(Kind::alternative, options));
    const graph::Uses uses = graph::uses(graph);
    const std::uint64_t before = structural_hash(graph);
    std::vector<Alternative> found;
    for (const Rule* rule : list)
        for (const NodeId id : nodes) {
            VIRIDIAN_TRY(Attempt done, attempt(*rule, graph, uses, id, options));
            if (!done.graph) continue;
            Application entry{.rule = std::string(rule->name),
                              .at = id,
                              .node = graph.node(id).name,
                              .removed = std::move(done.removed),
                              .before = before,
                              .after = structural_hash(*done.graph)};
            found.push_back({*std::move(done.graph), std::move(entry)});
        }
    return found;
}

// The nodes at which a rule may apply that reads one of `changed`: these nodes, those that follow within
// `steps`, and those that read the same inputs.
std::vector<NodeId> nodes_near(const Graph& graph, const graph::Uses& uses,
                               const std::vector<NodeId>& changed, int steps) {
    std::set<NodeId> near;
    std::vector<NodeId> edge;
    for (const NodeId id : changed)
        if (graph.alive(id) && near.insert(id).second) edge.push_back(id);
    const auto readers_of = [&](ValueId value, std::vector<NodeId>& next) {
        if (value == ValueId::none) return;
        for (const NodeId reader : uses.readers(value))
            if (near.insert(reader).second) next.push_back(reader);
    };
    std::vector<NodeId> siblings;
    for (const NodeId id : edge)
        for (const ValueId input : graph.node(id).inputs)
            if (graph.constant(input) == nullptr) readers_of(input, siblings);
    for (int step = 0; step < steps && !edge.empty(); ++step) {
        std::vector<NodeId> next;
        for (const NodeId id : edge)
            for (const ValueId output : graph.node(id).outputs) readers_of(output, next);
        edge = std::move(next);
    }
    return {near.begin(), near.end()};
}

}  // namespace

Result<std::vector<const Rule*>> rules_of(Kind kind, const Options& options) {
    for (const std::string& name : options.without)
        if (find_rule(name) == nullptr)
            return fail(ErrorCode::invalid_argument, "see `viridian optimize --list-rules`",
                        "there is no rule `{}`", name);
    std::vector<const Rule*> list;
    for (const Rule& rule : rules())
        if (rule.kind == kind &&
            std::find(options.without.begin(), options.without.end(), rule.name) == options.without.end())
            list.push_back(&rule);
    return list;
}

Result<Outcome> simplify(Graph& graph, const Options& options) {
    VIRIDIAN_TRY(const std::vector<const Rule*> list, rules_of(Kind::always, options));
    Outcome outcome;
    for (const Rule* rule : list) outcome.times.push_back({rule->name, 0, Seconds(0)});
    VIRIDIAN_TRY(infer_types(graph));
    remove_dead_nodes(graph);
    for (int round = 0; round < round_limit; ++round) {
        VIRIDIAN_TRY(Rewriting now, Rewriting::of(graph));
        std::int64_t applied = 0;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const double start = seconds_now();
            VIRIDIAN_TRY(const std::int64_t count, pass(*list[i], now, options, outcome.certificate));
            outcome.times[i].applied += count;
            outcome.times[i].seconds += Seconds(seconds_now() - start);
            applied += count;
        }
        if (applied == 0) break;
        VIRIDIAN_TRY(infer_types(graph));  // folded constants may tell more about shapes
    }
    std::erase_if(outcome.times, [](const RuleTime& time) { return time.applied == 0; });
    return outcome;
}

Result<std::optional<Application>> apply(const Rule& rule, Graph& graph, NodeId at, const Options& options) {
    VIRIDIAN_TRY(Attempt done, attempt(rule, graph, graph::uses(graph), at, options));
    if (!done.graph) return std::optional<Application>();
    Application entry{.rule = std::string(rule.name),
                      .at = at,
                      .node = graph.node(at).name,
                      .removed = std::move(done.removed),
                      .before = structural_hash(graph),
                      .after = structural_hash(*done.graph)};
    graph = *std::move(done.graph);
    return std::optional(std::move(entry));
}

std::vector<NodeId> changed_nodes(const Graph& before, const Graph& after) {
    std::vector<NodeId> changed;
    for (std::size_t slot = 0; slot < after.node_slots(); ++slot)
        if (const auto id = static_cast<NodeId>(slot);
            after.alive(id) && (!before.alive(id) || &before.node(id) != &after.node(id)))
            changed.push_back(id);
    return changed;
}

Result<Certificate> simplify_near(Graph& graph, std::vector<NodeId> changed, const Options& options) {
    VIRIDIAN_TRY(const std::vector<const Rule*> list, rules_of(Kind::always, options));
    Certificate certificate;
    graph::Uses uses = graph::uses(graph);
    std::uint64_t hash = 0;
    for (int round = 0; round < round_limit && !changed.empty(); ++round) {
        std::vector<NodeId> next;
        for (const Rule* rule : list)
            for (const NodeId id : nodes_near(graph, uses, changed, reach)) {
                if (!graph.alive(id)) continue;
                VIRIDIAN_TRY(Attempt done, attempt(*rule, graph, uses, id, options));
                if (!done.graph) continue;
                if (hash == 0) hash = structural_hash(graph);
                certificate.push_back(application(*rule, id, graph, done, hash));
                for (const NodeId fresh : changed_nodes(graph, *done.graph)) {
                    next.push_back(fresh);
                    changed.push_back(fresh);
                }
                graph = *std::move(done.graph);
                uses = graph::uses(graph);
            }
        changed = std::move(next);
    }
    return certificate;
}

Result<std::vector<Alternative>> alternatives(const Graph& graph, const Options& options) {
    VIRIDIAN_TRY(const std::vector<NodeId> order, topological_order(graph));
    return alternatives_at(graph, order, options);
}

Result<std::vector<Alternative>> alternatives_near(const Graph& graph, const std::vector<NodeId>& changed,
                                                   const Options& options) {
    return alternatives_at(graph, nodes_near(graph, graph::uses(graph), changed, 2), options);
}

Result<Graph> replay(Graph graph, const Certificate& certificate) {
    VIRIDIAN_TRY(infer_types(graph));
    remove_dead_nodes(graph);
    for (std::size_t i = 0; i < certificate.size(); ++i) {
        const Application& entry = certificate[i];
        const auto refuse = [&](std::string_view why) {
            return fail(ErrorCode::mismatch, "check the certificate against the model it was made from",
                        "entry {} (`{}` at `{}`) {}", i, entry.rule, entry.node, why);
        };
        const Rule* rule = find_rule(entry.rule);
        if (rule == nullptr) return refuse("names a rule that does not exist");
        if (structural_hash(graph) != entry.before) {
            VIRIDIAN_TRY(infer_types(graph));  // simplify() infers types again between rounds
            if (structural_hash(graph) != entry.before) return refuse("starts from another graph");
        }
        if (!graph.alive(entry.at) || graph.node(entry.at).name != entry.node)
            return refuse("names a node that does not exist");
        VIRIDIAN_TRY(std::optional<Application> done, apply(*rule, graph, entry.at));
        if (!done) {
            VIRIDIAN_TRY(infer_types(graph));
            VIRIDIAN_TRY(done, apply(*rule, graph, entry.at));
        }
        if (!done) return refuse("does not match");
        if (done->after != entry.after) return refuse("ends in another graph");
        if (done->removed != entry.removed) return refuse("removes other nodes than it says");
    }
    return graph;
}

}  // namespace viridian::rewrite
