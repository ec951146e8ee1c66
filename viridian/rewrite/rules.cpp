#include "viridian/rewrite/rules.hpp"

#include <algorithm>
#include <vector>

namespace viridian::rewrite {

// The list holds nothing but names with commas between them: here they become declarations of functions
// `Rule name()`, and below the elements of an array.
using MakeRule = Rule();
MakeRule
#include "viridian/rewrite/rules/list.inc"
    ;

std::span<const Rule> rules() {
    constexpr MakeRule* in_order[] = {
#include "viridian/rewrite/rules/list.inc"
    };
    static const std::vector<Rule> all = [&] {
        std::vector<Rule> made;
        for (MakeRule* make : in_order) made.push_back(make());
        return made;
    }();
    return all;
}

const Rule* find_rule(std::string_view name) {
    const auto all = rules();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Rule& rule) { return rule.name == name; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace viridian::rewrite
