#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/meter/fake_tree.hpp"
#include "tests/support/paths.hpp"
#include "viridian/meter/measure.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::meter {
namespace {

using testing::HasSubstr;

MeterPaths scripted_amdsmi(const char* script) {
    ::setenv("VIRIDIAN_FAKE_AMDSMI", script, 1);
    MeterPaths paths;
    paths.of["amdsmi"] = (viridian::tests::binary_folder() / "libviridian_fake_amdsmi.so").string();
    return paths;
}

TEST(AmdSmi, EveryGpuWithACounterInMicrojoules) {
    const MeterPaths paths = scripted_amdsmi("");
    const auto meter = open("amdsmi", paths);
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    ASSERT_EQ(meter->channels.size(), 2U);  // not the CPU, not the GPU without a counter
    EXPECT_EQ(meter->channels[1].device, "cuda:1");
    EXPECT_EQ(meter->channels[1].provenance().text(), "measured:amdsmi");
    std::vector<Sample> samples;
    ASSERT_TRUE(meter->read(samples).ok());
    ASSERT_TRUE(meter->read(samples).ok());
    ASSERT_EQ(samples.size(), 4U);
    EXPECT_NEAR(static_cast<double>(samples[2].value - samples[0].value), 65536 * 15.259, 2.0);
    const Diagnosis diagnosis = *probe("amdsmi", paths);
    EXPECT_TRUE(diagnosis.works);
    ASSERT_EQ(diagnosis.details.size(), 3U);
    EXPECT_EQ(diagnosis.details[0], "cuda:0 AMD Instinct MI300X");
    EXPECT_THAT(diagnosis.details[2], HasSubstr("cuda:2 gives no energy"));
}

TEST(AmdSmi, WhatIsMissingIsSaid) {
    MeterPaths nowhere;
    nowhere.of["amdsmi"] = "libnobody_has_this.so";
    EXPECT_EQ(open("amdsmi", nowhere).error().code, ErrorCode::no_device);
    MeterPaths other;
    other.of["amdsmi"] = (viridian::tests::binary_folder() / "libviridian_fake_nvml.so").string();
    EXPECT_THAT(open("amdsmi", other).error().message, HasSubstr("not an AMD SMI library"));
    const auto refused = [](const char* script, ErrorCode code, const char* words) {
        const auto meter = open("amdsmi", scripted_amdsmi(script));
        ASSERT_FALSE(meter.ok()) << script;
        EXPECT_EQ(meter.error().code, code) << script;
        EXPECT_THAT(meter.error().message, HasSubstr(words)) << script;
        EXPECT_FALSE(probe("amdsmi", scripted_amdsmi(script))->works);
    };
    refused("no_init", ErrorCode::no_device, "does not start");
    refused("init_denied", ErrorCode::no_permission, "Permission Denied");
    refused("no_sockets", ErrorCode::no_device, "lists no socket");
    refused("cpu_only", ErrorCode::no_device, "knows no GPU");
    refused("denied", ErrorCode::unsupported, "Permission Denied");
    refused("no_counter", ErrorCode::unsupported, "Feature not supported");
    refused("zero_resolution", ErrorCode::unsupported, "cannot be");
}

TEST(AmdSmi, AGpuThatVanishesLeavesTheOthersAndACounterThatStandsIsAnError) {
    const auto meter = open("amdsmi", scripted_amdsmi("vanish"));
    ASSERT_TRUE(meter.ok());
    std::vector<Sample> samples;
    Result<void> result;
    for (int i = 0; i < 8 && result.ok(); ++i) {
        samples.clear();
        result = meter->read(samples);
    }
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(result.error().message, HasSubstr("cuda:0"));
    ASSERT_EQ(samples.size(), 1U);
    EXPECT_EQ(samples[0].channel, 1U);
    const auto frozen = open("amdsmi", scripted_amdsmi("frozen"));
    ASSERT_TRUE(frozen.ok());
    EXPECT_THAT(measure(*frozen, [] {}).error().message, HasSubstr("did not move"));
}

TEST(AmdSmi, TheSameGpuIsNotCountedTwiceThroughHwmon) {
    const tests::FakeTree tree;
    tree.write("sys/class/hwmon/hwmon0/name", "amdgpu\n");
    tree.write("sys/class/hwmon/hwmon0/power1_average", "45000000\n");
    tree.write("sys/class/hwmon/hwmon1/name", "xe\n");
    tree.write("sys/class/hwmon/hwmon1/energy1_input", "1\n");
    MeterPaths paths = scripted_amdsmi("");
    paths.root = tree.root();
    const auto names = [&] {
        std::vector<std::string> out;
        const auto meters = open_all(paths);
        if (meters.ok())
            for (const Meter& meter : *meters)
                for (const Channel& channel : meter.channels)
                    if (channel.scope == Scope::gpu) out.push_back(channel.meter);
        return out;
    };
    EXPECT_THAT(names(), testing::ElementsAre("amdsmi", "amdsmi", "hwmon-xe"));
    paths.of["amdsmi"] = "libnobody_has_this.so";
    EXPECT_THAT(names(), testing::ElementsAre("hwmon-amdgpu", "hwmon-xe"));
}

}  // namespace
}  // namespace viridian::meter
