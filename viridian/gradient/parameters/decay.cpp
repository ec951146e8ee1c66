#include "viridian/gradient/parameters/decay.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "viridian/gradient/parameters/pattern.hpp"

namespace viridian::gradient {
namespace {

// Returns the parts of a name in lower case: "Model/LayerNorm.weight" has model, layernorm, weight.
std::vector<std::string> parts_of(std::string_view name) {
    std::vector<std::string> parts(1);
    for (const char c : name)
        if (c == '.' || c == '/')
            parts.emplace_back();
        else
            parts.back() += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return parts;
}

// Returns whether the part names a normalisation: "layernorm", "norm1", "batch_norm", "bn2", "ln_f", "ln".
bool is_normalisation(std::string_view part) {
    const auto number = [](std::string_view rest) {
        return rest.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const auto at = part.find("norm");
    if (at != std::string_view::npos) {
        const std::string_view after = part.substr(at + 4);  // not "normal" or "normaliser"
        return after.empty() || !(after[0] >= 'a' && after[0] <= 'z');
    }
    if (!part.starts_with("bn") && !part.starts_with("ln")) return false;
    return number(part.substr(2)) || part[2] == '_';
}

std::optional<std::string> why_none(std::string_view name, std::int64_t rank) {
    const auto parts = parts_of(name);
    for (const std::string_view word : {"bias", "beta", "gamma", "scale"})
        if (parts.back() == word) return fmt::format("its name ends in `{}`", word);
    const auto norm = std::ranges::find_if(parts, is_normalisation);
    if (norm != parts.end()) return fmt::format("`{}` in its name is a normalisation", *norm);
    if (rank < 2) return fmt::format("it has {}", rank == 1 ? "1 dimension" : "no dimension");
    return std::nullopt;
}

}  // namespace

Result<DecayRule> parse_decay_rule(std::string_view text) {
    const auto equals = text.rfind('=');
    DecayRule rule;
    if (equals != std::string_view::npos) {
        const std::string_view number = text.substr(equals + 1);
        const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), rule.decay);
        rule.pattern = text.substr(0, equals);
        if (fault == std::errc{} && end == number.data() + number.size() && std::isfinite(rule.decay) &&
            rule.decay >= 0) {
            VIRIDIAN_TRY(check_pattern(rule.pattern));
            return rule;
        }
    }
    return fail(ErrorCode::invalid_argument, "write PATTERN=DECAY, as in '*.bias=0' or 'head.*=0.05'",
                "`{}` is not a weight decay of parameters", text);
}

Decay decay_of(std::string_view name, std::int64_t rank, double usual, std::span<const DecayRule> rules) {
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule)
        if (matches(rule->pattern, name)) return {rule->decay, fmt::format("`{}` matches it", rule->pattern)};
    if (auto reason = why_none(name, rank)) return {0, *std::move(reason)};
    return {usual, fmt::format("it has {} dimensions", rank)};
}

}  // namespace viridian::gradient
