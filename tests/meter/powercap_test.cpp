#include <gtest/gtest.h>

#include "tests/meter/fake_tree.hpp"
#include "viridian/meter/measure.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::meter {
namespace {

// Two sockets; the second one's children come in another order than the first's, as on real machines.
void two_sockets(const tests::FakeTree& tree) {
    tree.zone("intel-rapl:0", "package-0", 1000, 262143328850);
    tree.zone("intel-rapl:0:0", "core", 400, 262143328850);
    tree.zone("intel-rapl:0:1", "dram", 300, 65712999613);
    tree.zone("intel-rapl:1", "package-1", 2000, 262143328850);
    tree.zone("intel-rapl:1:0", "dram", 500, 65712999613);
    tree.zone("intel-rapl:2", "psys", 9000, 262143328850);
    tree.zone("intel-rapl-mmio:0", "package-0", 1000, 262143328850);
    tree.write("sys/class/powercap/intel-rapl/enabled", "1\n");
}

TEST(Powercap, KnowsZonesByNameAndCountsNothingTwice) {
    const tests::FakeTree tree;
    two_sockets(tree);
    const Result<Meter> meter = open("powercap", {.root = tree.root()});
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    ASSERT_EQ(meter->channels.size(), 6U);
    std::int64_t total = 0;
    std::vector<Sample> samples;
    ASSERT_TRUE(meter->read(samples).ok());
    for (const std::uint32_t channel : counted(meter->channels)) total += samples[channel].value;
    EXPECT_EQ(total, 1000 + 300 + 2000 + 500);
    for (const Channel& channel : meter->channels)
        if (channel.scope == Scope::dram) {
            EXPECT_EQ(channel.wrap_uj, 65712999613);
        }
}

TEST(Powercap, PsysCountsOnlyWithoutPackages) {
    const tests::FakeTree tree;
    tree.zone("intel-rapl:0", "psys", 9000, 100000);
    const Result<Meter> meter = open("powercap", {.root = tree.root()});
    ASSERT_TRUE(meter.ok());
    EXPECT_EQ(counted(meter->channels).size(), 1U);
}

TEST(Powercap, DiesOfOnePackageAddUp) {
    const tests::FakeTree tree;
    tree.zone("intel-rapl:0", "package-0-die-0", 10, 100000);
    tree.zone("intel-rapl:1", "package-0-die-1", 20, 100000);
    const Result<Meter> meter = open("powercap", {.root = tree.root()});
    ASSERT_TRUE(meter.ok());
    EXPECT_EQ(meter->channels[0].device, "cpu:0");
    EXPECT_EQ(meter->channels[1].device, "cpu:0");
    EXPECT_NE(meter->channels[0].meter, meter->channels[1].meter);
    EXPECT_EQ(counted(meter->channels).size(), 2U);
}

TEST(Powercap, NoZonesIsAnErrorNeverZero) {
    const tests::FakeTree tree;
    const Result<Meter> meter = open("powercap", {.root = tree.root()});
    ASSERT_FALSE(meter.ok());
    EXPECT_EQ(meter.error().code, ErrorCode::no_device);
    EXPECT_FALSE(probe("powercap", {.root = tree.root()})->works);
}

TEST(Powercap, ForbiddenFilesNameTheCommand) {
    if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
    const tests::FakeTree tree;
    two_sockets(tree);
    std::filesystem::permissions(tree.root() / "sys/class/powercap/intel-rapl:0/energy_uj",
                                 std::filesystem::perms::none);
    const Diagnosis diagnosis = *probe("powercap", {.root = tree.root()});
    EXPECT_FALSE(diagnosis.works);
    EXPECT_NE(diagnosis.next_step.find("chmod"), std::string::npos);
}

TEST(Powercap, MeasuresAcrossTheWrap) {
    const tests::FakeTree tree;
    tree.zone("intel-rapl:0", "package-0", 999'000, 1'000'000);
    const Result<Meter> meter = open("powercap", {.root = tree.root()});
    ASSERT_TRUE(meter.ok());
    const auto result = measure(*meter, [&] { tree.zone("intel-rapl:0", "package-0", 500, 1'000'000); });
    ASSERT_TRUE(result.ok()) << result.error().text();
    EXPECT_DOUBLE_EQ(result->energy.value.value, 0.0015);
    EXPECT_EQ(result->energy.provenance.text(), "measured:powercap");
}

TEST(Powercap, ACounterResetMeanwhileIsAnErrorNotAWrap) {
    const tests::FakeTree tree;
    tree.zone("intel-rapl:0", "package-0", 100'000'000'000, 262'143'328'850);
    const Result<Meter> meter = open("powercap", {.root = tree.root()});
    ASSERT_TRUE(meter.ok());
    const auto result =
        measure(*meter, [&] { tree.zone("intel-rapl:0", "package-0", 500, 262'143'328'850); });
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.error().message.find("reset"), std::string::npos);
}

TEST(Powercap, ACounterThatStandsStillIsAnError) {
    const tests::FakeTree tree;
    tree.zone("intel-rapl:0", "package-0", 5, 1'000'000);
    const Result<Meter> meter = open("powercap", {.root = tree.root()});
    ASSERT_TRUE(meter.ok());
    EXPECT_FALSE(measure(*meter, [] {}).ok());
}

TEST(Powercap, AVanishedZoneIsAnErrorAndTheOthersStillAnswer) {
    const tests::FakeTree tree;
    two_sockets(tree);
    const Result<Meter> meter = open("powercap", {.root = tree.root()});
    ASSERT_TRUE(meter.ok());
    tree.zone("intel-rapl:1", "package-1", -1, 1);
    tree.write("sys/class/powercap/intel-rapl:1/energy_uj", "");
    std::vector<Sample> samples;
    const Result<void> read = meter->read(samples);
    EXPECT_FALSE(read.ok());
    EXPECT_EQ(samples.size(), 5U);
}

}  // namespace
}  // namespace viridian::meter
