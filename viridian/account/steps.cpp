#include "viridian/account/steps.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/account/counter_steps.hpp"

namespace viridian::account {
namespace {

// A sampler misses a few ticks on a busy machine; more than this many periods without a reading is a gap.
constexpr std::int64_t gap_periods = 25;
constexpr Nanoseconds shortest_gap = 100'000'000;

// Microwatts held for nanoseconds: 1 uW ns = 1e-9 uJ.
Exact energy_of(std::int64_t microwatts, Nanoseconds length, UInt128& remainder) {
    const UInt128 product =
        (static_cast<UInt128>(microwatts) * static_cast<UInt128>(length) << 32) + remainder;
    remainder = product % 1'000'000'000U;
    return static_cast<Exact>(product / 1'000'000'000U);
}

void count_gaps(Steps& steps) {
    steps.gaps = static_cast<std::uint64_t>(
        std::count_if(steps.steps.begin(), steps.steps.end(), [](const Step& step) { return step.gap; }));
    if (steps.gaps > 0)
        steps.warnings.push_back(
            fmt::format("{} gaps between power readings; their energy is unattributed", steps.gaps));
}

Steps from_power(const meter::Series& series, Nanoseconds shift, Nanoseconds longest) {
    Steps out;
    UInt128 remainder = 0;
    UInt128 sum = 0;  // uW ns
    std::uint64_t negative = 0;
    double unknown = 0.0;  // seconds
    const auto& readings = series.readings;
    const bool average = series.channel.kind == meter::Kind::average_uw;
    const auto clamped = [&](std::int64_t value) {
        negative += value < 0 ? 1 : 0;
        return std::max<std::int64_t>(value, 0);
    };
    for (std::size_t i = 1; i < readings.size(); ++i) {
        const std::int64_t now = clamped(readings[i].value);
        const std::int64_t power =
            average ? now : (std::max<std::int64_t>(readings[i - 1].value, 0) + now) / 2;
        const Nanoseconds length = readings[i].time_ns - readings[i - 1].time_ns;
        const bool gap = length > longest;  // what was drawn meanwhile nobody knows
        if (!gap) sum += static_cast<UInt128>(power) * static_cast<UInt128>(length);
        out.steps.push_back({readings[i - 1].time_ns - shift, readings[i].time_ns - shift,
                             gap ? 0 : energy_of(power, length, remainder), gap});
        if (gap) unknown += 1e-9 * static_cast<double>(length);
    }
    // `sum` < 2^95 uW ns (10^13 J): divide before shifting.
    out.total =
        static_cast<Exact>((sum / 1'000'000'000U << 32) + ((sum % 1'000'000'000U << 32) / 1'000'000'000U));
    out.period = median_length(out.steps);
    if (unknown > 0)
        out.warnings.push_back(fmt::format(
            "{:.4g} s without readings: the energy drawn meanwhile is unknown and not counted", unknown));
    if (negative > 0)
        out.warnings.push_back(fmt::format("{} readings below 0 W were taken as 0 W", negative));
    return out;
}

}  // namespace

Nanoseconds median_length(const std::vector<Step>& steps) {
    if (steps.empty()) return 0;
    std::vector<Nanoseconds> lengths;
    lengths.reserve(steps.size());
    for (const Step& step : steps) lengths.push_back(step.end - step.begin);
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return *middle;
}

Watts Steps::mean_power() const {
    if (empty()) return Watts(0);
    return joules(total) / Seconds(1e-9 * static_cast<double>(end() - begin()));
}

Steps steps_of(const meter::Series& series, Nanoseconds shift) {
    std::vector<Step> polls;
    for (std::size_t i = 1; i < series.readings.size(); ++i)
        polls.push_back({series.readings[i - 1].time_ns, series.readings[i].time_ns, 0, false});
    const Nanoseconds longest = std::max(shortest_gap, gap_periods * median_length(polls));
    Steps out = series.channel.kind == meter::Kind::energy_uj ? counter_steps(series, shift, longest)
                                                              : from_power(series, shift, longest);
    // Where the clock was set back, energy is known but not when it was drawn.
    for (const std::size_t reading : series.broken) {
        const Nanoseconds time = series.readings[reading].time_ns - shift;
        const auto step = std::lower_bound(out.steps.begin(), out.steps.end(), time,
                                           [](const Step& one, Nanoseconds at) { return one.end < at; });
        if (step != out.steps.end() && step->begin < time) step->gap = true;
    }
    count_gaps(out);
    return out;
}

Steps sum(const std::vector<Steps>& parts) {
    std::vector<const Steps*> used;
    for (const Steps& one : parts)
        if (!one.empty()) used.push_back(&one);
    if (used.empty()) return {};
    if (used.size() == 1) return *used.front();
    // The channels of a meter are read microseconds apart. The largest one's steps carry all.
    std::stable_sort(used.begin(), used.end(),
                     [](const Steps* a, const Steps* b) { return a->total > b->total; });
    Nanoseconds begin = used[0]->begin(), end = used[0]->end();
    for (const Steps* one : used) {
        begin = std::max(begin, one->begin());
        end = std::min(end, one->end());
    }
    Steps out;
    for (const Step& step : used[0]->steps) {
        const Step clipped{std::max(step.begin, begin), std::min(step.end, end), 0, step.gap};
        if (clipped.begin < clipped.end) out.steps.push_back(clipped);
    }
    if (out.empty()) out.warnings.emplace_back("the channels of this device share no time");
    for (const Steps* one : used) {
        out.wraps += one->wraps;
        out.resets += one->resets;
        out.period = std::max(out.period, one->period);
        out.warnings.insert(out.warnings.end(), one->warnings.begin(), one->warnings.end());
        if (out.empty()) continue;
        std::size_t at = 0;
        StepRate rate(one->steps[0]);
        Exact whole = 0;  // of the steps before `at`
        const auto until = [&](Nanoseconds time, bool& gap) {
            for (; at < one->steps.size() && one->steps[at].end <= time; ++at) {
                whole += one->steps[at].energy;
                gap = gap || one->steps[at].gap;
                if (at + 1 < one->steps.size()) rate = StepRate(one->steps[at + 1]);
            }
            if (at == one->steps.size() || one->steps[at].begin >= time) return whole;
            gap = gap || one->steps[at].gap;
            return whole + rate.at(one->steps[at], time);
        };
        bool ignored = false;
        Exact before = until(begin, ignored);
        const Exact first = before;
        for (Step& step : out.steps) {
            const Exact now = until(step.end, step.gap);
            step.energy += now - before;
            before = now;
        }
        out.total += before - first;
    }
    out.gaps = static_cast<std::uint64_t>(
        std::count_if(out.steps.begin(), out.steps.end(), [](const Step& step) { return step.gap; }));
    return out;
}

StepRate::StepRate(const Step& step) {
    const auto length = static_cast<UInt128>(step.end - step.begin);
    const auto energy = static_cast<UInt128>(step.energy);
    whole_ = energy / length;
    fraction_ = static_cast<std::uint64_t>((energy % length << 64U) / length);
}

Integral::Integral(const Steps& steps) : steps_(&steps) {
    if (!steps.empty()) rate_ = StepRate(steps.steps.front());
}

Exact Integral::until(Nanoseconds time) {
    const std::vector<Step>& steps = steps_->steps;
    while (at_ < steps.size() && steps[at_].end <= time) {
        if (!steps[at_].gap) before_ += steps[at_].energy;
        if (++at_ < steps.size()) rate_ = StepRate(steps[at_]);
    }
    if (at_ == steps.size() || time <= steps[at_].begin || steps[at_].gap) return before_;
    return before_ + rate_.at(steps[at_], time);
}

}  // namespace viridian::account
