#include "viridian/account/selftest/synthetic_program.hpp"

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
    for (int i = 0; i < scenario.kinds; ++i)
        kinds.push_back({20e3 * std::pow(45.0, random.uniform()),
                         random.uniform(140.0, 680.0) - synthetic_program_base_watts});
    return kinds;
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
                                 Random& random) {
    const std::vector<OperationId> order = draw_iteration(scenario, kinds, random);
    const auto end = epoch + static_cast<Nanoseconds>(scenario.duration.value * 1e9);
    std::vector<Instance> instances;
    Nanoseconds now = epoch + random.between(0, 20'000'000);
    while (true) {
        for (const OperationId kind : order) {
            const double length = kinds[kind].nanoseconds * (1.0 + scenario.time_jitter * random.normal());
            const Nanoseconds finish = now + std::max<Nanoseconds>(1000, std::llround(length));
            if (finish >= end) return instances;
            instances.push_back(
                {now, finish, kind, kinds[kind].watts * (1.0 + scenario.power_jitter * random.normal())});
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

SyntheticProgram synthesize(const Scenario& scenario) {
    Random random(scenario.seed);
    const std::vector<OperationKind> kinds = draw_kinds(scenario, random);
    std::vector<Instance> instances;
    for (int stream = 0; stream < scenario.streams; ++stream) {
        const std::vector<Instance> more = run_stream(scenario, kinds, random);
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
    const auto run_until = [&](Nanoseconds time) {
        if (time == now) return;
        const double seconds = 1e-9 * static_cast<double>(time - now);
        const double base = base_at(scenario, now + (time - now) / 2) * seconds;
        total += base;
        for (const std::size_t i : active) {
            const double own = instances[i].watts * seconds;
            total += own;
            if (!lost[i])
                truth.energy[instances[i].kind] += Joules(own + base / static_cast<double>(active.size()));
        }
        if (active.empty() && now > epoch) truth.idle += Joules(base);
        now = time;
        truth.times.push_back(now);
        truth.cumulative.push_back(total);
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

std::vector<SensorModel> sensor_models() {
    return {{"1 ms counter", meter::Kind::energy_uj, 1'000'000, 0},
            {"4 ms counter", meter::Kind::energy_uj, 4'000'000, 0},
            {"20 ms counter", meter::Kind::energy_uj, 20'000'000, 0},
            {"25 of 100 ms", meter::Kind::average_uw, 100'000'000, 25'000'000},
            {"100 ms mean", meter::Kind::average_uw, 100'000'000, 100'000'000}};
}

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
    return series;
}

}  // namespace viridian::account
