// Every rule on random graphs of its own making: both sides are equal (docs/method.md, 4).
#include "viridian/rewrite/rules.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "tests/support/paths.hpp"
#include "viridian/base/file.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/rewrite/certify/certify.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::rewrite {

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

namespace {

// Most small, some near the ends of the type.
std::vector<Tensor> random_integers(const Graph& graph, Random& random) {
    std::vector<Tensor> inputs;
    for (const ValueId id : graph.inputs()) {
        Tensor& tensor = inputs.emplace_back(ElementType::i64, graph.value(id).type.dims());
        for (std::int64_t& value : tensor.mutable_values<std::int64_t>())
            value = random.chance(0.1) ? static_cast<std::int64_t>(random.next()) : random.between(-9, 9);
    }
    return inputs;
}

class Rules : public testing::TestWithParam<Rule> {};

TEST_P(Rules, AreCertified) {
    constexpr std::uint64_t graphs = 60;
    for (std::uint64_t seed = 1; seed <= graphs; ++seed) {
        const auto certified = certify(GetParam(), seed);
        ASSERT_TRUE(certified.ok()) << "seed " << seed << ": " << certified.error().text();
    }
}

// Division truncates and sums wrap. Instances of operators that integers do not have are skipped.
TEST_P(Rules, KeepEveryBitOfIntegers) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Random random(seed);
        Graph before = GetParam().instance(random, ElementType::i64);
        if (!infer_types(before).ok()) continue;
        const auto order = topological_order(before);
        ASSERT_TRUE(order.ok());
        for (const NodeId id : *order) {
            Graph after = before;
            const auto applied =
                apply(GetParam(), after, id, {.without = {}, .verify = true, .folds = nullptr});
            ASSERT_TRUE(applied.ok()) << applied.error().text();
            if (!*applied) continue;
            const std::vector<Tensor> inputs = random_integers(before, random);
            const auto expected = evaluate(before, inputs);
            const auto found = evaluate(after, inputs);
            ASSERT_TRUE(expected.ok()) << expected.error().text();
            ASSERT_TRUE(found.ok()) << found.error().text();
            for (std::size_t i = 0; i < expected->size(); ++i)
                ASSERT_TRUE((*expected)[i].same_bytes((*found)[i])) << "seed " << seed;
        }
    }
}

TEST_P(Rules, SayWhatTheyDo) {
    EXPECT_FALSE(GetParam().source.empty());
    EXPECT_NE(GetParam().equation.find("⇒"), std::string_view::npos);
    EXPECT_FALSE(GetParam().guards.empty());
}

INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(rules().begin(), rules().end()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// A reader finds the rule `x` in the file x.cpp, and every file that defines a rule is on the list.
TEST(RuleList, NamesTheFileOfEveryRule) {
    std::set<std::string> files;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(tests::source_folder() / "viridian/rewrite/rules")) {
        if (entry.path().extension() != ".cpp") continue;
        const auto text = read_file(entry.path());
        ASSERT_TRUE(text.ok()) << text.error().text();
        const std::size_t at = text->find("\nRule ");
        if (at == std::string::npos) continue;  // what several rules share
        const std::string name = entry.path().stem().string();
        EXPECT_EQ(text->substr(at, name.size() + 11), "\nRule " + name + "() {\n");
        EXPECT_EQ(text->find("\nRule ", at + 1), std::string::npos) << name << " holds a second rule";
        EXPECT_NE(text->find("\"" + name + "\""), std::string::npos) << name;
        EXPECT_NE(find_rule(name), nullptr) << name << " is not in list.inc";
        files.insert(name);
    }
    EXPECT_EQ(files.size(), rules().size());
}

TEST(RuleList, HasDistinctNames) {
    std::set<std::string_view> names;
    for (const Rule& rule : rules()) EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

}  // namespace
}  // namespace viridian::rewrite
