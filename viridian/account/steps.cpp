#include "viridian/account/steps.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/meter/counter.hpp"

namespace viridian::account {
namespace {

// A sampler misses a few ticks on a busy machine; more than this many periods without a reading is a gap.
constexpr std::int64_t gap_periods = 25;
constexpr Nanoseconds shortest_gap = 100'000'000;

Nanoseconds median_length(const std::vector<Step>& steps) {
    if (steps.empty()) return 0;
    std::vector<Nanoseconds> lengths;
    lengths.reserve(steps.size());
    for (const Step& step : steps) lengths.push_back(step.end - step.begin);
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    return *middle;
}

// Microwatts held for nanoseconds: 1 uW ns = 1e-9 uJ.
Exact energy_of(std::int64_t microwatts, Nanoseconds length, UInt128& remainder) {
    const UInt128 product =
        (static_cast<UInt128>(microwatts) * static_cast<UInt128>(length) << 32) + remainder;
    remainder = product % 1'000'000'000U;
    return static_cast<Exact>(product / 1'000'000'000U);
}

void mark_gaps(Steps& steps, Nanoseconds polled) {
    const Nanoseconds limit = std::max({shortest_gap, gap_periods * polled, 4 * steps.period});
    for (Step& step : steps.steps)
        if (step.end - step.begin > limit) step.gap = true;
}

void count_gaps(Steps& steps) {
    steps.gaps = static_cast<std::uint64_t>(
        std::count_if(steps.steps.begin(), steps.steps.end(), [](const Step& step) { return step.gap; }));
    if (steps.gaps > 0)
        steps.warnings.push_back(
            fmt::format("{} gaps between power readings; their energy is unattributed", steps.gaps));
}

// A counter that could have gone round twice between two readings says nothing of its energy: it went round
// at least as often as we saw. Marked where the highest power seen elsewhere would wrap it in less than the
// step.
void doubt_wraps(Steps& steps, std::int64_t wrap_uj) {
    if (wrap_uj <= 0) return;
    double highest = 0.0;  // J/ns
    for (const Step& step : steps.steps)
        if (!step.gap)
            highest =
                std::max(highest, joules(step.energy).value / static_cast<double>(step.end - step.begin));
    std::uint64_t doubtful = 0;
    for (Step& step : steps.steps)
        if (step.gap &&
            highest * static_cast<double>(step.end - step.begin) > 1e-6 * static_cast<double>(wrap_uj))
            ++doubtful;
    if (doubtful > 0)
        steps.warnings.push_back(fmt::format(
            "{} gaps are long enough for the counter to have gone round unseen: the total is a lower bound",
            doubtful));
}

Steps from_counter(const meter::Series& series, Nanoseconds shift) {
    Steps out;
    const auto& readings = series.readings;
    const std::int64_t wrap = series.channel.wrap_uj;
    // Read faster than it moves, the counter's first value is of unknown age: begin at its first move.
    std::size_t first = 0, repeats = 0;
    for (std::size_t i = 1; i < readings.size(); ++i)
        repeats += readings[i].value == readings[i - 1].value ? 1 : 0;
    if (repeats * 5 > readings.size())
        while (first + 1 < readings.size() && readings[first].value == readings[0].value) ++first;
    std::int64_t rises = 0;  // for the independent total: last - first + wraps + what resets lost
    for (std::size_t i = first + 1, last = first; i < readings.size(); ++i) {
        if (readings[i].value == readings[last].value) continue;
        const auto difference = meter::counter_difference(readings[last].value, readings[i].value, wrap);
        Step step{readings[last].time_ns - shift, readings[i].time_ns - shift, 0, false};
        if (readings[i].value < readings[last].value) {
            if (difference) {
                ++out.wraps;
                rises += wrap;
            } else {
                ++out.resets;
                rises += readings[last].value - readings[i].value;
                step.gap = true;
            }
        }
        step.energy = exact_microjoules(difference.value_or(0));
        out.steps.push_back(step);
        last = i;
    }
    if (readings.size() > 1)
        out.total = exact_microjoules(readings.back().value - readings[first].value + rises);
    if (out.resets > 0)
        out.warnings.push_back(
            fmt::format("the counter was reset {} times; its energy meanwhile is unknown", out.resets));
    return out;
}

Steps from_power(const meter::Series& series, Nanoseconds shift) {
    Steps out;
    UInt128 remainder = 0;
    UInt128 sum = 0;  // uW ns
    std::uint64_t negative = 0;
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
        sum += static_cast<UInt128>(power) * static_cast<UInt128>(length);
        out.steps.push_back({readings[i - 1].time_ns - shift, readings[i].time_ns - shift,
                             energy_of(power, length, remainder), false});
    }
    // `sum` < 2^95 uW ns (10^13 J): divide before shifting.
    out.total =
        static_cast<Exact>((sum / 1'000'000'000U << 32) + ((sum % 1'000'000'000U << 32) / 1'000'000'000U));
    if (negative > 0)
        out.warnings.push_back(fmt::format("{} readings below 0 W were taken as 0 W", negative));
    return out;
}

}  // namespace

Watts Steps::mean_power() const {
    if (empty()) return Watts(0);
    return joules(total) / Seconds(1e-9 * static_cast<double>(end() - begin()));
}

Steps steps_of(const meter::Series& series, Nanoseconds shift) {
    Steps out = series.channel.kind == meter::Kind::energy_uj ? from_counter(series, shift)
                                                              : from_power(series, shift);
    out.period = median_length(out.steps);
    std::vector<Step> polls;
    for (std::size_t i = 1; i < series.readings.size(); ++i)
        polls.push_back({series.readings[i - 1].time_ns, series.readings[i].time_ns, 0, false});
    mark_gaps(out, median_length(polls));
    doubt_wraps(out, series.channel.wrap_uj);
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
