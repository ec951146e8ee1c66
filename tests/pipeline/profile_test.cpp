#include "viridian/pipeline/profile/profile.hpp"

#include "viridian/base/json.hpp"

#include <gtest/gtest.h>

#include "tests/pipeline/pipelines.hpp"
#include "viridian/pipeline/profile/device_models.hpp"
#include "viridian/pipeline/profile/profile_csv.hpp"
#include "viridian/pipeline/profile/profile_json.hpp"

namespace viridian::pipeline {
namespace {

constexpr std::string_view two_stages =
    "stage,instruction,frequency,time,energy\n"
    "# measured on nothing\n"
    "0,forward,1000,0.02,3\n0,forward,800,0.025,2.5\n0,backward,1000,0.04,6\n"
    "1,forward,1000,0.02,3\r\n1,backward,1000,0.04,6\n";

TEST(Profile, ReadsTheColumnsOfZeusInAnyOrder) {
    const auto profile = read_profile(two_stages, "a.csv");
    ASSERT_TRUE(profile.ok()) << profile.error().text();
    ASSERT_EQ(profile->size(), 2);
    EXPECT_EQ(profile->stages[0].of(Kind::forward)[0], (Point{Hertz(800e6), Seconds(0.025), Joules(2.5)}));
    EXPECT_EQ(profile->provenance.text(), "derived:stage profile a.csv");
    const auto turned = read_profile(
        "energy,time,stage,frequency,instruction\n3,0.02,0,1000,forward\n6,0.04,0,1000,backward\n", "b");
    ASSERT_TRUE(turned.ok());
    EXPECT_EQ(turned->stages[0].of(Kind::backward)[0].energy, Joules(6));
}

TEST(Profile, CsvAndJsonRoundTrip) {
    Profile profile = tests::v100_profile({1, 1.1, 0.9});
    profile.transfer = {Seconds(0.001), Seconds(0.002)};
    profile.stages[1].activation = Bytes(1000);
    profile.switch_latency = Seconds(0.01);
    const auto csv = read_profile(write_profile_csv(profile), "x");
    const auto json = profile_from_json(to_json(profile), "x");
    ASSERT_TRUE(csv.ok() && json.ok());
    for (std::size_t s = 0; s < 3; ++s) {
        EXPECT_EQ(csv->stages[s].points, profile.stages[s].points);
        EXPECT_EQ(json->stages[s].points, profile.stages[s].points);
    }
    EXPECT_EQ(json->transfer, profile.transfer);
    EXPECT_EQ(json->stages[1].activation, Bytes(1000));
    EXPECT_EQ(json->switch_latency, Seconds(0.01));
}

TEST(Profile, MixedGroupWaitsForItsSlowest) {
    StageProfile fast, slow;
    fast.of(Kind::forward) = {{Hertz(1e9), Seconds(1), Joules(100)}};
    fast.wait = Watts(10);
    slow.of(Kind::forward) = {{Hertz(1e9), Seconds(3), Joules(50)}};
    slow.wait = Watts(5);
    const StageProfile members[] = {fast, slow};
    const auto group = share_clock(members);
    ASSERT_TRUE(group.ok());
    EXPECT_EQ(group->of(Kind::forward)[0], (Point{Hertz(1e9), Seconds(3), Joules(100 + 50 + 2 * 10)}));
    EXPECT_EQ(group->wait, Watts(15));
}

TEST(Profile, DeviceModelsHaveTheirValleyWhereTheirSourcesSayIt) {
    const std::pair<const char*, double> valleys[] = {
        {"v100", 945}, {"a100", 1050}, {"rtx3090", 1370}, {"h100", 1320}};
    for (const auto& [name, mhz] : valleys) {
        const auto device = find_device_model(name);
        ASSERT_TRUE(device.ok());
        const auto points = model_points(*device, Seconds(1));
        const auto least = std::ranges::min_element(points, {}, &Point::energy);
        EXPECT_NEAR(least->clock.value / 1e6, mhz, 61) << name;
        EXPECT_NEAR(points.back().time.value, 1, 1e-12);
        EXPECT_FALSE(device->citation.empty());
    }
    EXPECT_EQ(find_device_model("z80").error().code, ErrorCode::invalid_argument);
}

struct Reject {
    std::string_view text, message;
};

TEST(Profile, RejectsWithOneClearSentence) {
    const std::string_view head = "stage,instruction,frequency,time,energy\n";
    const Reject rejects[] = {
        {"", "`p` is empty"},
        {"stage,instruction,frequency,time\n0,forward,1,1\n", "`p` has no column `energy`"},
        {"0,forward,1000,-0.02,3\n0,backward,1000,1,1\n",
         "in `p`: stage 0, forward, 1000 MHz: the time -0.02 s is not a usable duration"},
        {"0,forward,1000,0.02,0\n0,backward,1000,1,1\n",
         "in `p`: stage 0, forward, 1000 MHz: the energy 0 J is not usable"},
        {"0,forward,1000,0.02,3\n0,forward,900,0.01,2\n0,backward,1000,1,1\n",
         "in `p`: stage 0, forward, 1000 MHz: takes 0.02 s, longer than the 0.01 s at the lower clock 900 "
         "MHz"},
        {"0,forward,1000,0.02,3\n0,forward,1000,0.02,3\n0,backward,1000,1,1\n",
         "in `p`: stage 0, forward, 1000 MHz appears twice"},
        {"0,forward,1000,0.02,3\n", "in `p`: stage 0 has no backward rows"},
        {"1,forward,1000,0.02,3\n1,backward,1000,0.02,3\n", "in `p`: stage 0 has no forward rows"},
        {"1000000000,forward,1000,0.02,3\n", "`p`, line 2: `1000000000` is not a usable stage"},
        {"0,sideward,1000,0.02,3\n", "`p`, line 2: unknown instruction `sideward`"},
        {"0,forward,1000,fast,3\n", "`p`, line 2: `fast` is not a number for time"},
        {"0,forward,1000,nan,3\n", "`p`, line 2: `nan` is not a number for time"},
        {"0,forward,1000,0.02\n", "`p`, line 2: 4 cells, but the header has 5"},
        {"0,forward,1000,1e-12,3\n0,backward,1000,1,1\n",
         "in `p`: stage 0, forward, 1000 MHz: the time 1e-12 s is below one nanosecond"},
    };
    for (const auto& [text, message] : rejects) {
        const bool whole = text.empty() || text.starts_with("stage");
        const auto profile =
            read_profile(whole ? std::string(text) : std::string(head) + std::string(text), "p");
        ASSERT_FALSE(profile.ok()) << text;
        EXPECT_EQ(profile.error().message, message);
        EXPECT_FALSE(profile.error().next_step.empty());
    }
    EXPECT_EQ(read_profile("{\"schema\": \"other\"}", "p").error().code, ErrorCode::mismatch);
    EXPECT_EQ(read_profile("{\"schema\": \"viridian.stage-profile/1\", \"stages\": 3}", "p").error().message,
              "`p`: `stages` is missing");
}

}  // namespace
}  // namespace viridian::pipeline
