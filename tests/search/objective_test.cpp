#include "viridian/search/objective.hpp"

#include <gtest/gtest.h>

namespace viridian::search {
namespace {

const Metrics start{2, 10, 100, 1000, 5};
const Metrics plan{1, 8, 100, 500, 5};

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
    EXPECT_FALSE(limited->within_limit({2.05, 1, 0, 0, 0}, start));
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
                                                         {"energy @ time<=0x", 16},
                                                         {"1e999*time", 0},
                                                         {"(1/0)*time", 0}};
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

// Found by fuzzing: written out, the exponents take more characters than they came in.
TEST(Objective, WhateverIsReadCanBeReadAgainFromItsText) {
    std::string text = "energy^.7";
    for (int i = 1; i < 32; ++i) text += "*time^.7777777777777777";
    const auto parsed = parse_objective(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    EXPECT_TRUE(parse_objective(search::text(*parsed)).ok());
    EXPECT_FALSE(parse_objective(text + "*time^1").ok()) << "33 terms";
    EXPECT_FALSE(parse_objective(std::string(2001, ' ')).ok());
}

}  // namespace
}  // namespace viridian::search
