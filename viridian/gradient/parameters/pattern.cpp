#include "viridian/gradient/parameters/pattern.hpp"

#include <algorithm>

namespace viridian::gradient {
namespace {

constexpr auto npos = std::string_view::npos;

// Returns the end of the element of `pattern` that begins at `at`: one character, or a set with its brackets.
// npos: a set that is not closed. A bracket that is the first of its set belongs to it.
std::size_t element_end(std::string_view pattern, std::size_t at) {
    if (pattern[at] != '[') return at + 1;
    std::size_t first = at + 1;
    if (first < pattern.size() && pattern[first] == '!') ++first;
    const auto close = first < pattern.size() ? pattern.find(']', first + 1) : npos;
    return close == npos ? npos : close + 1;
}

// Returns whether the set, without its brackets, has the character.
bool set_has(std::string_view set, char character) {
    const bool inverted = set.starts_with('!');
    if (inverted) set.remove_prefix(1);
    const auto c = static_cast<unsigned char>(character);
    bool found = false;
    for (std::size_t i = 0; i < set.size(); ++i) {
        const auto low = static_cast<unsigned char>(set[i]);
        const bool range = i + 2 < set.size() && set[i + 1] == '-';
        const auto high = range ? static_cast<unsigned char>(set[i + 2]) : low;
        found = found || (c >= low && c <= high);
        if (range) i += 2;
    }
    return found != inverted;
}

bool element_matches(std::string_view element, char character) {
    if (element[0] == '[') return set_has(element.substr(1, element.size() - 2), character);
    return element[0] == '?' || element[0] == character;
}

std::string some_of(std::span<const std::string> names) {
    constexpr std::size_t most = 5;
    std::string text;
    for (const std::string& name : names.first(std::min(most, names.size())))
        text += fmt::format("{}`{}`", text.empty() ? "" : ", ", name);
    return text + (names.size() > most ? ", …" : "");
}

}  // namespace

Result<void> check_pattern(std::string_view pattern) {
    bool closed = !pattern.empty();
    for (std::size_t at = 0; closed && at < pattern.size();) {
        at = element_end(pattern, at);
        closed = at != npos;
    }
    if (closed) return {};
    return fail(ErrorCode::invalid_argument, "write a name with *, ? and sets such as [0-9]",
                "`{}` is not a pattern of names", pattern);
}

// Goes back to the last star only: what an earlier star could match, the later one can match too.
bool matches(std::string_view pattern, std::string_view name) {
    std::size_t at = 0, place = 0;
    std::size_t star = npos, star_place = 0;
    while (place < name.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = ++at;
            star_place = place;
        } else if (at < pattern.size() &&
                   element_matches(pattern.substr(at, element_end(pattern, at) - at), name[place])) {
            at = element_end(pattern, at);
            ++place;
        } else if (star != npos) {
            at = star;
            place = ++star_place;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == npos;
}

Result<void> check_matches_one(std::string_view pattern, std::span<const std::string> names) {
    if (std::ranges::any_of(names, [&](const std::string& name) { return matches(pattern, name); }))
        return {};
    return fail(ErrorCode::invalid_argument, fmt::format("the parameters are {}", some_of(names)),
                "no parameter matches `{}`", pattern);
}

Result<std::vector<bool>> trained(std::span<const std::string> names, std::span<const TrainRule> rules) {
    std::vector<bool> result(names.size(), rules.empty() || !rules.front().train);
    for (const TrainRule& rule : rules) {
        VIRIDIAN_TRY(check_pattern(rule.pattern));
        VIRIDIAN_TRY(check_matches_one(rule.pattern, names));
        for (std::size_t i = 0; i < names.size(); ++i)
            if (matches(rule.pattern, names[i])) result[i] = rule.train;
    }
    if (std::ranges::find(result, true) == result.end())
        return fail(ErrorCode::invalid_argument, "freeze fewer of them", "no parameter is left to train");
    return result;
}

}  // namespace viridian::gradient
