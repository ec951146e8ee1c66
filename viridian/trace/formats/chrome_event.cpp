#include "viridian/trace/formats/chrome_event.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::trace {
namespace {

constexpr Nanoseconds furthest = 4'000'000'000'000'000'000;  // the year 2096; sums stay in range

// The phase that the letter `ph` means; nothing for asynchronous, object and sample events, which carry no
// work, and for `{}`, which ends some lists.
std::optional<Raw::Phase> phase_of(char letter) {
    switch (letter) {
        case 'X':
        case 'C':
        case 'i':
        case 'I':
        case 'R':
            return Raw::Phase::slice;
        case 'B':
            return Raw::Phase::begin;
        case 'E':
            return Raw::Phase::end;
        case 's':
            return Raw::Phase::flow_out;
        case 'f':
        case 't':
            return Raw::Phase::flow_in;
        default:
            return std::nullopt;
    }
}

}  // namespace

std::optional<Raw> raw_of(const JsonEvent& event, TraceTables& tables) {
    if (event.phase() == 'M') tables.take_metadata(event);
    const std::optional<Raw::Phase> phase = phase_of(event.phase());
    if (!phase) return std::nullopt;
    Raw raw;
    raw.phase = *phase;
    const auto start = nanoseconds_of_microseconds(event.text(Key::ts));
    if (!start || std::abs(*start) > furthest)
        return tables.lose("events without a readable time", event), std::nullopt;
    raw.start = raw.end = *start;
    if (event.phase() != 'X') return raw;
    const auto duration = nanoseconds_of_microseconds(event.text(Key::dur));
    if ((!duration && event.has(Key::dur)) || duration.value_or(0) > furthest)
        return tables.lose("events without a readable duration", event), std::nullopt;
    if (duration.value_or(0) < 0)
        tables.about.warn("negative durations, read as 0", fmt::format("at byte {}", event.offset));
    raw.end += std::max<Nanoseconds>(duration.value_or(0), 0);
    return raw;
}

std::vector<Raw> counters_of(const JsonEvent& event, Raw raw, TraceTables& tables) {
    raw.kind = Kind::counter;
    raw.lane = tables.lane(event);
    std::vector<Raw> out;
    const std::string base(tables.about.names[tables.name(event[Key::name])]);
    for (const auto& [key, value] : event.others) {
        const auto number_read = number(value.text);
        if (!number_read) {
            tables.about.warn("counter values that are no numbers", value.text);
            continue;
        }
        raw.value = *number_read;
        const std::string series(tables.about.names[tables.name(key)]);
        raw.name = raw.type = tables.name(series == "value" ? base : fmt::format("{} {}", base, series));
        out.push_back(raw);
    }
    return out;
}

}  // namespace viridian::trace
