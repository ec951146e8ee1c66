#pragma once
// Matches names with patterns. In a pattern `*` stands for any text, also with dots and slashes, `?` for one
// character, `[a-z]` for one of a set and `[!a-z]` for one outside it, as in POSIX shells (IEEE 1003.1,
// section 2.13.1). A pattern has to match the whole name.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::gradient {

// Checks that every set of `pattern` is closed. Errors: invalid_argument, also for an empty pattern.
[[nodiscard]] Result<void> check_pattern(std::string_view pattern);
// Returns whether `pattern`, which was checked, matches `name`. It takes at most as many steps as the product
// of both lengths.
[[nodiscard]] bool matches(std::string_view pattern, std::string_view name);
// Errors: invalid_argument if `pattern`, which was checked, matches none of the parameters `names`.
[[nodiscard]] Result<void> check_matches_one(std::string_view pattern, std::span<const std::string> names);

// A TrainRule is one `--train PATTERN` or `--freeze PATTERN`.
struct TrainRule {
    std::string pattern;
    bool train = true;
};
// Returns which of the parameters `names` are trained. Of several rules that match a name the last one
// counts. A parameter that no rule matches is frozen if the first rule is one of --train, and else trained,
// so that `--train 'head.*'` alone trains the head. Errors: invalid_argument (a pattern that matches nothing,
// or rules that leave nothing to train).
[[nodiscard]] Result<std::vector<bool>> trained(std::span<const std::string> names,
                                                std::span<const TrainRule> rules);

}  // namespace viridian::gradient
