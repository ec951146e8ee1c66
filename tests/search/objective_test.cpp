#include "viridian/search/objective/objective.hpp"

#include <gtest/gtest.h>

namespace viridian::search {
namespace {

const Metrics start{Seconds(2), Joules(10), Operations(100), Traffic(1000), Launches(5)};
const Metrics plan{Seconds(1), Joules(8), Operations(100), Traffic(500), Launches(5)};

TEST(Objective, single_metrics_are_in_their_own_unit) {
    EXPECT_EQ(parse_objective("time")->value(plan, start), 1);
    EXPECT_EQ(parse_objective("energy")->value(plan, start), 8);
    EXPECT_EQ(parse_objective(" power ")->value(plan, start), 8);
    EXPECT_EQ(parse_objective("bytes")->value(plan, start), 500);
}

TEST(Objective, mixes_are_relative_to_the_start) {
    const auto mix = parse_objective("0.3*energy+(1-0.3)*time");
    ASSERT_TRUE(mix.ok());
    EXPECT_DOUBLE_EQ(mix->value(start, start), 1);
    EXPECT_DOUBLE_EQ(mix->value(plan, start), 0.3 * 0.8 + 0.7 * 0.5);
    EXPECT_DOUBLE_EQ(mix->weights(start).of(plan), mix->value(plan, start));
    EXPECT_DOUBLE_EQ(parse_objective("energy^0.5*time^0.5")->value(plan, start), std::sqrt(0.8 * 0.5));
    EXPECT_DOUBLE_EQ(parse_objective("0.5*power + 0.5*energy")->value(plan, start), 0.5 * 8 / 5 + 0.5 * 0.8);
}

TEST(Objective, limits_are_times_the_start) {
    const auto limited = parse_objective("energy @ time<=1.02x");
    ASSERT_TRUE(limited.ok());
    EXPECT_TRUE(limited->within_limit(plan, start));
    EXPECT_FALSE(limited->within_limit({Seconds(2.05), Joules(1), {}, {}, {}}, start));
    EXPECT_FALSE(limited->additive());
}

TEST(Objective, text_is_read_back) {
    for (const char* text :
         {"time", "0.3*energy+0.7*time", "energy^0.5*time^0.5", "power @ time<=3x", "2*kernels+bytes"}) {
        const auto once = parse_objective(text);
        ASSERT_TRUE(once.ok()) << text;
        EXPECT_EQ(search::text(*once), text);
    }
}

TEST(Objective, a_caret_shows_what_is_wrong) {
    const std::pair<const char*, std::size_t> wrong[] = {{"", 0},
                                                         {"tim", 0},
                                                         {"time+", 5},
                                                         {"0.3energy", 3},
                                                         {"0.3*", 4},
                                                         {"time @ energy", 13},
                                                         {"time @ energy<=0.9", 18},
                                                         {"energy^0.5*time", 15},
                                                         {"time time", 5},
                                                         {"(1-0.3", 6},
                                                         {"(1-2)*time", 0},
                                                         {"energy @ time<=0x", 15},
                                                         {"1e999*time", 0},
                                                         {"(1/0)*time", 0},
                                                         {"-1*time", 0},
                                                         {"time+-1*energy", 5},
                                                         {"0*time", 0},
                                                         {"0*time+(1-1)*energy", 0},
                                                         {"energy^0", 0},
                                                         {"energy^-1", 7},
                                                         {"energy^(1-2)", 7},
                                                         {"energy @ time<=-1x", 15},
                                                         {"power+power", 6},
                                                         {"2*energy^1", 8},
                                                         {"(inf)*time", 1},
                                                         {"time^1*energy^2*time^3", 16}};
    for (const auto& [text, column] : wrong) {
        const auto parsed = parse_objective(text);
        ASSERT_FALSE(parsed.ok()) << text;
        EXPECT_EQ(parsed.error().code, ErrorCode::invalid_argument);
        const std::string& message = parsed.error().message;
        const std::string last = message.substr(message.rfind('\n') + 1);
        EXPECT_EQ(last.find('^'), column + 4) << message;
    }
    EXPECT_FALSE(parse_objective(std::string(2000, '(')).ok());
    EXPECT_FALSE(parse_objective(std::string(900, '(')).ok());
}

TEST(Objective, ConstantsFollowThePrecedenceOfArithmetic) {
    const std::pair<const char*, double> coefficients[] = {
        {"(1-0.5*0.5)*time", 0.75}, {"(3-2*0.5)*time", 2}, {"(1+6/2-1)*time", 3},
        {"(8/2/2)*time", 2},        {"(1-(2-3))*time", 2}, {"(2--1)*time", 3},
        {"1/4*time", 0.25},         {"2*0.25*time", 0.5},  {"(-1+2) * (3-1)*time", 2}};
    for (const auto& [text, value] : coefficients) {
        const auto parsed = parse_objective(text);
        ASSERT_TRUE(parsed.ok()) << text << parsed.error().text();
        EXPECT_DOUBLE_EQ(parsed->terms[0].factor, value) << text;
    }
    EXPECT_DOUBLE_EQ(parse_objective("energy^(1-0.5*0.5)")->terms[0].factor, 0.75);
    EXPECT_DOUBLE_EQ(parse_objective("energy @ time<=(1+0.5*2)x")->limit->factor, 2);
}

// A sweep of weights ends at 0.
TEST(Objective, SomeFactorsMayBeZero) {
    EXPECT_EQ(parse_objective("0*energy+(1-0)*time")->terms.size(), 2U);
    EXPECT_TRUE(parse_objective("energy^0*time^1").ok());
}

TEST(Objective, PowerAloneHasALimitHoweverItIsSaid) {
    for (const char* text : {"power", "2*power", "power^0.5", "power+0*energy"}) {
        const auto parsed = parse_objective(text);
        ASSERT_TRUE(parsed.ok()) << text;
        ASSERT_TRUE(parsed->limit.has_value()) << text;
        EXPECT_EQ(parsed->limit->factor, 3);
    }
    EXPECT_FALSE(parse_objective("power+energy")->limit.has_value());
}

TEST(Objective, WhateverIsReadCanBeReadAgainFromItsText) {
    std::string text;
    for (const char* metric : {"time", "energy", "power", "flop", "bytes", "kernels"})
        text += fmt::format("{}{}^.7777777777777777e-300", text.empty() ? "" : "*", metric);
    const auto parsed = parse_objective(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    EXPECT_TRUE(parse_objective(search::text(*parsed)).ok());
    EXPECT_FALSE(parse_objective(std::string(2001, ' ')).ok());
    EXPECT_FALSE(parse_objective(fmt::format("{:->1990}1*time", "")).ok());
}

}  // namespace
}  // namespace viridian::search
