#include "viridian/meter/characterise/characterise.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace viridian::meter {
namespace {

struct Stretch {
    double begin = 0.0, end = 0.0;
};

// The longest stretch without load inside the log.
Stretch longest_idle(std::span<const LoadStep> load, double log_end) {
    Stretch longest;
    for (std::size_t i = 0; i < load.size(); ++i) {
        if (load[i].load > 0.0) continue;
        const double begin = 1e-9 * static_cast<double>(load[i].time_ns - load[0].time_ns);
        const double end =
            i + 1 < load.size() ? 1e-9 * static_cast<double>(load[i + 1].time_ns - load[0].time_ns) : log_end;
        if (end - begin > longest.end - longest.begin) longest = {begin, end};
    }
    return longest;
}

StampKind stamp_of(const ProbeField& field) {
    // As many stamps as reads: made up when asked. Halfway is no meter's behaviour.
    return 2 * field.stamps > field.reads ? StampKind::asking : StampKind::renewal;
}

// The time of each reading's renewal, seconds since the first step of load.
std::vector<double> times_of(const ProbeField& field, const std::optional<Renewals>& renewals,
                             StampKind stamp, std::int64_t zero) {
    std::vector<double> times;
    const std::int64_t first = field.readings.empty() ? 0 : field.readings.front().not_before_ns;
    for (std::size_t i = 0; i < field.readings.size(); ++i) {
        const ProbeReading& reading = field.readings[i];
        const double middle =
            0.5e-9 * static_cast<double>(reading.seen_ns - zero + reading.not_before_ns - zero);
        if (stamp == StampKind::renewal)
            times.push_back(1e-9 * static_cast<double>(reading.stamp_ns - zero));
        else if (renewals)
            times.push_back(1e-9 * (static_cast<double>(first - zero) + renewals->times_ns[i]));
        else
            times.push_back(middle);
    }
    return times;
}

std::vector<Observation> observe(const ProbeField& field, const std::vector<double>& times) {
    std::vector<Observation> out;
    const bool counter = field.channel.kind == Kind::energy_uj;
    for (std::size_t i = 1; i < times.size(); ++i) {  // when the first value came is unknown
        const double watts = 1e-6 * static_cast<double>(field.readings[i].value);
        if (!counter) {
            out.push_back({times[i], watts, 0.0});
            continue;
        }
        const double span = times[i] - times[i - 1];
        const double joules =
            1e-6 * static_cast<double>(field.readings[i].value - field.readings[i - 1].value);
        if (i > 1 && span > 1e-6 && joules >= 0.0) out.push_back({times[i], joules / span, times[i - 1]});
    }
    return out;
}

// Each power holds for the time since the reading before it.
double integral(const std::vector<Observation>& all, double begin, double end) {
    double joules = 0.0, from = begin;
    for (const Observation& o : all) {
        const double to = std::clamp(o.time, from, end);
        joules += o.watts * (to - from);
        from = to;
    }
    return all.empty() ? 0.0 : joules + all.back().watts * (end - from);
}

double idle_of(const std::vector<Observation>& all, const Response& response, Stretch idle) {
    const double memory = response.shape == Shape::mean ? response.window : 5.0 * response.window;
    const double settled = idle.begin + std::max(0.0, response.lag) + memory + 0.05;
    double sum = 0.0, weight = 0.0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const double since = i > 0 ? all[i - 1].time : all[i].time;
        if (since < settled || all[i].time > idle.end) continue;
        const double span = std::max(1e-9, all[i].time - since);
        sum += all[i].watts * span;
        weight += span;
    }
    return weight > 0.0 ? sum / weight : 0.0;
}

}  // namespace

Result<std::vector<FieldCharacter>> characterise(const ProbeLog& log, std::span<const LoadStep> load) {
    if (load.size() < 2 ||
        std::min(log.end_ns, load.back().time_ns) - std::max(log.begin_ns, load[0].time_ns) < 1'000'000'000)
        return fail(ErrorCode::mismatch, "probe while the load runs, on one machine's clock",
                    "probe log and load have less than a second in common");
    const std::int64_t zero = load[0].time_ns;
    const double end = 1e-9 * static_cast<double>(log.end_ns - zero);
    const Stretch idle = longest_idle(load, end);
    std::vector<FieldCharacter> out;
    std::vector<std::vector<Observation>> seen;
    for (const ProbeField& field : log.fields) {
        FieldCharacter c;
        c.channel = field.channel;
        c.reads = field.reads;
        c.cost_ns = field.cost_ns;
        c.cost_p99_ns = field.cost_p99_ns;
        c.stamp = stamp_of(field);
        c.renewals = find_renewals(field.readings);
        seen.push_back(observe(field, times_of(field, c.renewals, c.stamp, zero)));
        const bool counter = field.channel.kind == Kind::energy_uj;
        c.response = fit_response(seen.back(), load, counter);
        c.idle_watts = idle_of(seen.back(), c.response, idle);
        if (counter)
            for (std::size_t i = 1; i < field.readings.size(); ++i)
                c.resolution_uj =
                    std::gcd(c.resolution_uj, field.readings[i].value - field.readings[i - 1].value);
        out.push_back(std::move(c));
    }
    for (std::size_t p = 0; p < out.size(); ++p) {
        if (out[p].channel.kind == Kind::energy_uj || seen[p].size() < 2) continue;
        for (std::size_t c = 0; c < out.size(); ++c) {
            const Channel& counter = out[c].channel;
            if (counter.kind != Kind::energy_uj || counter.device != out[p].channel.device ||
                counter.scope != out[p].channel.scope || seen[c].size() < 2)
                continue;
            // Between two renewals of the counter that both fall inside the power's readings.
            const auto inside = [&](const Observation& o) {
                return o.since >= seen[p].front().time && o.time <= seen[p].back().time;
            };
            double joules = 0.0, begin = HUGE_VAL, finish = -HUGE_VAL;
            for (const Observation& o : seen[c]) {
                if (!inside(o)) continue;
                joules += o.watts * (o.time - o.since);
                begin = std::min(begin, o.since);
                finish = std::max(finish, o.time);
            }
            if (joules <= 0.0) continue;
            // The sensor is late by lag and half its window; the counter by its own lag.
            const Response& r = out[p].response;
            const double late =
                r.lag + (r.shape == Shape::mean ? 0.5 * r.window : r.window) - out[c].response.lag;
            out[p].counter_ratio = integral(seen[p], begin + late, finish + late) / joules;
            out[p].counter_doubt =
                (std::abs(out[p].response.full - out[p].response.idle) *
                 ((out[p].renewals ? 1e-9 * out[p].renewals->period_ns : 0.0) + 0.5 * r.window)) /
                joules;
            break;
        }
    }
    return out;
}

}  // namespace viridian::meter
