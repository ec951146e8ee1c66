#include <gtest/gtest.h>

#include "viridian/gradient/check/check.hpp"

namespace viridian::gradient {
namespace {

constexpr std::uint64_t instances = 24;  // of each rule

class Rules : public testing::TestWithParam<std::size_t> {
  protected:
    [[nodiscard]] static const Rule& rule() { return all_rules()[GetParam()]; }
};

TEST_P(Rules, AgreesWithDifferencesOnRandomGraphs) {
    ASSERT_TRUE(rule().instance) << "the rule of " << rule().op.name() << " needs an instance";
    for (std::uint64_t seed = 1; seed <= instances; ++seed) {
        const Result<Question> question = ask(rule(), seed);
        ASSERT_TRUE(question.ok()) << "seed " << seed << ": " << question.error().text();
        const Result<void> checked = check(*question, rule().form, seed);
        EXPECT_TRUE(checked.ok()) << "seed " << seed << ": " << checked.error().text();
    }
}

std::string rule_name(const testing::TestParamInfo<std::size_t>& info) {
    const auto& op = all_rules()[info.param].op;
    return std::string(op.domain().empty() ? "" : "Viridian") + std::string(op.name());
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::Range(std::size_t{0}, all_rules().size()), rule_name);

// One change of one node of a rule's gradient is one mutant, whatever graph it is tried on. It is killed if
// the check notices it on some graph. Mutants that are equal to the original cannot be killed; a survivor is
// listed.
TEST(Mutants, AreNoticed) {
    std::size_t killed = 0, all = 0;
    std::string survivors;
    for (const Rule& rule : all_rules()) {
        std::map<std::string, bool, std::less<>> noticed;  // by change
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const Result<Question> question = ask(rule, seed);
            ASSERT_TRUE(question.ok());
            for (const Mutant& mutant : mutants(*question)) {
                bool& found = noticed[mutant.change];
                found = found || !check(mutant.question, rule.form, seed).ok();
            }
        }
        for (const auto& [change, found] : noticed) {
            ++all;
            if (found)
                ++killed;
            else
                survivors += fmt::format("{}: {}\n", rule.op.name(), change);
        }
    }
    EXPECT_GE(static_cast<double>(killed), 0.98 * static_cast<double>(all)) << survivors;
    std::cout << killed << " of " << all << " mutants are noticed. Survivors:\n" << survivors;
}

}  // namespace
}  // namespace viridian::gradient
