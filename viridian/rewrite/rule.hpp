#pragma once
// A rewrite rule is an equation between graphs, with guards. Each lies in the file of its own name below
// rules/, and rules/list.inc orders them. A test certifies every rule on the random graphs that its
// `instance` makes (docs/method.md, 4).
#include <string_view>

#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

// A Kind says when the rewriter or the outer search applies a rule.
enum class Kind : std::uint8_t {
    always,       // pays on every device: applied until nothing changes
    alternative,  // may pay: the outer search tries it
    // changes much of the network at once: the outer search tries it first and, if that pays, again at the
    // end
    whole,
};

// A Rule has both sides of its equation in the code of `apply`; the texts are for people.
struct Rule {
    std::string_view name;  // such as "fold_batch_norm"; it disables the rule, and names it in certificates
    Kind kind = Kind::always;
    std::string_view source;    // who published it: a paper's section, a standard
    std::string_view equation;  // left ⇒ right
    std::string_view guards;    // when it holds, and why
    bool polynomial = false;    // both sides agree exactly over a field
    // Applies the rule with `at` as the last node of the left side. Returns false and edits nothing if it
    // does not match there.
    bool (*apply)(Editor& editor, NodeId at) = nullptr;
    // Makes a random graph of `element`s that holds a match, with odd and unequal extents.
    Graph (*instance)(Random& random, ElementType element) = nullptr;
};

}  // namespace viridian::rewrite
