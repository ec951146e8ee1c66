#pragma once
// Applies rules. Every rewrite goes through this file, which records each application for the certificate and
// verifies each result if asked to. simplify() also leaves out rules by name and times them.
#include <string>
#include <vector>

#include "viridian/base/units.hpp"
#include "viridian/rewrite/rules.hpp"

namespace viridian::rewrite {

// An Application is one application of a rule, with all that is needed to repeat it.
struct Application {
    std::string rule;
    NodeId at = NodeId::none;          // the last node of the left side
    std::string node;                  // its name
    std::vector<std::string> removed;  // names of the nodes that went
    std::uint64_t before = 0;          // structural hash of the graph before
    std::uint64_t after = 0;           // and after
};
using Certificate = std::vector<Application>;

// A RuleTime says how often a rule was applied, and how long applying it and trying it in vain took.
struct RuleTime {
    std::string_view rule;
    std::int64_t applied = 0;
    Seconds seconds;
};

// Options say which rules are applied, and how.
struct Options {
    std::vector<std::string> without;  // names of rules that are not applied
    bool verify = false;               // verify the graph after every application (tests; slow)
    FoldCache* folds = nullptr;        // where a search keeps folded constants; may be null
};

// An Outcome is the record of a simplification.
struct Outcome {
    Certificate certificate;
    std::vector<RuleTime> times;  // of rules that were applied at least once
};

// Applies the rules of kind `always` to `graph` until none matches, in at most 100 rounds. Errors:
// invalid_argument (no rule of a name in `without`), broken_invariant (a rule made a graph that does not
// verify), those of type inference.
[[nodiscard]] Result<Outcome> simplify(Graph& graph, const Options& options = {});

// Applies one rule at one node and removes dead nodes. Returns no application if the rule does not match
// there. Errors: broken_invariant.
[[nodiscard]] Result<std::optional<Application>> apply(const Rule& rule, Graph& graph, NodeId at,
                                                       const Options& options = {});

// Returns the nodes of `after` that are new or changed since `before`, of which `after` was made.
[[nodiscard]] std::vector<NodeId> changed_nodes(const Graph& before, const Graph& after);

// Does the same as simplify() if only the nodes `changed` changed since nothing matched: it looks at those
// nodes and near them alone. A match that lies farther away is left to simplify(). Errors: those of
// simplify().
[[nodiscard]] Result<Certificate> simplify_near(Graph& graph, std::vector<NodeId> changed,
                                                const Options& options = {});

// An Alternative is a graph that one application of a rule made.
struct Alternative {
    Graph graph;
    Application application;
};
// Returns every graph that one application of a rule of kind `alternative` makes, in the order of rules, then
// nodes. Errors: those of simplify().
[[nodiscard]] Result<std::vector<Alternative>> alternatives(const Graph& graph, const Options& options = {});
// Does the same as alternatives(), at the nodes near `changed` alone.
[[nodiscard]] Result<std::vector<Alternative>> alternatives_near(const Graph& graph,
                                                                 const std::vector<NodeId>& changed,
                                                                 const Options& options = {});

// Returns the rules of one kind that `options` does not disable. Errors: invalid_argument (no rule of a name
// in `without`).
[[nodiscard]] Result<std::vector<const Rule*>> rules_of(Kind kind, const Options& options = {});

// Returns the graph that `certificate` makes of `graph`. Errors: mismatch, naming the entry that cannot be
// followed.
[[nodiscard]] Result<Graph> replay(Graph graph, const Certificate& certificate);

}  // namespace viridian::rewrite
