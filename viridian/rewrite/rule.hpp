#pragma once
// A rewrite rule: an equation between graphs, with guards. Rules are listed in rules.cpp, one file each in
// rules/, and every one is certified by its test on random graphs that it generates itself (docs/method.md,
// 4).
#include <string_view>

#include "viridian/base/random.hpp"
#include "viridian/rewrite/editor.hpp"

namespace viridian::rewrite {

enum class Kind : std::uint8_t {
    always,       // pays on every device: applied until nothing changes
    alternative,  // may pay: the outer search tries it
    whole,        // changes much of the network at once: scouted first, tried again in the end
};

struct Rule {
    std::string_view name;  // "fold_batch_norm": how it is disabled, and named in certificates
    Kind kind = Kind::always;
    std::string_view source;    // who published it: a paper's section, a standard
    std::string_view equation;  // left ⇒ right
    std::string_view guards;    // when it holds, and why
    bool polynomial = false;    // both sides agree exactly over a field
    // Applies the rule with `at` as the last node of the left side; false, and nothing edited, where it does
    // not match.
    bool (*apply)(Editor& editor, NodeId at) = nullptr;
    // A random graph of `element`s that holds a match, with odd and unequal dimensions.
    Graph (*instance)(Random& random, ElementType element) = nullptr;
};

}  // namespace viridian::rewrite
