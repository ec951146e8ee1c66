#include "viridian/base/units_text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace viridian {

std::string quantity(double value, const char* unit) {
    if (value == 0 || !std::isfinite(value)) return fmt::format("{} {}", value, unit);
    static constexpr std::pair<const char*, double> prefixes[] = {
        {"G", 1e9}, {"M", 1e6}, {"k", 1e3}, {"", 1}, {"m", 1e-3}, {"u", 1e-6}, {"n", 1e-9}};
    auto chosen = prefixes[6];
    for (const auto& prefix : prefixes)
        if (std::abs(value) >= prefix.second * 0.9995) {
            chosen = prefix;
            break;
        }
    const double scaled = value / chosen.second;
    const int decimals = std::abs(scaled) >= 99.95 ? 0 : std::abs(scaled) >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}{}", scaled, decimals, chosen.first, unit);
}

}  // namespace viridian
