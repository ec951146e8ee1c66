#include "viridian/base/units_text.hpp"

#include <fmt/format.h>

#include <charconv>
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

namespace {

std::string size_text(Bytes bytes, bool up) {
    static constexpr std::pair<const char*, int> units[] = {
        {"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}};
    for (const auto& [unit, power] : units)
        if (bytes.value >= std::int64_t{1} << power) {
            const double scaled = std::ldexp(static_cast<double>(bytes.value), -power);
            const int decimals = scaled < 99.95 ? 1 : 0;
            const double steps = decimals == 1 ? 10 : 1;
            return fmt::format("{:.{}f} {}", up ? std::ceil(scaled * steps) / steps : scaled, decimals, unit);
        }
    return fmt::format("{} bytes", bytes.value);
}

}  // namespace

std::string size_text(Bytes bytes) { return size_text(bytes, false); }

std::string size_text_up(Bytes bytes) { return size_text(bytes, true); }

Result<Bytes> parse_size(std::string_view text) {
    static constexpr std::pair<std::string_view, double> units[] = {
        {"", 1},      {"b", 1},        {"kb", 1e3},        {"mb", 1e6},           {"gb", 1e9},
        {"tb", 1e12}, {"kib", 1024.0}, {"mib", 1048576.0}, {"gib", 1073741824.0}, {"tib", 1099511627776.0}};
    const auto wrong = [&] {
        return fail(ErrorCode::invalid_argument, "write a size such as 4GiB, 500MB or 1000000",
                    "`{}` is not a size of memory", text);
    };
    double number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc{} || !std::isfinite(number)) return wrong();
    std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    std::string unit;
    for (const char c : rest) unit += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (const auto& [name, factor] : units) {
        if (unit != name) continue;
        const double bytes = number * factor;
        if (bytes < 1 || bytes > 9e18 || (factor == 1 && bytes != std::floor(bytes))) return wrong();
        return Bytes(static_cast<std::int64_t>(bytes));
    }
    return wrong();
}

std::string counted_text(std::uint64_t count, std::string_view noun, std::string_view plural) {
    if (count == 1 || !plural.empty()) return fmt::format("{} {}", count, count == 1 ? noun : plural);
    return fmt::format("{} {}s", count, noun);
}

}  // namespace viridian
