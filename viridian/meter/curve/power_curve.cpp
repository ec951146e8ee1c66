#include "viridian/meter/curve/power_curve.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/meter/curve/counter_curve.hpp"
#include "viridian/meter/curve/interval_energy.hpp"

namespace viridian::meter {
namespace {

// A sampler misses a few ticks on a busy machine; more than this many periods without a reading is a gap.
constexpr std::int64_t gap_periods = 25;
constexpr Nanoseconds shortest_gap = 100'000'000;

void count_gaps(PowerCurve& curve) {
    curve.gaps =
        static_cast<std::uint64_t>(std::count_if(curve.segments.begin(), curve.segments.end(),
                                                 [](const PowerSegment& segment) { return segment.gap; }));
    if (curve.gaps > 0)
        curve.warnings.push_back(
            fmt::format("{} gaps between power readings; their energy is unattributed", curve.gaps));
}

PowerCurve from_power(const Series& series, Nanoseconds shift, Nanoseconds longest) {
    PowerCurve out;
    UInt128 remainder = 0;
    UInt128 sum = 0;  // uW ns
    std::uint64_t negative = 0;
    double unknown = 0.0;  // seconds
    const auto& readings = series.readings;
    for (std::size_t i = 1; i < readings.size(); ++i) {
        negative += readings[i].value < 0 ? 1 : 0;
        const std::int64_t power = power_between(series.channel, readings[i - 1].value, readings[i].value);
        const Nanoseconds length = readings[i].time_ns - readings[i - 1].time_ns;
        const bool silent = length > longest;  // nobody knows what was drawn meanwhile
        if (!silent) sum += static_cast<UInt128>(power) * static_cast<UInt128>(length);
        out.segments.push_back({readings[i - 1].time_ns - shift, readings[i].time_ns - shift,
                                silent ? 0 : power_energy(power, length, remainder), silent});
        if (silent) unknown += 1e-9 * static_cast<double>(length);
    }
    // `sum` < 2^95 uW ns (10^13 J): divide before shifting.
    out.total =
        static_cast<Exact>((sum / 1'000'000'000U << 32) + ((sum % 1'000'000'000U << 32) / 1'000'000'000U));
    out.period = median_length(out.segments);
    if (unknown > 0)
        out.warnings.push_back(fmt::format(
            "{:.4g} s without readings: the energy drawn meanwhile is unknown and not counted", unknown));
    if (negative > 0)
        out.warnings.push_back(fmt::format("{} readings below 0 W were taken as 0 W", negative));
    return out;
}

}  // namespace

Nanoseconds median_length(const std::vector<PowerSegment>& segments) {
    if (segments.empty()) return 0;
    std::vector<Nanoseconds> lengths;
    lengths.reserve(segments.size());
    for (const PowerSegment& segment : segments) lengths.push_back(segment.end - segment.begin);
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return *middle;
}

Watts PowerCurve::mean_power() const {
    if (empty()) return Watts(0);
    return joules(total) / Seconds(1e-9 * static_cast<double>(end() - begin()));
}

PowerCurve curve_of(const Series& series, Nanoseconds shift) {
    std::vector<PowerSegment> polls;
    for (std::size_t i = 1; i < series.readings.size(); ++i)
        polls.push_back({series.readings[i - 1].time_ns, series.readings[i].time_ns, 0, false});
    const Nanoseconds longest = std::max(shortest_gap, gap_periods * median_length(polls));
    PowerCurve out = series.channel.kind == Kind::energy_uj ? counter_curve(series, shift, longest)
                                                            : from_power(series, shift, longest);
    // Where the clock was set back, energy is known but not when it was drawn.
    for (const std::size_t reading : series.broken) {
        const Nanoseconds time = series.readings[reading].time_ns - shift;
        const auto segment =
            std::lower_bound(out.segments.begin(), out.segments.end(), time,
                             [](const PowerSegment& one, Nanoseconds at) { return one.end < at; });
        if (segment != out.segments.end() && segment->begin < time) segment->gap = true;
    }
    count_gaps(out);
    return out;
}

PowerCurve sum(const std::vector<PowerCurve>& parts) {
    std::vector<const PowerCurve*> used;
    for (const PowerCurve& one : parts)
        if (!one.empty()) used.push_back(&one);
    if (used.empty()) return {};
    if (used.size() == 1) return *used.front();
    // The channels of a meter are read microseconds apart. The segments of the largest carry all.
    std::stable_sort(used.begin(), used.end(),
                     [](const PowerCurve* a, const PowerCurve* b) { return a->total > b->total; });
    Nanoseconds begin = used[0]->begin(), end = used[0]->end();
    for (const PowerCurve* one : used) {
        begin = std::max(begin, one->begin());
        end = std::min(end, one->end());
    }
    PowerCurve out;
    for (const PowerSegment& segment : used[0]->segments) {
        const PowerSegment clipped{std::max(segment.begin, begin), std::min(segment.end, end), 0,
                                   segment.gap};
        if (clipped.begin < clipped.end) out.segments.push_back(clipped);
    }
    if (out.empty()) out.warnings.emplace_back("the channels of this device share no time");
    for (const PowerCurve* one : used) {
        out.wraps += one->wraps;
        out.resets += one->resets;
        out.period = std::max(out.period, one->period);
        out.warnings.insert(out.warnings.end(), one->warnings.begin(), one->warnings.end());
        if (out.empty()) continue;
        std::size_t at = 0;
        SegmentRate rate(one->segments[0]);
        Exact whole = 0;  // of the segments before `at`
        const auto until = [&](Nanoseconds time, bool& gap) {
            for (; at < one->segments.size() && one->segments[at].end <= time; ++at) {
                whole += one->segments[at].energy;
                gap = gap || one->segments[at].gap;
                if (at + 1 < one->segments.size()) rate = SegmentRate(one->segments[at + 1]);
            }
            if (at == one->segments.size() || one->segments[at].begin >= time) return whole;
            gap = gap || one->segments[at].gap;
            return whole + rate.at(one->segments[at], time);
        };
        bool ignored = false;
        Exact before = until(begin, ignored);
        const Exact first = before;
        for (PowerSegment& segment : out.segments) {
            const Exact now = until(segment.end, segment.gap);
            segment.energy += now - before;
            before = now;
        }
        out.total += before - first;
    }
    out.gaps = static_cast<std::uint64_t>(std::count_if(
        out.segments.begin(), out.segments.end(), [](const PowerSegment& segment) { return segment.gap; }));
    return out;
}

SegmentRate::SegmentRate(const PowerSegment& segment) {
    const auto length = static_cast<UInt128>(segment.end - segment.begin);
    const auto energy = static_cast<UInt128>(segment.energy);
    whole_ = energy / length;
    fraction_ = static_cast<std::uint64_t>((energy % length << 64U) / length);
}

EnergyIntegral::EnergyIntegral(const PowerCurve& curve) : curve_(&curve) {
    if (!curve.empty()) rate_ = SegmentRate(curve.segments.front());
}

Exact EnergyIntegral::until(Nanoseconds time) {
    const std::vector<PowerSegment>& segments = curve_->segments;
    while (at_ < segments.size() && segments[at_].end <= time) {
        if (!segments[at_].gap) before_ += segments[at_].energy;
        if (++at_ < segments.size()) rate_ = SegmentRate(segments[at_]);
    }
    if (at_ == segments.size() || time <= segments[at_].begin || segments[at_].gap) return before_;
    return before_ + rate_.at(segments[at_], time);
}

}  // namespace viridian::meter
