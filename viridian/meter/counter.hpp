#pragma once
// Differences of running counters that return to zero.
#include <cstdint>
#include <optional>

namespace viridian::meter {

// From `before` to `after`, taking one return to zero into account where `wrap` (> 0) is known; nullopt where
// the counter fell and no wrap explains it (a reset). One wrap is correctable, two look like one: whoever has
// times and powers must check that the interval is short enough.
[[nodiscard]] constexpr std::optional<std::int64_t> counter_difference(std::int64_t before,
                                                                       std::int64_t after,
                                                                       std::int64_t wrap) {
    if (after >= before) return after - before;
    if (wrap <= 0 || before > wrap) return std::nullopt;
    return wrap - before + after;
}

}  // namespace viridian::meter
