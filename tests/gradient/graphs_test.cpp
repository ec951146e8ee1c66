// Gradients of whole graphs: the sum over all readers of a value, seeds at several outputs, and branches that
// lead nowhere.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "random_network.hpp"
#include "viridian/gradient/check/check.hpp"
#include "viridian/gradient/differentiate.hpp"
#include "viridian/graph/evaluate.hpp"

namespace viridian::gradient {
namespace {

constexpr std::uint64_t networks = 300;

// What the networks of this test contain, so that a change of the generator cannot make the test empty.
struct Coverage {
    std::set<std::string, std::less<>> operators;
    std::size_t shared = 0, unread = 0, several = 0, operator_count = 0;  // networks, and operators of all

    void add(const Graph& graph, const std::vector<ValueId>& outputs) {
        const graph::Uses readers = uses(graph);
        bool is_shared = false, is_unread = false;
        for (const NodeId id : graph.nodes()) {
            const Node& node = graph.node(id);
            operators.emplace(node.op.name());
            ++operator_count;
            for (const ValueId value : node.outputs) {
                const std::size_t count = readers.readers(value).size();
                is_shared = is_shared || count > 1;
                is_unread = is_unread || (count == 0 && std::ranges::find(outputs, value) == outputs.end());
            }
        }
        shared += is_shared ? 1 : 0;
        unread += is_unread ? 1 : 0;
        several += outputs.size() > 1 ? 1 : 0;
    }
};

TEST(Graphs, GradientsAgreeWithDifferencesOnRandomNetworks) {
    Coverage coverage;
    for (std::uint64_t seed = 1; seed <= networks; ++seed) {
        Random random(seed);
        Instance instance(random);
        RandomNetwork(instance, static_cast<std::size_t>(random.between(5, 30)));
        coverage.add(instance.graph, instance.outputs());
        const Result<Question> question = ask(instance);
        ASSERT_TRUE(question.ok()) << "seed " << seed << ": " << question.error().text();
        const Result<void> checked = check(*question, Rule::Form::smooth, seed);
        EXPECT_TRUE(checked.ok()) << "seed " << seed << ": " << checked.error().text();
    }
    EXPECT_GE(coverage.operators.size(), 35U);
    EXPECT_GE(coverage.operator_count, networks * 10);
    EXPECT_GE(coverage.shared, networks / 2);
    EXPECT_GE(coverage.unread, networks / 2);
    EXPECT_GE(coverage.several, networks / 3);
}

// The gradients that `question` computes at random inputs.
std::vector<double> gradients_of(const Question& question) {
    Random random(7);
    std::vector<graph::Array<double>> inputs;
    for (const ValueId id : question.graph.inputs()) {
        const graph::TensorType& type = question.graph.value(id).type;
        for (double& value : inputs.emplace_back(type.element, type.dims()).real)
            value = random.uniform(-2, 2);
    }
    const auto answers = evaluate(question.graph, inputs, graph::Rounding::none);
    std::vector<double> numbers;
    for (std::size_t k = question.outputs; answers.ok() && k < answers->size(); ++k)
        numbers.insert(numbers.end(), (*answers)[k].real.begin(), (*answers)[k].real.end());
    return numbers;
}

bool same_gradients(const Question& a, const Question& b) {
    const std::vector<double> left = gradients_of(a), right = gradients_of(b);
    return std::ranges::equal(left, right, [](double x, double y) { return std::abs(x - y) < 1e-9; });
}

// A value that two nodes read gets two contributions. The check notices if one of them is left out, unless it
// is 0, as that of a Where that takes nothing.
TEST(Graphs, AMissingContributionIsNoticed) {
    std::size_t missing = 0, noticed = 0;
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        Random random(seed);
        Instance instance(random);
        RandomNetwork(instance, 15);
        const Result<Question> question = ask(instance);
        ASSERT_TRUE(question.ok()) << question.error().text();
        for (const Mutant& mutant : mutants(*question)) {
            if (!mutant.change.starts_with("Sum ") || mutant.change.find("without") == std::string::npos)
                continue;
            if (same_gradients(*question, mutant.question)) continue;
            ++missing;
            if (!check(mutant.question, Rule::Form::smooth, seed).ok()) ++noticed;
        }
    }
    EXPECT_GE(missing, 50U);
    EXPECT_EQ(noticed, missing);
}

// No gradient flows through the values of `stops`, and an input that no seed depends on has none.
TEST(Graphs, StopsAndUnreadInputsHaveNoGradient) {
    Graph graph;
    Builder b(graph);
    const Term x = b.value(graph.add_input("x", {ElementType::f64, graph::Shape{3}}));
    const Term unread = b.value(graph.add_input("unread", {ElementType::f64, graph::Shape{3}}));
    const Term u = b.value(graph.add_input("u", {ElementType::f64, graph::Shape{3}}));
    const Term stopped = exp(x);
    const Term y = x * stopped;
    const ValueId of[] = {x.id, unread.id}, stops[] = {stopped.id};
    const Seed seeds[] = {{y.id, u.id}};
    const auto gradients = differentiate(graph, of, seeds, stops);
    ASSERT_TRUE(gradients.ok()) << gradients.error().text();
    EXPECT_EQ((*gradients)[1], ValueId::none);
    graph.set_outputs({(*gradients)[0]});
    remove_dead_nodes(graph);
    ASSERT_EQ(graph.nodes().size(), 2U) << "g · exp(x), without the slope of exp";
    EXPECT_TRUE(graph.node(graph.nodes()[0]).op == op::Exp);
    EXPECT_TRUE(graph.node(graph.nodes()[1]).op == op::Mul);
}

TEST(Graphs, ASeedHasTheTypeOfItsValue) {
    Graph graph;
    Builder b(graph);
    const Term x = b.value(graph.add_input("x", {ElementType::f64, graph::Shape{3}}));
    const Term u = b.value(graph.add_input("u", {ElementType::f64, graph::Shape{2}}));
    const ValueId of[] = {x.id};
    const Seed seeds[] = {{x.id, u.id}};
    const auto gradients = differentiate(graph, of, seeds);
    ASSERT_FALSE(gradients.ok());
    EXPECT_EQ(gradients.error().text(),
              "`x` is f64[3], its gradient `u` is f64[2]. give a gradient of the value's type.");
}

}  // namespace
}  // namespace viridian::gradient
