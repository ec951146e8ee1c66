#include "viridian/account/account.hpp"

#include "viridian/base/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "viridian/account/products/compare.hpp"
#include "viridian/base/random.hpp"

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
    EXPECT_NEAR(got->devices[0].unattributed.value, 90.0, 1e-9);
    EXPECT_NEAR(got->devices[0].meter_total.value, 100.0, 1e-9);
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
        double sum = got->devices[0].idle.value + got->devices[0].unattributed.value;
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
