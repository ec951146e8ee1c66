#include "viridian/account/power/process_share.hpp"

#include <algorithm>

namespace viridian::account {
namespace {

constexpr Nanoseconds shortest = 100'000'000;

struct Stretch {
    Nanoseconds end = 0;
    std::int64_t own = 0, all = 1;
};

std::int64_t at(const std::vector<meter::Reading>& readings, Nanoseconds time) {
    const auto after =
        std::upper_bound(readings.begin(), readings.end(), time,
                         [](Nanoseconds t, const meter::Reading& reading) { return t < reading.time_ns; });
    return after == readings.begin() ? readings.front().value : (after - 1)->value;
}

std::vector<Stretch> stretches(const meter::Series& own, const meter::Series& all) {
    std::vector<Stretch> out;
    Nanoseconds last = INT64_MIN;
    for (const meter::Reading& reading : all.readings) {
        if (last == INT64_MIN) {
            last = reading.time_ns;
            continue;
        }
        if (reading.time_ns - last < shortest) continue;
        const std::int64_t busy = at(all.readings, reading.time_ns) - at(all.readings, last);
        const std::int64_t mine = at(own.readings, reading.time_ns) - at(own.readings, last);
        const bool idle = busy <= 0;
        out.push_back({reading.time_ns, idle ? 1 : std::clamp<std::int64_t>(mine, 0, busy), idle ? 1 : busy});
        last = reading.time_ns;
    }
    return out;
}

}  // namespace

Exact keep_process_share(PowerCurve& curve, const meter::PowerLog& log, std::string_view device) {
    const meter::Series* own = log.find(device, meter::Scope::process, meter::Kind::busy_ticks);
    const meter::Series* all = log.find(device, meter::Scope::package, meter::Kind::busy_ticks);
    if (own == nullptr || all == nullptr || own->readings.empty() || all->readings.empty()) return 0;
    const std::vector<Stretch> shares = stretches(*own, *all);
    if (shares.empty()) return 0;
    Exact others = 0;
    std::size_t i = 0;
    for (PowerSegment& segment : curve.segments) {
        const Nanoseconds middle = segment.begin + (segment.end - segment.begin) / 2;
        while (i + 1 < shares.size() && shares[i].end <= middle) ++i;
        const Exact whole = segment.energy / shares[i].all, rest = segment.energy % shares[i].all;
        const Exact mine = whole * shares[i].own + rest * shares[i].own / shares[i].all;
        others += segment.energy - mine;
        segment.energy = mine;
    }
    curve.total -= others;
    return others;
}

}  // namespace viridian::account
