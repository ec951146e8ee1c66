#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "viridian/gradient/check/check.hpp"
#include "viridian/graph/evaluate.hpp"

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

// The gradients that `question` computes on the random inputs of `seed`.
std::vector<double> gradients_at(const Question& question, std::uint64_t seed) {
    Random random(seed);
    Instance drawing(random);
    std::vector<graph::Array<double>> inputs;
    for (std::size_t i = 0; i < question.graph.inputs().size(); ++i) {
        const graph::TensorType& type = question.graph.value(question.graph.inputs()[i]).type;
        graph::Array<double>& array = inputs.emplace_back(type.element, type.dims());
        array.real = drawing.draw(array.count(), i < question.inputs ? question.domains[i] : Domain());
    }
    const auto answers = evaluate(question.graph, inputs, graph::Rounding::none);
    std::vector<double> numbers;
    for (std::size_t k = question.outputs; answers.ok() && k < answers->size(); ++k)
        numbers.insert(numbers.end(), (*answers)[k].real.begin(), (*answers)[k].real.end());
    return numbers;
}

bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(a, b,
                              [](double x, double y) { return std::abs(x - y) <= 1e-9 * (1 + std::abs(x)); });
}

struct Fate {
    bool differs = false;  // on some graph its gradients are not those of the original
    bool noticed = false;  // by the check
};

// One change of one node of a rule's gradient is one mutant, whatever graph it is tried on. It is killed if
// the check notices it on some graph. A mutant whose gradients are those of the original on every graph, as
// g / sign(x) for g · sign(x), cannot be killed: it is listed, and there may be few of them.
TEST(Mutants, AreNoticed) {
    std::size_t killed = 0, all = 0, equal = 0;
    std::ptrdiff_t dropped = 0;
    std::string survivors, same;
    for (const Rule& rule : all_rules()) {
        std::map<std::string, Fate, std::less<>> fates;  // by change
        std::vector<std::string> untyped;
        for (std::uint64_t seed = 1; seed <= 40; ++seed) {
            const Result<Question> question = ask(rule, seed);
            ASSERT_TRUE(question.ok());
            const std::vector<double> original = gradients_at(*question, seed);
            for (const Mutant& mutant : mutants(*question, &untyped)) {
                Fate& fate = fates[mutant.change];
                fate.noticed = fate.noticed || !check(mutant.question, rule.form, seed).ok();
                fate.differs = fate.differs || fate.noticed ||
                               !same_numbers(original, gradients_at(mutant.question, seed));
            }
        }
        const std::set<std::string> changes(untyped.begin(), untyped.end());
        dropped += std::ranges::count_if(changes,
                                         [&](const std::string& change) { return !fates.contains(change); });
        for (const auto& [change, fate] : fates) {
            all += fate.differs ? 1 : 0;
            equal += fate.differs ? 0 : 1;
            killed += fate.noticed ? 1 : 0;
            if (!fate.noticed)
                (fate.differs ? survivors : same) += fmt::format("{}: {}\n", rule.op.name(), change);
        }
    }
    EXPECT_GE(static_cast<double>(killed), 0.98 * static_cast<double>(all)) << survivors;
    EXPECT_LE(static_cast<double>(equal), 0.04 * static_cast<double>(all)) << same;
    std::cout << killed << " of " << all << " mutants are noticed. Survivors:\n"
              << survivors << "Equal to the original on every graph, " << equal << ":\n"
              << same << "Not tried, because gradients would have another type on every graph: " << dropped
              << "\n";
}

}  // namespace
}  // namespace viridian::gradient
