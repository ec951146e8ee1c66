#include "viridian/movement/cluster.hpp"

#include <algorithm>

namespace viridian::movement {
namespace {

using graph::Axis;
using graph::IterationSpace;

// The loop of `first` for each loop of `second`; none if a loop would have two partners. Loops of unequal
// extent, such as an axis that was reduced and one along which the result is broadcast, are no partners.
std::optional<std::vector<std::size_t>> partners(const IterationSpace& first, const IterationSpace& second,
                                                 const std::vector<std::array<std::size_t, 2>>& pairs) {
    std::vector<std::size_t> loops(second.size(), every_loop), back(first.size(), every_loop);
    for (const auto& [a, b] : pairs) {
        if (first[a].size != second[b].size) continue;
        if ((loops[b] != every_loop && loops[b] != a) || (back[a] != every_loop && back[a] != b))
            return std::nullopt;
        loops[b] = a;
        back[a] = b;
    }
    return loops;
}

// Whether every loop without a partner is one that its side reduces.
bool rest_is_reduced(const IterationSpace& loops, const std::vector<bool>& has_partner) {
    for (std::size_t i = 0; i < loops.size(); ++i)
        if (!has_partner[i] && !loops[i].reduced && loops[i].size != 1) return false;
    return true;
}

bool reduces(const IterationSpace& loops) {
    return std::ranges::any_of(loops, [](const Axis& axis) { return axis.reduced && axis.size != 1; });
}

// The paper's first rule: the same loops, and the same of them reduced, or none on one side.
bool same_space(const IterationSpace& first, const IterationSpace& second,
                const std::vector<std::size_t>& loops) {
    std::vector<bool> in_first(first.size(), false), in_second(second.size(), false);
    bool same_reduction = true;
    for (std::size_t i = 0; i < second.size(); ++i) {
        if (loops[i] == every_loop) continue;
        in_first[loops[i]] = in_second[i] = true;
        same_reduction = same_reduction && first[loops[i]].reduced == second[i].reduced;
    }
    if (!rest_is_reduced(first, in_first) || !rest_is_reduced(second, in_second)) return false;
    const bool all_partners = std::ranges::all_of(in_first, [](bool has) { return has; }) &&
                              std::ranges::all_of(in_second, [](bool has) { return has; });
    return (same_reduction && all_partners) || !reduces(first) || !reduces(second);
}

// How many outermost loops are independent partners of each other.
std::size_t shared_outermost(const IterationSpace& first, const IterationSpace& second,
                             const std::vector<std::size_t>& loops) {
    std::size_t count = 0;
    bool large = false;
    while (count < second.size() && loops[count] == count && !first[count].reduced &&
           !second[count].reduced) {
        large = large || first[count].size > 1;
        ++count;
    }
    return large ? count : 0;
}

}  // namespace

std::optional<Match> match(const Stage& first, const Stage& second,
                           const std::vector<std::array<std::size_t, 2>>& pairs, bool partial) {
    const auto loops = partners(first.loops, second.loops, pairs);
    if (!loops) return std::nullopt;
    const bool met = std::ranges::any_of(*loops, [](std::size_t loop) { return loop != every_loop; });
    if (met && same_space(first.loops, second.loops, *loops)) return Match{*loops};
    const std::size_t outer = partial ? shared_outermost(first.loops, second.loops, *loops) : 0;
    return outer > 0 ? std::optional(Match{*loops, outer}) : std::nullopt;
}

}  // namespace viridian::movement
