#pragma once
// Applies rules: the one wrapper through which every rewrite goes. It disables by name, times, verifies, and
// keeps the certificate.
#include <string>
#include <vector>

#include "viridian/base/units.hpp"
#include "viridian/rewrite/rules.hpp"

namespace viridian::rewrite {

// One application, replayable: the rule, the node it was applied at, the nodes that went, and the structural
// hashes before and after.
struct Application {
    std::string rule;
    NodeId at = NodeId::none;
    std::string node;                  // its name
    std::vector<std::string> removed;  // names
    std::uint64_t before = 0;
    std::uint64_t after = 0;
};
using Certificate = std::vector<Application>;

struct RuleTime {
    std::string_view rule;
    std::int64_t applied = 0;
    Seconds seconds;
};

struct Options {
    std::vector<std::string> without;  // names of rules not to use
    bool verify = false;               // verify the graph after every application (tests; slow)
    FoldCache* folds = nullptr;        // where searches keep folded constants
};

struct Outcome {
    Certificate certificate;
    std::vector<RuleTime> times;  // rules that were applied at least once
};

// Applies the rules of kind `always` until none matches. Errors: invalid_argument (no rule of a name in
// `without`), broken_invariant (a rule made a graph that does not verify), those of inference.
[[nodiscard]] Result<Outcome> simplify(Graph& graph, const Options& options = {});

// One rule at one node, dead nodes removed. Returns no application where it does not match.
[[nodiscard]] Result<std::optional<Application>> apply(const Rule& rule, Graph& graph, NodeId at,
                                                       const Options& options = {});

// Nodes of `after` that `before`, which it was made from, does not have or has otherwise.
[[nodiscard]] std::vector<NodeId> changed_nodes(const Graph& before, const Graph& after);

// simplify() where `changed` is all that changed since nothing matched: looks at those nodes and near them
// alone. A rule that matches farther away is found by simplify() later. The same certificate and errors.
[[nodiscard]] Result<Certificate> simplify_near(Graph& graph, std::vector<NodeId> changed,
                                                const Options& options = {});

struct Alternative {
    Graph graph;
    Application application;
};
// Every graph one application of a rule of kind `alternative` away, in the order of rules and nodes.
[[nodiscard]] Result<std::vector<Alternative>> alternatives(const Graph& graph, const Options& options = {});
// The same at nodes near `changed` alone.
[[nodiscard]] Result<std::vector<Alternative>> alternatives_near(const Graph& graph,
                                                                 const std::vector<NodeId>& changed,
                                                                 const Options& options = {});

// Of one kind, but for those not to be used. Errors: invalid_argument (no rule of a name in `without`).
[[nodiscard]] Result<std::vector<const Rule*>> rules_of(Kind kind, const Options& options = {});

// The graph that `certificate` makes of `graph`. Errors: mismatch, naming the entry that cannot be followed.
[[nodiscard]] Result<Graph> replay(Graph graph, const Certificate& certificate);

}  // namespace viridian::rewrite
