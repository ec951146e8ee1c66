// Whatever was traced and however it was metered: what operations own, idle, unattributed and residual add up
// to the meter, under every method; and the meter's total is what its readings say, by a plain sum.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/support/cases.hpp"
#include "viridian/account/account.hpp"
#include "viridian/account/selftest/synthetic_program.hpp"
#include "viridian/base/random.hpp"

namespace viridian::account {
namespace {

constexpr Nanoseconds first_instant = 1'700'000'000'000'000'000;
constexpr Nanoseconds millisecond = 1'000'000;

struct Metered {
    meter::Series series;
    double joules = 0.0;  // between the first and the last reading, where all of it is known
    double first =
        0.0;  // of it, by the first move of a counter that is read faster than it moves: of unknown age
};

// 2 to 3 s of readings, none of them faulty: periods that wander, stalls of the sampler, updates rarer than
// readings, wraps.
Metered metered(Random& random, const std::string& device, meter::Scope scope, bool stalls) {
    Metered out;
    const auto kind = static_cast<meter::Kind>(random.below(3));
    const std::int64_t wrap =
        kind == meter::Kind::energy_uj && random.chance(0.5) ? random.between(40, 400) * 1'000'000 : 0;
    out.series.channel = {"test", device, scope, kind, wrap};
    const Nanoseconds period = random.between(1, 30) * millisecond,
                      end = random.between(2000, 3000) * millisecond;
    const bool rare = kind == meter::Kind::energy_uj && random.chance(0.3);
    std::int64_t counter = wrap > 0 ? random.between(0, wrap - 1) : random.between(0, 1'000'000'000),
                 shown = counter;
    Nanoseconds time = random.between(0, 300) * millisecond, last = time;
    double before = 0.0;
    std::vector<meter::Reading>& readings = out.series.readings;
    while (time < end) {
        const double watts = random.uniform(20.0, 60.0);
        if (kind == meter::Kind::energy_uj) {
            const auto more = static_cast<std::int64_t>(watts * 1e-3 * static_cast<double>(time - last));
            counter = wrap > 0 ? (counter + more) % wrap : counter + more;
            if (!rare || random.chance(0.4)) shown = counter;
            readings.push_back({first_instant + time, shown, 0});
        } else {
            const double now = std::round(watts * 1e6);
            const double power = kind == meter::Kind::average_uw ? now : 0.5 * (now + before);
            if (!readings.empty()) out.joules += 1e-15 * power * static_cast<double>(time - last);
            before = now;
            readings.push_back({first_instant + time, static_cast<std::int64_t>(now), 0});
        }
        last = time;
        const bool stall = stalls && random.chance(0.02);
        time += stall ? random.between(40, 900) * millisecond : period + random.between(0, period / 4);
    }
    if (kind == meter::Kind::energy_uj) {
        std::int64_t sum = 0;
        for (std::size_t i = 1; i < readings.size(); ++i) {
            const std::int64_t change = readings[i].value - readings[i - 1].value;
            sum += change < 0 ? change + wrap : change;
            if (rare && out.first <= 0.0) out.first = 1e-6 * static_cast<double>(sum);
        }
        out.joules = 1e-6 * static_cast<double>(sum);
    }
    return out;
}

// Nested, concurrent, abutting, empty and endless events, before, inside and behind the meter's time.
trace::Collected traced(Random& random, const std::vector<std::string>& devices) {
    trace::Collected out;
    const auto count = random.below(4) == 0 ? random.below(4) : random.below(300);
    const std::int64_t begin = random.between(-500, 1500), end = begin + random.between(1, 2500);
    for (std::uint64_t i = 0; i <= count; ++i) {
        trace::Event event;
        event.start = first_instant + random.between(begin * 1000, end * 1000) * 1000;
        switch (random.below(6)) {
            case 0:
                event.end = event.start;  // no length
                break;
            case 1:
                event.end = event.start + random.between(0, 3000) * millisecond;
                break;
            case 2:
                event.start = first_instant + random.between(begin, end) * millisecond;  // abuts others
                event.end = event.start + random.between(0, 5) * millisecond;
                break;
            default:
                event.end = event.start + random.between(1, 9'000'000);
        }
        event.name = event.type = out.about.names.add(fmt::format("op{}", random.below(6)));
        event.device = out.about.device(devices[random.below(devices.size())]);
        event.lane = out.about.lane(event.device, 1, random.between(1, 3));
        event.kind = i == 0               ? trace::Kind::operation
                     : random.chance(0.8) ? static_cast<trace::Kind>(random.below(4))
                                          : static_cast<trace::Kind>(random.below(trace::kind_count));
        out.events.push_back(event);
    }
    return out;
}

TEST(Conservation, EveryMethodGivesTheMetersJoulesAndNoOther) {
    Random random(41);
    std::map<std::string, int> seen;
    for (int round = 0; round < 600; ++round) {
        const std::vector<std::string> devices = random.chance(0.5)
                                                     ? std::vector<std::string>{"cpu:0"}
                                                     : std::vector<std::string>{"cpu:0", "cuda:0"};
        meter::PowerLog log;
        std::map<std::string, double> known, doubtful;
        const bool stalls = random.chance(0.5);
        for (const std::string& device : devices) {
            Metered one = metered(random, device, meter::Scope::package, stalls);
            known[device] = one.joules;
            // What nobody read of a power is not counted, nor a fall of a counter that was not read for long
            // (a wrap, or a reset?): where that may be, the total is checked from above.
            const meter::Channel& channel = one.series.channel;
            if (stalls && (channel.kind != meter::Kind::energy_uj || channel.wrap_uj > 0))
                known[device] = -one.joules;
            doubtful[device] = one.first;
            log.series.push_back(std::move(one.series));
        }
        const trace::Collected trace = traced(random, devices);
        for (const Method method : {Method::recency, Method::recency_leaves, Method::overlap,
                                    Method::deconvolve, Method::automatic}) {
            // Power that has nothing to do with what ran: most fits are refused.
            const bool fits = method == Method::deconvolve || method == Method::automatic;
            if (fits && round % 20 != 0) continue;
            const auto source = trace::from_memory(trace.about, trace.events);
            const auto got = account(*source, log, {.method = method, .search = {.widest = Seconds(0.004)}});
            if (!got.ok()) {
                EXPECT_EQ(got.error().code, ErrorCode::mismatch) << got.error().text();
                continue;
            }
            for (const Device& device : got->devices) {
                ++seen[device.method];
                double owned = 0.0;
                for (const Operation& operation : got->operations)
                    if (operation.device == device.name && operation.energy) {
                        EXPECT_GE(operation.energy->value.value, 0.0);
                        owned += operation.energy->value.value;
                    }
                const double total = device.meter_total.value.value;
                EXPECT_NEAR(owned + device.idle.value.value + device.unattributed.value.value +
                                device.residual.value.value,
                            total, 1e-6)
                    << round << " " << device.method;
                if (device.method == "overlap") {
                    EXPECT_EQ(device.residual.value.value, 0.0);
                }
                EXPECT_GE(device.idle.value.value, device.method == "deconvolve" ? -1e-3 * total : 0.0);
                EXPECT_GE(device.unattributed.value.value, -1e-9);
                for (const Energy* figure :
                     {&device.idle, &device.unattributed, &device.residual, &device.meter_total}) {
                    EXPECT_LE(figure->low, figure->value) << round << " " << device.method;
                    EXPECT_GE(figure->high, figure->value) << round << " " << device.method;
                }
                const double expected = known[device.name];
                if (expected >= 0.0) {
                    EXPECT_GE(total, expected - doubtful[device.name] - 1e-5) << round;
                    EXPECT_LE(total, expected + 1e-5) << round;
                } else {
                    EXPECT_LE(total, 1e-5 - expected) << round;
                }
            }
        }
    }
    EXPECT_GT(seen["recency"], 400);
    EXPECT_GT(seen["recency-leaves"], 400);
    EXPECT_GT(seen["overlap"], 400);
}

// The events of a program whose power is known, as a trace.
trace::Collected traced(const SyntheticProgram& program) {
    trace::Collected out;
    for (const Leaf& leaf : program.leaves) {
        trace::Event event;
        event.start = leaf.start;
        event.end = leaf.end;
        event.name = event.type = out.about.names.add(fmt::format("op{}", leaf.operation));
        event.device = out.about.device("cuda:0");
        event.lane = out.about.lane(event.device, 1, 1 + static_cast<std::int64_t>(out.events.size() % 64));
        event.kind = trace::Kind::kernel;
        out.events.push_back(event);
    }
    return out;
}

// Programs whose power follows from what runs, in every combination of sensors, streams, drift, jitter and
// gaps of the sampler: nearly all are fitted whose kinds have watts of their own, and each fit balances.
TEST(Conservation, FitsGiveTheMetersJoulesAndNoOther) {
    Random random(43);
    int fitted = 0, right = 0;
    constexpr int rounds = cases(60);
    for (int round = 0; round < rounds; ++round) {
        Scenario scenario = calm();
        scenario.seed = 100 + static_cast<std::uint64_t>(round);
        scenario.duration = Seconds(random.uniform(3.0, 6.0));
        scenario.kinds = static_cast<int>(random.between(4, 12));
        scenario.per_iteration = static_cast<int>(random.between(20, 60));
        scenario.streams = static_cast<int>(random.between(1, 2));
        scenario.power_jitter = random.chance(0.5) ? 0.03 : 0.0;
        scenario.drift = Watts(random.chance(0.5) ? 10.0 : 0.0);
        scenario.shift = Seconds(random.uniform(-0.003, 0.003));
        if (random.chance(0.3)) {
            scenario.ramp = 0.3;
            scenario.heat = Watts(10);
        }
        const SyntheticProgram program = synthesize(scenario);
        const std::vector<SensorModel> sensors = sensor_models();
        meter::PowerLog log;
        log.series.push_back(measure(program, sensors[random.below(3)], scenario));  // the counters
        std::vector<meter::Reading>& readings = log.series[0].readings;
        if (random.chance(0.3)) {  // the sampler stalls, which leaves a gap
            const auto first = readings.begin() + static_cast<std::ptrdiff_t>(readings.size() / 2);
            const auto last = std::find_if(first, readings.end(), [&](const meter::Reading& reading) {
                return reading.time_ns - first->time_ns > 600 * millisecond;
            });
            readings.erase(first, last);
        }
        const trace::Collected trace = traced(program);
        const auto source = trace::from_memory(trace.about, trace.events);
        const auto got =
            account(*source, log, {.method = Method::deconvolve, .search = {.widest = Seconds(0.006)}});
        ASSERT_TRUE(got.ok()) << got.error().text();
        const Device& device = got->devices[0];
        if (scenario.ramp == 0 && scenario.drift.value == 0) {  // else power follows from more than what runs
            ++right;
            fitted += device.method == "deconvolve" ? 1 : 0;
        }
        double owned = 0.0;
        for (const Operation& operation : got->operations) {
            owned += operation.energy->value.value;
            EXPECT_LE(operation.energy->high, device.meter_total.high) << operation.name;
        }
        EXPECT_NEAR(
            owned + device.idle.value.value + device.unattributed.value.value + device.residual.value.value,
            device.meter_total.value.value, 1e-6)
            << round << " " << device.method;
        for (const Energy* figure : {&device.idle, &device.unattributed, &device.residual}) {
            EXPECT_LE(figure->low, figure->value) << round;
            EXPECT_GE(figure->high, figure->value) << round;
        }
    }
    EXPECT_GE(right, rounds / 4);
    EXPECT_GE(fitted, right * 9 / 10);
}

// An operation that waits for a callee goes on afterwards: that is one instance, by every method.
TEST(Conservation, AFitCountsInstances) {
    Scenario scenario = calm();
    scenario.duration = Seconds(3);
    scenario.streams = 1;
    const SyntheticProgram program = synthesize(scenario);
    trace::Collected trace = traced(program);
    const std::vector<trace::Event> outer = trace.events;
    trace.events.clear();
    trace::InstanceId instance = 0;
    for (trace::Event event : outer) {
        event.lane = outer.front().lane;
        event.instance = ++instance;
        trace.events.push_back(event);
        const Nanoseconds quarter = (event.end - event.start) / 4;
        event.parent = event.instance;
        event.instance = ++instance;
        event.start += quarter;
        event.end -= quarter;
        event.name = event.type =
            trace.about.names.add(std::string(trace.about.names[event.name]) + " inside");
        trace.events.push_back(event);
    }
    meter::PowerLog log;
    log.series.push_back(measure(program, sensor_models()[0], scenario));
    std::map<std::string, std::uint64_t> counts[2];
    for (const Method method : {Method::overlap, Method::deconvolve}) {
        const auto source = trace::from_memory(trace.about, trace.events);
        const auto got = account(*source, log, {.method = method, .search = {.widest = Seconds(0.006)}});
        ASSERT_TRUE(got.ok()) << got.error().text();
        ASSERT_EQ(got->devices[0].method, method == Method::overlap ? "overlap" : "deconvolve")
            << got->devices[0].verdict;
        for (const Operation& operation : got->operations)
            counts[method == Method::overlap ? 0 : 1][operation.name] += operation.count;
    }
    std::uint64_t all = 0;
    for (const auto& [name, count] : counts[0]) all += count;
    EXPECT_EQ(all, 2 * outer.size());
    EXPECT_EQ(counts[0], counts[1]);
}

// A sampler that was starved: what was drawn meanwhile is known, whose it was is not, and that is said.
TEST(Conservation, AStarvedSamplerLeavesItsGapToNobody) {
    meter::PowerLog log;
    log.series.push_back({{"model", "cpu:0", meter::Scope::package, meter::Kind::energy_uj, 0}, {}});
    for (int i = 0; i <= 300; ++i)  // 1.6 W each 10 ms; nothing read from 1.0 to 2.7 s
        if (i <= 100 || i >= 270)
            log.series[0].readings.push_back({first_instant + i * 10 * millisecond, i * 16'000LL, 0});
    trace::Collected trace;
    trace::Event event;
    event.start = first_instant;
    event.end = first_instant + 3000 * millisecond;
    event.name = event.type = trace.about.names.add("step");
    event.device = trace.about.device("cpu:0");
    event.lane = trace.about.lane(event.device, 1, 1);
    trace.events.push_back(event);
    const auto source = trace::from_memory(trace.about, trace.events);
    const auto got = account(*source, log, {.method = Method::overlap});
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_NEAR(got->devices[0].meter_total.value.value, 4.8, 1e-9);
    EXPECT_NEAR(got->devices[0].unattributed.value.value, 1.7 * 1.6, 1e-9);
    EXPECT_NEAR(got->operations[0].energy->value.value, 4.8 - 1.7 * 1.6, 1e-9);
    ASSERT_FALSE(got->warnings.empty());
    EXPECT_NE(got->warnings[0].find("1 gaps between power readings"), std::string::npos);
}

}  // namespace
}  // namespace viridian::account
