#include "viridian/report/pipeline_picture.hpp"

#include "viridian/base/json.hpp"

#include <gtest/gtest.h>

#include "viridian/report/page.hpp"

namespace viridian::report {
namespace {

Json plan() {
    return parse_json(
               R"({"schema": "viridian.pipeline-plan/1", "planner": "exact", "schedule_name": "1f1b", "stages": 1,
        "micro_batches": 1, "time": 3, "energy": 9, "maximum_clocks": {"time": 3, "energy": 10}, "provenance": "estimated:x",
        "certificate": null, "ranks": [], "schedule": [[
            {"stage": 0, "kind": "forward", "micro_batch": 0, "clock_mhz": 705, "start": 0, "duration": 1, "energy": 2, "critical": true},
            {"stage": 0, "kind": "backward", "micro_batch": 0, "clock_mhz": 1380, "start": 1.5, "duration": 1, "energy": 2, "slack": 0.25}
        ]]})",
               "plan")
        .value();
}

std::size_t count(const std::string& text, std::string_view word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
}

TEST(PipelinePicture, DrawsEveryUnitWithItsClockAndTheCriticalOnesFramed) {
    const auto picture = schedule_picture(plan());
    ASSERT_TRUE(picture.ok()) << picture.error().text();
    EXPECT_EQ(count(*picture, "<title>"), 2U);
    EXPECT_NE(picture->find("F0 0.000000-1.000000 s, 705 MHz"), std::string::npos);
    EXPECT_EQ(count(*picture, "class=\"critical\""), 2U);    // the unit and the key
    EXPECT_NE(picture->find("#4575b4"), std::string::npos);  // lowest clock
    EXPECT_NE(picture->find("#d75a46"), std::string::npos);  // highest
}

TEST(PipelinePicture, DrawsTheFrontierAndPlannersBesideIt) {
    Json frontier = plan();
    frontier["frontier"] = parse_json(R"([{"time": 1, "energy": 5}, {"time": 2, "energy": 4}])", "f").value();
    frontier["planners"] = parse_json(R"([{"planner": "<b>envpipe", "time": 1, "energy": 6}])", "f").value();
    const auto picture = frontier_picture(frontier);
    ASSERT_TRUE(picture.ok());
    EXPECT_EQ(count(*picture, "<circle"), 3U);
    EXPECT_EQ(picture->find("<b>"), std::string::npos);
    const auto both = page(frontier);
    ASSERT_TRUE(both.ok());
    EXPECT_NE(both->find("time-energy frontier"), std::string::npos);
    EXPECT_EQ(both->find("https://"), std::string::npos);
}

TEST(PipelinePicture, RefusesWhatIsNoPlan) {
    EXPECT_EQ(schedule_picture(Json::object()).error().code, ErrorCode::malformed);
    EXPECT_EQ(frontier_picture(parse_json(R"({"frontier": [{"time": "x"}]})", "f").value()).error().code,
              ErrorCode::malformed);
    EXPECT_EQ(frontier_picture(parse_json(R"({"frontier": []})", "f").value()).error().code,
              ErrorCode::malformed);
}

}  // namespace
}  // namespace viridian::report
