// Every rule on random graphs of its own making: both sides are equal (docs/method.md, 4).
#include "viridian/rewrite/rules.hpp"

#include <gtest/gtest.h>

#include <set>

#include "viridian/rewrite/certify.hpp"

namespace viridian::rewrite {

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

namespace {

class Rules : public testing::TestWithParam<Rule> {};

TEST_P(Rules, AreCertified) {
    constexpr std::uint64_t graphs = 60;
    for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
        const auto certified = certify(GetParam(), seed);
        ASSERT_TRUE(certified.ok()) << "seed " << seed << ": " << certified.error().text();
    }
}

TEST_P(Rules, SayWhatTheyDo) {
    EXPECT_FALSE(GetParam().source.empty());
    EXPECT_NE(GetParam().equation.find("⇒"), std::string_view::npos);
    EXPECT_FALSE(GetParam().guards.empty());
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(rules().begin(), rules().end()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(RuleList, HasDistinctNames) {
    std::set<std::string_view> names;
    for (const Rule& rule : rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

}  // namespace
}  // namespace viridian::rewrite
