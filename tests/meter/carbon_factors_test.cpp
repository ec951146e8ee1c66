#include "viridian/meter/carbon/carbon_factors.hpp"

#include <gmock/gmock.h>

namespace viridian::meter {
namespace {

using testing::HasSubstr;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t noon = 1'795'521'600 * second;  // 2026-11-24 12:00:00 UTC
constexpr std::int64_t hour = 3600 * second;
const std::string header = "time,gco2e_per_kwh,source\n";

std::string refused(const std::string& text) {
    const auto factors = CarbonFactors::parse(text, "grid.csv");
    EXPECT_FALSE(factors.ok()) << text;
    return factors.ok() ? "" : factors.error().text();
}

TEST(CarbonFactors, AConstantHoldsAlways) {
    const auto factors =
        CarbonFactors::parse("# of our contract\n" + header + ",360,contract of 2026\n", "grid.csv");
    ASSERT_TRUE(factors.ok()) << factors.error().text();
    EXPECT_EQ(factors->pue(), 1.0);
    for (const std::int64_t time : {std::int64_t{0}, noon, 2 * noon}) {
        ASSERT_NE(factors->at(time), nullptr);
        EXPECT_DOUBLE_EQ(factors->at(time)->grams_per_joule, 1e-4);
        EXPECT_EQ(factors->at(time)->source, "contract of 2026");
    }
}

TEST(CarbonFactors, ARowHoldsUntilTheNextAndTheLastAsLongAsTheOneBefore) {
    const auto factors =
        CarbonFactors::parse("# pue 1.25\n" + header +
                                 "2026-11-24T12:00:00Z,300,\"operator, "
                                 "hourly\"\n2026-11-24T14:00:00+01:00,200,x\n2026-11-24 14:30:00Z,0,wind\n",
                             "grid.csv");
    ASSERT_TRUE(factors.ok()) << factors.error().text();
    EXPECT_EQ(factors->pue(), 1.25);
    const auto grams = [&](std::int64_t time) {
        const CarbonFactors::Row* row = factors->at(time);
        return row == nullptr ? -1.0 : row->grams_per_joule * 3.6e6;
    };
    EXPECT_EQ(grams(noon - 1), -1.0);  // nothing is guessed
    EXPECT_DOUBLE_EQ(grams(noon), 300.0);
    EXPECT_EQ(factors->at(noon)->source, "operator, hourly");
    EXPECT_DOUBLE_EQ(grams(noon + hour - 1), 300.0);
    EXPECT_DOUBLE_EQ(grams(noon + hour), 200.0);
    EXPECT_EQ(grams(noon + 5 * hour / 2), 0.0);
    EXPECT_EQ(grams(noon + 4 * hour - 1), 0.0);  // 90 minutes, as the row before it
    EXPECT_EQ(grams(noon + 4 * hour), -1.0);
}

TEST(CarbonFactors, AStretchOfTimeHasTheMeanAndTheEndsOfItsFactors) {
    const auto factors = CarbonFactors::parse("# pue 2\n" + header +
                                                  "2026-11-24T12:00:00Z,300,a\n2026-11-24T13:00:00Z,200,b\n"
                                                  "2026-11-24T14:00:00Z,600,a\n",
                                              "grid.csv");
    ASSERT_TRUE(factors.ok());
    const auto kwh = [](double factor) { return factor * 3.6e6; };
    const auto span = factors->over(noon + hour / 2, noon + 5 * hour / 2);  // half, whole, half
    ASSERT_TRUE(span.has_value());
    EXPECT_NEAR(kwh(span->mean), 2 * (0.25 * 300 + 0.5 * 200 + 0.25 * 600), 1e-9);
    EXPECT_NEAR(kwh(span->least), 400, 1e-9);
    EXPECT_NEAR(kwh(span->most), 1200, 1e-9);
    EXPECT_EQ(span->source, "a, b");
    EXPECT_NEAR(kwh(factors->over(noon, noon)->mean), 600, 1e-9);
    EXPECT_NEAR(kwh(factors->over(noon, noon + hour)->most), 600, 1e-9);  // the end belongs to the next row
    EXPECT_FALSE(factors->over(noon - 1, noon + hour).has_value());
    EXPECT_FALSE(factors->over(noon, noon + 3 * hour).has_value());
    const auto constant = CarbonFactors::parse(header + ",360,contract\n", "grid.csv");
    EXPECT_NEAR(kwh(constant->over(noon, noon + 9 * hour)->mean), 360, 1e-9);
    EXPECT_EQ(constant->over(0, noon)->source, "contract");
}

TEST(CarbonFactors, WhatIsWrongIsSaidWithItsLine) {
    const std::string row = "2026-11-24T12:00:00Z,300,x\n";
    EXPECT_EQ(refused("time,factor\n"),
              "`grid.csv` is not a file of carbon factors: line 1 should be the header "
              "`time,gco2e_per_kwh,source`. see \"Carbon\" in docs/fleet.md.");
    EXPECT_THAT(refused(""), HasSubstr("it has no factor"));
    EXPECT_THAT(refused(header), HasSubstr("it has no factor"));
    EXPECT_THAT(refused(header + "2026-11-24T12:00:00,300,x\n"),
                HasSubstr("line 2 has a time `2026-11-24T12:00:00`"));
    EXPECT_THAT(refused(header + "soon,300,x\n"), HasSubstr("line 2 has a time `soon`"));
    EXPECT_THAT(refused(header + ",300\n"), HasSubstr("line 2 does not have 3 fields"));
    EXPECT_THAT(refused(header + ",much,x\n"), HasSubstr("has a factor `much`"));
    EXPECT_THAT(refused(header + ",-1,x\n"), HasSubstr("has a factor `-1`"));
    EXPECT_THAT(refused(header + ",9000,x\n"), HasSubstr("not a number from 0 to 5000"));
    EXPECT_THAT(refused(header + ",nan,x\n"), HasSubstr("has a factor `nan`"));
    EXPECT_THAT(refused(header + ",0.3,x\n"), HasSubstr("write grams"));
    EXPECT_THAT(refused(header + ",300,\n"), HasSubstr("does not say the source"));
    EXPECT_THAT(refused(header + row), HasSubstr("one row, which does not say for how long"));
    EXPECT_THAT(refused(header + row + row), HasSubstr("line 3 is not later"));
    EXPECT_THAT(refused(header + ",300,x\n" + row), HasSubstr("line 3 follows a row that holds always"));
    EXPECT_THAT(refused(header + row + ",300,x\n"), HasSubstr("line 3 is not later"));
    for (const char* pue : {"0.9", "11", "much", "nan"})
        EXPECT_THAT(refused("# pue " + std::string(pue) + "\n" + header + ",300,x\n"),
                    HasSubstr("line 1 has a PUE"));
    EXPECT_THAT(refused("# pue 1.1\n# pue 1.2\n" + header + ",300,x\n"),
                HasSubstr("line 2 names a PUE again"));
}

}  // namespace
}  // namespace viridian::meter
