#include "viridian/cli/nearest_name.hpp"

#include <algorithm>
#include <vector>

namespace viridian::cli {
namespace {

// Insertions, deletions and replacements that lead from one to the other (Levenshtein), a row at a time.
size_t edit_distance(std::string_view from, std::string_view to) {
    std::vector<size_t> row(to.size() + 1);
    for (size_t j = 0; j <= to.size(); ++j) row[j] = j;
    for (size_t i = 0; i < from.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < to.size(); ++j) {
            const size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row.back();
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view word, std::span<const std::string> names) {
    constexpr size_t longest = 64;  // longer words are no slips
    if (word.empty() || word.size() > longest) return std::nullopt;
    std::optional<std::string> best;
    size_t bound = std::max<size_t>(1, word.size() / 3) + 1;
    for (const std::string& name : names) {
        const size_t distance = edit_distance(word, name);
        if (distance < bound) {
            bound = distance;
            best = name;
        }
    }
    return best;
}

}  // namespace viridian::cli
