#include "viridian/account/selftest/synthetic_program.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/base/random.hpp"

namespace viridian::account {
namespace {

constexpr double synthetic_program_base_watts = 90.0;
constexpr Nanoseconds epoch = 1'700'000'000'000'000'000;

struct OperationKind {
    double nanoseconds = 0.0;
    double watts = 0.0;  // above the base
};

struct Instance {
    Nanoseconds start = 0, end = 0;
    OperationId kind = 0;
    double watts = 0.0;
};

std::vector<OperationKind> draw_kinds(const Scenario& scenario, Random& random) {
    std::vector<OperationKind> kinds;
    for (int i = 0; i < scenario.kinds; ++i) {
        const bool lasts = i < scenario.long_kinds;
        const double length =
            lasts ? 5e6 * std::pow(10.0, random.uniform()) : 20e3 * std::pow(45.0, random.uniform());
        kinds.push_back({length, random.uniform(140.0, 680.0) - synthetic_program_base_watts});
    }
    return kinds;
}

// The clock that a governor sets, in order of time: 1 or less.
struct ClockStep {
    Nanoseconds since = 0;
    double clock = 1.0;
};

std::vector<ClockStep> draw_clocks(const Scenario& scenario, Random& random) {
    std::vector<ClockStep> steps = {{epoch, 1.0}};
    if (scenario.governor <= 0.0) return steps;
    const auto end = epoch + static_cast<Nanoseconds>(scenario.duration.value * 1e9);
    for (Nanoseconds now = epoch; now < end; now += random.between(1'000'000'000, 4'000'000'000))
        steps.push_back({now, steps.back().clock < 1.0 ? 1.0 : 1.0 - scenario.governor});
    return steps;
}

double clock_at(const std::vector<ClockStep>& steps, Nanoseconds time) {
    const auto after =
        std::upper_bound(steps.begin(), steps.end(), time,
                         [](Nanoseconds at, const ClockStep& step) { return at < step.since; });
    return after == steps.begin() ? 1.0 : (after - 1)->clock;
}

// One iteration: every kind at least once, the rest so drawn that it lasts about 23 ms; in a fixed random
// order.
std::vector<OperationId> draw_iteration(const Scenario& scenario, const std::vector<OperationKind>& kinds,
                                        Random& random) {
    std::vector<OperationId> order;
    double left = 23e6;
    for (OperationId kind = 0; kind < kinds.size(); ++kind) {
        order.push_back(kind);
        left -= kinds[kind].nanoseconds;
    }
    while (static_cast<int>(order.size()) < scenario.per_iteration) {
        const double even =
            std::max(0.0, left / (scenario.per_iteration - static_cast<double>(order.size())));
        const double wanted = even * random.uniform(0.1, 1.9);
        const auto a = static_cast<OperationId>(random.below(kinds.size()));
        const auto b = static_cast<OperationId>(random.below(kinds.size()));
        const bool first = std::abs(kinds[a].nanoseconds - wanted) < std::abs(kinds[b].nanoseconds - wanted);
        order.push_back(first ? a : b);
        left -= kinds[order.back()].nanoseconds;
    }
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    return order;
}

std::vector<Instance> run_stream(const Scenario& scenario, const std::vector<OperationKind>& kinds,
                                 const std::vector<ClockStep>& clocks, Random& random) {
    const std::vector<OperationId> order = draw_iteration(scenario, kinds, random);
    const auto end = epoch + static_cast<Nanoseconds>(scenario.duration.value * 1e9);
    std::vector<Instance> instances;
    Nanoseconds now = epoch + random.between(0, 20'000'000);
    while (true) {
        for (const OperationId kind : order) {
            const double clock = clock_at(clocks, now);
            const double length =
                kinds[kind].nanoseconds * (1.0 + scenario.time_jitter * random.normal()) / clock;
            const Nanoseconds finish = now + std::max<Nanoseconds>(1000, std::llround(length));
            if (finish >= end) return instances;
            const double watts = kinds[kind].watts * clock * clock * clock;
            instances.push_back({now, finish, kind, watts * (1.0 + scenario.power_jitter * random.normal())});
            now = finish + random.between(500, 4000);
        }
        now += random.between(200'000, 1'000'000);
    }
}

double base_at(const Scenario& scenario, Nanoseconds time) {
    const double t = 1e-9 * static_cast<double>(time - epoch) / scenario.duration.value;
    return synthetic_program_base_watts +
           scenario.drift.value * (1.0 - std::exp(-4.0 * t));  // a device that warms up
}

// What an instance draws from `from` to `to`, in joules.
double energy_of(const Scenario& scenario, const Instance& instance, Nanoseconds from, Nanoseconds to) {
    const double seconds = 1e-9 * static_cast<double>(to - from);
    const double middle = static_cast<double>((from - instance.start) + (to - instance.start)) /
                          (2.0 * static_cast<double>(instance.end - instance.start));  // 0 to 1
    return instance.watts * seconds * (1.0 + scenario.ramp * (2.0 * middle - 1.0));
}

}  // namespace

Scenario calm() {
    Scenario scenario;
    scenario.name = "calm";
    return scenario;
}

Scenario rough() {
    Scenario scenario;
    scenario.name = "rough";
    scenario.duration = Seconds(300);
    scenario.streams = 2;
    scenario.power_jitter = 0.05;
    scenario.drift = Watts(15);
    scenario.shift = Seconds(0.0013);
    return scenario;
}

Scenario unmodelled() {
    Scenario scenario;
    scenario.name = "unmodelled";
    scenario.duration = Seconds(120);
    scenario.long_kinds = 4;
    scenario.ramp = 0.4;
    scenario.heat = Watts(30);
    scenario.governor = 0.1;
    return scenario;
}

SyntheticProgram synthesize(const Scenario& scenario) {
    Random random(scenario.seed);
    const std::vector<OperationKind> kinds = draw_kinds(scenario, random);
    const std::vector<ClockStep> clocks = draw_clocks(scenario, random);
    std::vector<Instance> instances;
    for (int stream = 0; stream < scenario.streams; ++stream) {
        const std::vector<Instance> more = run_stream(scenario, kinds, clocks, random);
        instances.insert(instances.end(), more.begin(), more.end());
    }
    std::sort(instances.begin(), instances.end(),
              [](const Instance& a, const Instance& b) { return a.start < b.start; });

    SyntheticProgram truth;
    truth.energy.resize(kinds.size());
    std::vector<bool> lost(instances.size());
    for (std::size_t i = 0; i < instances.size(); ++i) {
        lost[i] = random.chance(scenario.dropped);
        if (!lost[i]) truth.leaves.push_back({instances[i].start, instances[i].end, instances[i].kind, 1});
    }
    // Instant by instant: the next start or the earliest end among the few that are active.
    std::vector<std::size_t> active;
    Nanoseconds now = epoch;
    double total = 0.0;
    truth.times = {now};
    truth.cumulative = {0.0};
    double warmth = 0.0;  // 1: as warm as 400 W make it
    const auto step_until = [&](Nanoseconds time) {
        const double seconds = 1e-9 * static_cast<double>(time - now);
        const double base =
            (base_at(scenario, now + (time - now) / 2) + warmth * scenario.heat.value) * seconds;
        double all = base;
        for (const std::size_t i : active) {
            const double own = energy_of(scenario, instances[i], now, time);
            all += own;
            if (!lost[i])
                truth.energy[instances[i].kind] += Joules(own + base / static_cast<double>(active.size()));
        }
        warmth += (all / seconds / 400.0 - warmth) * (1.0 - std::exp(-seconds / 8.0));
        total += all;
        now = time;
        truth.times.push_back(now);
        truth.cumulative.push_back(total);
    };
    const bool bent =
        scenario.ramp > 0.0 || scenario.heat.value > 0.0;  // then in steps of half a millisecond
    const auto run_until = [&](Nanoseconds time) {
        while (now < time) step_until(bent ? std::min(time, now + 500'000) : time);
    };
    for (std::size_t next = 0; next < instances.size() || !active.empty();) {
        std::size_t first = SIZE_MAX;
        for (std::size_t i = 0; i < active.size(); ++i)
            if (first == SIZE_MAX || instances[active[i]].end < instances[active[first]].end) first = i;
        if (first != SIZE_MAX &&
            (next == instances.size() || instances[active[first]].end <= instances[next].start)) {
            run_until(instances[active[first]].end);
            active.erase(active.begin() + static_cast<std::ptrdiff_t>(first));
        } else {
            run_until(instances[next].start);
            active.push_back(next++);
        }
    }
    run_until(epoch + static_cast<Nanoseconds>(scenario.duration.value * 1e9));
    return truth;
}

DeviceTruth device_truth(const SyntheticProgram& program, Nanoseconds from, Nanoseconds to) {
    const auto energy_at = [&](Nanoseconds time) {
        const std::vector<Nanoseconds>& times = program.times;
        time = std::clamp(time, std::max(from, times.front()), std::min(to, times.back()));
        const auto after = std::upper_bound(times.begin() + 1, times.end() - 1, time);
        const auto at = static_cast<std::size_t>(after - times.begin());
        const double part =
            static_cast<double>(time - times[at - 1]) / static_cast<double>(times[at] - times[at - 1]);
        return program.cumulative[at - 1] + part * (program.cumulative[at] - program.cumulative[at - 1]);
    };
    DeviceTruth out;
    if (program.leaves.empty()) return out;
    Nanoseconds busy_until = program.leaves.front().start;
    for (const Leaf& leaf : program.leaves) {
        if (leaf.start > busy_until) out.idle += Joules(energy_at(leaf.start) - energy_at(busy_until));
        busy_until = std::max(busy_until, leaf.end);
    }
    const double first = energy_at(program.leaves.front().start), last = energy_at(busy_until);
    out.active = Joules(last - first) - out.idle;
    out.unattributed = Joules(energy_at(to) - last + first - energy_at(from));
    return out;
}

std::vector<SensorModel> sensor_models() {
    return {{"1 ms counter", meter::Kind::energy_uj, 1'000'000, 0},
            {"4 ms counter", meter::Kind::energy_uj, 4'000'000, 0},
            {"20 ms counter", meter::Kind::energy_uj, 20'000'000, 0},
            {"20 ms, read late", meter::Kind::energy_uj, 20'000'000, 0, 4'000'000},
            {"25 of 100 ms", meter::Kind::average_uw, 100'000'000, 25'000'000},
            {"100 ms mean", meter::Kind::average_uw, 100'000'000, 100'000'000}};
}

namespace {

// What a recorder writes that reads the counter `every` so many nanoseconds, a little late each time.
std::vector<meter::Reading> read_late(const std::vector<meter::Reading>& renewals, Nanoseconds every,
                                      Random& random) {
    std::vector<meter::Reading> readings;
    if (renewals.empty()) return readings;
    std::size_t at = 0;
    for (Nanoseconds tick = renewals.front().time_ns + every / 3; tick < renewals.back().time_ns;
         tick += every) {
        const Nanoseconds time =
            tick + std::llround(0.02 * static_cast<double>(every) * std::abs(random.normal()));
        while (at + 1 < renewals.size() && renewals[at + 1].time_ns <= time) ++at;
        readings.push_back({time, renewals[at].value, 0});
    }
    return readings;
}

}  // namespace

meter::Series measure(const SyntheticProgram& truth, const SensorModel& sensor, const Scenario& scenario) {
    constexpr double quantum_uj = 61.03515625;  // RAPL: 2^-14 J
    constexpr std::int64_t wrap_uj = 262'143'328'850;
    Random random(scenario.seed ^ 0x5ee5U ^ static_cast<std::uint64_t>(sensor.period + sensor.window));
    const auto shift = static_cast<Nanoseconds>(std::llround(scenario.shift.value * 1e9));
    std::size_t at = 0;
    const auto energy_at = [&](Nanoseconds time) {  // times near each other, mostly ascending
        time = std::clamp(time, truth.times.front(), truth.times.back());
        while (at > 0 && truth.times[at] > time) --at;
        while (at + 2 < truth.times.size() && truth.times[at + 1] <= time) ++at;
        const double part = static_cast<double>(time - truth.times[at]) /
                            static_cast<double>(truth.times[at + 1] - truth.times[at]);
        return truth.cumulative[at] + part * (truth.cumulative[at + 1] - truth.cumulative[at]);
    };
    meter::Series series{{"truth", "cuda:0", meter::Scope::gpu, sensor.kind, 0}, {}};
    const bool counter = sensor.kind == meter::Kind::energy_uj;
    if (counter) series.channel.wrap_uj = wrap_uj;
    // Starts where the counter returns to zero after 40 % of the run.
    double counted = static_cast<double>(wrap_uj) - 0.4e6 * truth.cumulative.back();
    double before = 0.0;
    Nanoseconds last = 0;
    for (Nanoseconds tick = truth.times.front() + sensor.window + sensor.period; tick < truth.times.back();
         tick += sensor.period) {
        const Nanoseconds time =
            tick + std::llround(0.01 * static_cast<double>(sensor.period) * random.normal());
        if (time <= last) continue;
        const double now = energy_at(time - shift);
        const double noise = scenario.noise.value * random.normal();
        if (!counter) {
            const double mean =
                (now - energy_at(time - shift - sensor.window)) / (1e-9 * static_cast<double>(sensor.window));
            series.readings.push_back({time, 1000 * std::llround(std::max(0.0, mean + noise) * 1e3), 0});
        } else {
            if (last != 0)
                counted +=
                    std::max(0.0, 1e6 * (now - before) + noise * 1e-3 * static_cast<double>(time - last));
            if (counted > static_cast<double>(wrap_uj)) counted -= static_cast<double>(wrap_uj);
            series.readings.push_back(
                {time, static_cast<std::int64_t>(std::floor(counted / quantum_uj) * quantum_uj), 0});
        }
        before = now;
        last = time;
    }
    if (sensor.read_every > 0) series.readings = read_late(series.readings, sensor.read_every, random);
    return series;
}

}  // namespace viridian::account
