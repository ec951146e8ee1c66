#include "viridian/meter/meters/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "tests/support/paths.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::meter {
namespace {

using testing::HasSubstr;

MeterPaths scripted_nvml(const char* script) {
    ::setenv("VIRIDIAN_FAKE_NVML", script, 1);
    MeterPaths paths;
    paths.of["nvml"] = (viridian::tests::binary_folder() / "libviridian_fake_nvml.so").string();
    return paths;
}

TEST(Nvml, TwoGpusEachWithCounterAverageAndInstant) {
    const auto meter = open_nvml(scripted_nvml("gpus=2"));
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    ASSERT_EQ(meter->channels.size(), 6U);
    EXPECT_EQ(meter->channels[3].device, "cuda:1");
    EXPECT_EQ(counted(meter->channels), (std::vector<std::uint32_t>{0, 3}));  // the counter counts
    std::vector<Sample> samples;
    ASSERT_TRUE(meter->read(samples).ok());
    EXPECT_EQ(samples[1].value, 200'000'000);
    EXPECT_EQ(samples[1].window_ns, 1'000'000'000);
    EXPECT_EQ(samples[1].time_ns % 100'000'000, 0);  // the driver's stamp, not ours
}

TEST(Nvml, TheSameStampAgainIsNoNewReading) {
    const auto meter = open_nvml(scripted_nvml("no_energy period_us=3600000000"));
    ASSERT_TRUE(meter.ok());
    std::vector<Sample> samples;
    ASSERT_TRUE(meter->read(samples).ok());
    ASSERT_TRUE(meter->read(samples).ok());
    EXPECT_EQ(samples.size(), 2U);
}

TEST(Nvml, OldDriversFallBackToPowerUsage) {
    const auto meter = open_nvml(scripted_nvml("no_energy no_fields"));
    ASSERT_TRUE(meter.ok());
    ASSERT_EQ(meter->channels.size(), 1U);
    EXPECT_EQ(meter->channels[0].kind, Kind::power_uw);
}

TEST(Nvml, TheDriversBufferGivesEverySampleOnce) {
    const auto meter =
        open_nvml(scripted_nvml("no_energy no_fields samples=400"));  // more than one call's room
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    ASSERT_EQ(meter->channels.size(), 1U);  // instead of power usage
    EXPECT_EQ(meter->channels[0].kind, Kind::power_uw);
    std::vector<Sample> samples;
    ASSERT_TRUE(meter->read(samples).ok());
    EXPECT_EQ(samples.size(), 400U);
    std::this_thread::sleep_for(std::chrono::milliseconds(70));  // the buffer goes on
    ASSERT_TRUE(meter->read(samples).ok());
    EXPECT_GE(samples.size(), 403U);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        EXPECT_EQ(samples[i].value, 230'000'000 + samples[i].time_ns / 20'000'000 % 1000 * 1000);
        if (i > 0) {
            EXPECT_EQ(samples[i].time_ns - samples[i - 1].time_ns, 20'000'000);
        }
    }
    const auto counter = open_nvml(scripted_nvml("samples=100"));
    ASSERT_TRUE(counter.ok());
    EXPECT_EQ(counter->channels.size(), 3U);  // it repeats what the fields say
    EXPECT_THAT(probe_nvml(scripted_nvml("samples=100")).details.front(), HasSubstr("buffer"));
    const auto vanishing = open_nvml(scripted_nvml("no_energy no_fields samples=100 vanish=15"));
    ASSERT_TRUE(vanishing.ok());
    Result<void> read;
    for (int i = 0; i < 20 && read.ok(); ++i) read = vanishing->read(samples);
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.error().message, HasSubstr("GPU is lost"));
}

TEST(Nvml, ScopesAreToldApart) {
    const MeterPaths paths = scripted_nvml("module memory gpus=1");
    const auto meter = open_nvml(paths);
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    EXPECT_EQ(meter->channels.size(), 9U);  // counter, average, instant of GPU, module, memory
    EXPECT_EQ(counted(meter->channels), (std::vector<std::uint32_t>{0}));
    const Diagnosis diagnosis = probe_nvml(paths);
    ASSERT_EQ(diagnosis.details.size(), 1U);
    EXPECT_EQ(diagnosis.details.front(),
              "cuda:0 Simulated GPU; gpu: energy, average, instant, usage; module: energy, average, instant; "
              "memory: energy, average, instant");
    const auto fields = open_nvml_fields(paths);
    ASSERT_TRUE(fields.ok());
    EXPECT_EQ(fields->size(), 10U);
    EXPECT_EQ((*fields)[3].name, "nvml:usage");
}

TEST(Nvml, MisbehaviourIsNamed) {
    EXPECT_EQ(open_nvml(scripted_nvml("no_energy no_fields no_power")).error().code, ErrorCode::unsupported);
    const auto forbidden = open_nvml(scripted_nvml("no_permission"));
    EXPECT_EQ(forbidden.error().code, ErrorCode::no_permission);
    EXPECT_THAT(forbidden.error().next_step, HasSubstr("usermod"));
    EXPECT_EQ(open_nvml(scripted_nvml("gpus=0")).error().code, ErrorCode::no_device);
    MeterPaths nowhere;
    nowhere.of["nvml"] = "libno-such-nvml.so";
    EXPECT_EQ(open_nvml(nowhere).error().code, ErrorCode::no_device);
    EXPECT_THAT(probe_nvml(scripted_nvml("mig")).details.front(), HasSubstr("MIG"));
}

TEST(Nvml, AGpuThatVanishesIsAnErrorAndTheOtherStillAnswers) {
    const auto meter = open_nvml(scripted_nvml("gpus=2 vanish=5"));
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    std::vector<Sample> samples;
    Result<void> read;
    for (int i = 0; i < 4 && read.ok(); ++i) {
        samples.clear();
        read = meter->read(samples);
    }
    ASSERT_FALSE(read.ok());
    EXPECT_THAT(read.error().message, HasSubstr("cuda:0 stopped answering: GPU is lost"));
    EXPECT_TRUE(std::any_of(samples.begin(), samples.end(),
                            [](const Sample& sample) { return sample.channel == 3; }));
}

}  // namespace
}  // namespace viridian::meter
