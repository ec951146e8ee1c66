#include "viridian/account/account.hpp"

#include "viridian/base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "viridian/account/products/compare.hpp"
#include "viridian/base/random.hpp"
#include "viridian/trace/join/merge.hpp"

namespace viridian::account {
namespace {

constexpr Nanoseconds origin = 1'700'000'000'000'000'000;

// 100 W on cpu:0, a reading each millisecond for a second.
meter::PowerLog steady(std::string device = "cpu:0") {
    meter::PowerLog log;
    log.series.push_back(
        {{"powercap", std::move(device), meter::Scope::package, meter::Kind::energy_uj, 0}, {}});
    for (int i = 0; i <= 1000; ++i)
        log.series[0].readings.push_back({origin + i * 1'000'000LL, i * 100'000LL, 0});
    return log;
}

struct Maker {
    trace::Trace about;
    std::vector<trace::Event> events;
    void add(const char* name, std::int64_t thread, double start_ms, double end_ms,
             trace::Kind kind = trace::Kind::operation, trace::Pass pass = trace::Pass::unknown) {
        trace::Event event;
        event.start = origin + std::llround(start_ms * 1e6);
        event.end = origin + std::llround(end_ms * 1e6);
        event.name = about.names.add(name);
        event.device = about.device("cpu:0");
        event.lane = about.lane(event.device, 1, thread);
        event.kind = kind;
        event.pass = pass;
        events.push_back(event);
    }
    Result<Accounting> run(const meter::PowerLog& log, const Options& options = {}) {
        const auto source = trace::from_memory(about, events);
        return account(*source, log, options);
    }
};

double energy_of(const Accounting& accounting, std::string_view name) {
    double sum = 0.0;
    for (const Operation& operation : accounting.operations)
        if (operation.name == name) sum += operation.energy->value.value;
    return sum;
}

TEST(Account, CalleesAreChargedAndCallersPayTheirOwnTime) {
    Maker maker;
    maker.add("linear", 1, 100, 200);
    maker.add("addmm", 1, 120, 150);
    maker.add("launch", 1, 160, 170, trace::Kind::launch);  // transparent: linear's own time
    const auto got = maker.run(steady(), {.method = Method::overlap});
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_NEAR(energy_of(*got, "linear"), 7.0, 1e-9);
    EXPECT_NEAR(energy_of(*got, "linear/addmm"), 3.0, 1e-9);
    EXPECT_NEAR(got->devices[0].unattributed.value.value, 90.0, 1e-9);
    EXPECT_NEAR(got->devices[0].meter_total.value.value, 100.0, 1e-9);
}

// Two processes on one device: while both work its power is shared, and the meter is counted once.
TEST(Account, ProcessesShareThePowerOfTheirMachine) {
    Maker first, second;
    for (Maker* maker : {&first, &second}) {
        maker->add("Net", 1, 100, 200, trace::Kind::module);
        maker->add("linear", 1, 100, 200);
    }
    first.add("alone", 1, 300, 400);
    std::vector<trace::Part> parts;
    parts.push_back({"rank 0", trace::from_memory(first.about, first.events)});
    parts.push_back({"rank 1", trace::from_memory(second.about, second.events)});
    const auto source = trace::merged(std::move(parts));
    const auto got = account(*source, steady(), {.method = Method::overlap});
    ASSERT_TRUE(got.ok()) << got.error().text();
    std::map<std::string, double> joules;
    for (const Operation& operation : got->operations)
        joules[operation.process + " " + operation.name] = operation.energy->value.value;
    ASSERT_EQ(joules.size(), 3U);
    EXPECT_NEAR(joules["rank 0 Net/linear"], 5.0, 1e-9);
    EXPECT_NEAR(joules["rank 1 Net/linear"], 5.0, 1e-9);
    EXPECT_NEAR(joules["rank 0 alone"], 10.0, 1e-9);
    ASSERT_EQ(got->devices.size(), 1U);
    EXPECT_NEAR(got->devices[0].meter_total.value.value, 100.0, 1e-9);
    const auto sums = joules_by_process(*got);
    ASSERT_EQ(sums.size(), 2U);
    EXPECT_NEAR(sums[0].value, 15.0, 1e-9);
    EXPECT_NEAR(sums[1].value, 5.0, 1e-9);
    ASSERT_EQ(got->modules.size(), 2U);
    EXPECT_EQ(got->modules[1].process, "rank 1");
}

// FLATTEN of SMARAGDINE's Algorithm 2 takes every event, and BUILDTEFOOTPRINT gives each name of a tick an
// equal part. By hand, with ticks of 1 us, both ends included, and a counter that says 100 W until 102 ms and
// 200 W from then on, which is read at 103 ms for the first time:
//   outer alone    100.000 to 100.999 ms   1000 ticks at 100 W    100    mJ
//   both           101.000 to 102.000 ms   1001 ticks at 100 W    100.1  mJ, halved
//   outer alone    102.001 to 102.999 ms    999 ticks at 100 W     99.9  mJ
//   outer alone    103.000 to 104.000 ms   1001 ticks at 200 W    200.2  mJ
// outer 100 + 50.05 + 99.9 + 200.2 = 450.15 mJ, inner 50.05 mJ: each tick is given once. The meter says 200
// mJ for the first two milliseconds and 400.2 mJ for the others and the last tick: 100 mJ more than was
// given.
TEST(Account, RecencyFollowsThePapersAlgorithmForNestedEvents) {
    meter::PowerLog log;
    log.series.push_back({{"powercap", "cpu:0", meter::Scope::package, meter::Kind::energy_uj, 0}, {}});
    for (int i = 0; i <= 200; ++i)
        log.series[0].readings.push_back(
            {origin + i * 1'000'000LL, i * 100'000LL + std::max(0, i - 102) * 100'000LL, 0});
    Maker maker;
    maker.add("outer", 1, 100, 104);
    maker.add("inner", 1, 101, 102);
    maker.add("launch", 1, 102, 103, trace::Kind::launch);  // is no operation of the paper
    const auto got = maker.run(log, {.method = Method::recency});
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_NEAR(energy_of(*got, "outer"), 0.45015, 1e-9);
    EXPECT_NEAR(energy_of(*got, "outer/inner"), 0.05005, 1e-9);
    EXPECT_NEAR(got->operations[0].seconds.value, 0.004, 1e-12);
    EXPECT_NEAR(got->devices[0].residual.value.value, 0.1, 1e-9);
    EXPECT_NEAR(got->devices[0].unattributed.value.value, got->devices[0].meter_total.value.value - 0.6002,
                1e-9);
    EXPECT_EQ(got->devices[0].idle.value.value, 0.0);
    EXPECT_EQ(got->devices[0].method, "recency");

    // The leaves alone: the callee is not shared, its caller loses the ticks that both ends count twice.
    const auto leaves = maker.run(log, {.method = Method::recency_leaves});
    ASSERT_TRUE(leaves.ok()) << leaves.error().text();
    EXPECT_NEAR(energy_of(*leaves, "outer/inner"), 0.1001 - 0.5 * 0.0002, 1e-9);
    EXPECT_NEAR(energy_of(*leaves, "outer"), 0.4001 + 0.5 * 0.0002, 1e-9);
    EXPECT_EQ(leaves->devices[0].method, "recency-leaves");
}

TEST(Account, FiguresOfADeviceHaveIntervals) {
    Maker maker;
    maker.add("a", 1, 100.5, 101.5);
    maker.add("a", 1, 110.5, 111.5);
    meter::PowerLog log = steady();
    const auto measured = maker.run(log, {.method = Method::overlap});
    ASSERT_TRUE(measured.ok()) << measured.error().text();
    const Device& exact = measured->devices[0];
    EXPECT_NEAR(exact.idle.value.value, 0.9, 1e-9);  // 101.5 to 110.5 ms at 100 W
    EXPECT_NEAR(exact.idle.low.value, 0.8, 1e-9);    // 102 to 110 ms
    EXPECT_NEAR(exact.idle.high.value, 1.0, 1e-9);   // 101 to 111 ms
    EXPECT_NEAR(exact.unattributed.value.value, 98.9, 1e-9);
    EXPECT_NEAR(exact.unattributed.low.value, 98.8, 1e-9);
    EXPECT_NEAR(exact.unattributed.high.value, 99.0, 1e-9);
    EXPECT_EQ(exact.residual.low.value, 0.0);
    EXPECT_EQ(exact.residual.high.value, 0.0);
    EXPECT_NEAR(exact.meter_total.low.value, 99.999999, 1e-12);  // a log has whole microjoules
    EXPECT_NEAR(exact.meter_total.high.value, 100.000001, 1e-12);
    EXPECT_EQ(exact.idle.provenance.text(), "derived:overlap from measured:powercap package");
    EXPECT_EQ(exact.meter_total.provenance.text(), "measured:powercap package");

    log.series[0].channel.meter = "model";  // an estimate may be off by a factor of two
    const auto estimated = maker.run(log, {.method = Method::overlap});
    ASSERT_TRUE(estimated.ok()) << estimated.error().text();
    const Device& model = estimated->devices[0];
    EXPECT_NEAR(model.idle.low.value, 0.4, 1e-9);
    EXPECT_NEAR(model.idle.high.value, 2.0, 1e-9);
    EXPECT_NEAR(model.meter_total.high.value, 200.0, 1e-4);
    EXPECT_EQ(model.unattributed.provenance.text(), "estimated:overlap from estimated:model package");
}

TEST(Account, ConcurrentThreadsShareEquallyOrByWeight) {
    Maker maker;
    maker.add("a", 1, 100, 200);
    maker.add("b", 2, 100, 200);
    const auto equal = maker.run(steady(), {.method = Method::overlap});
    ASSERT_TRUE(equal.ok());
    EXPECT_NEAR(energy_of(*equal, "a"), 5.0, 1e-9);
    Options options{.method = Method::overlap};
    options.weights = {{"a", 3}};
    const auto weighted = maker.run(steady(), options);
    ASSERT_TRUE(weighted.ok());
    EXPECT_NEAR(energy_of(*weighted, "a"), 7.5, 1e-9);
    EXPECT_THAT(weighted->sharing, testing::HasSubstr("weighted"));
}

TEST(Account, RandomNestedTracesConserveTheMeter) {
    Random random(5);
    for (int round = 0; round < 40; ++round) {
        Maker maker;
        for (int i = 0; i < 200; ++i) {
            const double start = random.uniform(-50, 1000),
                         length = random.chance(0.1) ? 200.0 : random.uniform(0, 20);
            maker.add(random.chance(0.5) ? "x" : "y", static_cast<std::int64_t>(random.below(3)), start,
                      start + length, random.chance(0.2) ? trace::Kind::scope : trace::Kind::operation);
        }
        const auto got =
            maker.run(steady(), {.method = Method::overlap});  // its own invariant checks the books
        ASSERT_TRUE(got.ok()) << got.error().text();
        double sum = got->devices[0].idle.value.value + got->devices[0].unattributed.value.value;
        for (const Operation& operation : got->operations) sum += operation.energy->value.value;
        EXPECT_NEAR(sum, 100.0, 1e-6);
    }
}

TEST(Account, OtherProcessesAreTakenOffFirst) {
    meter::PowerLog log = steady();
    log.series.push_back({{"process", "cpu:0", meter::Scope::process, meter::Kind::busy_ticks, 0}, {}});
    log.series.push_back({{"process", "cpu:0", meter::Scope::package, meter::Kind::busy_ticks, 0}, {}});
    for (int i = 0; i <= 10; ++i) {
        log.series[1].readings.push_back({origin + i * 100'000'000LL, i * 3, 0});
        log.series[2].readings.push_back({origin + i * 100'000'000LL, i * 10, 0});
    }
    Maker maker;
    maker.add("a", 1, 0, 1000);
    const auto got = maker.run(log, {.method = Method::overlap});
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_NEAR(energy_of(*got, "a"), 30.0, 1e-6);
    EXPECT_NEAR(got->devices[0].others.value, 70.0, 1e-6);
}

// Ticks are 10 ms: a short trace beside busy processes may have none of its own.
TEST(Account, OtherProcessesMayHaveAllOfTheEnergy) {
    meter::PowerLog log = steady();
    log.series.push_back({{"process", "cpu:0", meter::Scope::process, meter::Kind::busy_ticks, 0}, {}});
    log.series.push_back({{"process", "cpu:0", meter::Scope::package, meter::Kind::busy_ticks, 0}, {}});
    for (int i = 0; i <= 10; ++i) {
        log.series[1].readings.push_back({origin + i * 100'000'000LL, 0, 0});
        log.series[2].readings.push_back({origin + i * 100'000'000LL, i * 10, 0});
    }
    Maker maker;
    maker.add("a", 1, 0, 1000);
    const auto got = maker.run(log, {.method = Method::overlap});
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_EQ(energy_of(*got, "a"), 0);
    EXPECT_THAT(got->warnings,
                testing::Contains(testing::HasSubstr("other processes had all of the energy")));
    Maker later;
    later.add("a", 1, 5000, 6000);
    EXPECT_EQ(later.run(log, {.method = Method::overlap}).error().code, ErrorCode::mismatch);
}

TEST(Account, ThreadsThatMigrateAreChargedWhereTheyRan) {
    meter::PowerLog log = steady();
    log.series.push_back(steady("cpu:1").series[0]);
    for (meter::Reading& reading : log.series[1].readings) reading.value *= 2;  // 200 W
    log.metadata = {"cpu_package 0 0", "cpu_package 8 1"};
    log.series.push_back({{"process", "tid:7", meter::Scope::process, meter::Kind::thread_cpu, 0}, {}});
    log.series[2].readings = {{origin, 0, 0}, {origin + 500'000'000, 8, 0}};
    Maker maker;
    maker.add("early", 7, 100, 200);
    maker.add("late", 7, 600, 700);
    const auto got = maker.run(log, {.method = Method::overlap});
    ASSERT_TRUE(got.ok()) << got.error().text();
    EXPECT_NEAR(energy_of(*got, "early"), 10.0, 1e-9);
    EXPECT_NEAR(energy_of(*got, "late"), 20.0, 1e-9);
}

TEST(Account, NoMeterAndNoCommonTimeAreErrorsNotZeroes) {
    Maker maker;
    maker.add("a", 1, 0, 10);
    const auto unmetered = maker.run(steady("cuda:0"));
    ASSERT_FALSE(unmetered.ok());
    EXPECT_THAT(unmetered.error().message, testing::HasSubstr("measures cuda:0 but the trace ran on cpu:0"));
    Maker later;
    later.add("a", 1, 5000, 6000);
    EXPECT_EQ(later.run(steady()).error().code, ErrorCode::mismatch);
}

TEST(Account, ResultsSurviveJson) {
    Maker maker;
    maker.add("a", 1, 0, 10, trace::Kind::operation, trace::Pass::backward);
    const auto got = maker.run(steady());
    ASSERT_TRUE(got.ok());
    const Json json = to_json(*got);
    const auto again = accounting_from_json(json, "result");
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(to_json(*again), json);
    EXPECT_THAT(json["operations"][0]["joules"]["provenance"].get<std::string>(),
                testing::HasSubstr("from measured:powercap"));
    for (const char* figure : {"idle", "unattributed", "residual", "meter_total"})
        for (const char* key : {"value", "low", "high", "provenance"})
            EXPECT_TRUE(json["devices"][0][figure].contains(key)) << figure << " " << key;
    EXPECT_FALSE(accounting_from_json(Json::object(), "x").ok());
    EXPECT_FALSE(accounting_from_json(Json{{"schema", 1560}}, "x").ok());
    Json broken = json;
    broken["operations"][0].erase("count");
    EXPECT_FALSE(accounting_from_json(broken, "x").ok());
}

Accounting made(const std::vector<std::pair<std::string, double>>& energies) {
    Accounting out;
    for (const auto& [name, energy] : energies) {
        Operation operation;
        operation.name = name;
        operation.seconds = Seconds(1);
        operation.energy = Energy{Joules(energy), Joules(energy), Joules(energy), {}};
        out.operations.push_back(operation);
    }
    return out;
}

TEST(Footprint, FoldsThePapersExampleAndAnyRepeatedBlock) {
    const auto summary = summarized_footprint(made({{"bert/encoder/layer_0/output/dense/MatMul", 5},
                                                    {"bert/encoder/layer_1/output/dense/MatMul", 3},
                                                    {"resnet/block1/conv/Conv_1", 2},
                                                    {"resnet/block2/conv/Conv_1", 2},
                                                    {"resnet/block2/conv/Conv_2", 1},
                                                    {"resnet/stem7/conv", 1}}));
    EXPECT_EQ(summary[0].name, "bert/encoder/transformer/output/dense/MatMul");
    EXPECT_DOUBLE_EQ(summary[0].energy.value, 8);
    EXPECT_EQ(summary[1].name, "resnet/block*/conv/Conv_1");
    EXPECT_DOUBLE_EQ(summary[1].energy.value, 4);
    EXPECT_TRUE(std::any_of(summary.begin(), summary.end(),
                            [](const FootprintRow& entry) { return entry.name == "resnet/stem7/conv"; }));
}

TEST(Footprint, DiagramSharesAddUpToOneOnEveryLevel) {
    const auto boxes = diagram(made({{"a/b/x", 1}, {"a/b/y", 2}, {"a/c", 3}, {"d", 4}}));
    std::map<std::string, double> sums;
    for (const Box& box : boxes) sums[box.parent] += box.share;
    for (const auto& [parent, sum] : sums) EXPECT_NEAR(sum, 1.0, 1e-12) << parent;
}

TEST(Compare, CorrelationAndMeanDifferenceAreThePapers) {
    const auto first = tensor_footprint(made({{"x", 1}, {"y", 2}, {"z", 3}}));
    const auto second = tensor_footprint(made({{"x", 3}, {"y", 5}, {"z", 7}}));
    const Comparison got = compare(first, second);
    EXPECT_NEAR(got.energy_correlation, 1.0, 1e-12);
    EXPECT_NEAR(got.energy_difference.value, 3.0, 1e-12);
    EXPECT_EQ(got.changes[0].name, "z");
}

}  // namespace
}  // namespace viridian::account
