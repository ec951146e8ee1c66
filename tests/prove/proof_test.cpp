#include "viridian/prove/proof.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "viridian/prove/inputs.hpp"

namespace viridian::prove {
namespace {

using graph::Tensor;

TEST(Proof, RelativeErrorAndNaNs) {
    const float nan = std::nanf("");
    const float infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> a = {3, 4, 0, nan, infinity};
    const std::vector<float> b = {3, 4, 5, nan, infinity};
    EXPECT_DOUBLE_EQ(relative_error(Tensor::f32({5}, a), Tensor::f32({5}, a)), 0);
    EXPECT_NEAR(relative_error(Tensor::f32({5}, a), Tensor::f32({5}, b)), 5 / std::sqrt(50.0), 1e-12);
    EXPECT_TRUE(same_nan_pattern(Tensor::f32({5}, a), Tensor::f32({5}, b)));
    const std::vector<float> c = {nan, 4, 5, nan, infinity};
    EXPECT_FALSE(same_nan_pattern(Tensor::f32({5}, c), Tensor::f32({5}, b)));
    EXPECT_TRUE(std::isinf(relative_error(Tensor::f32({5}, c), Tensor::f32({5}, b))));
    EXPECT_TRUE(std::isinf(relative_error(Tensor::f32({1, 5}, b), Tensor::f32({5}, b))));
}

// Answers the same whatever it is given.
class Answers final : public execute::Executable {
  public:
    explicit Answers(std::vector<Tensor> outputs) : outputs_(std::move(outputs)) {}
    Result<void> run(std::span<const Tensor>, std::span<Tensor> outputs) override {
        std::ranges::copy(outputs_, outputs.begin());
        return {};
    }
    void record(trace::Recorder*) override {}
    Bytes memory() const override { return {}; }

  private:
    std::vector<Tensor> outputs_;
};

// What is said of an output of this graph, if this comes where that was expected.
OutputAgreement compared(const graph::Graph& graph, const Tensor& ours, const Tensor& expected,
                         double allowed = 1e-4) {
    Answers answers({ours});
    const auto proof = prove(graph, {{}}, {{expected}}, answers, {allowed, "f32"});
    EXPECT_TRUE(proof.ok());
    return proof->outputs.at(0);
}

graph::Graph passing(graph::ElementType type, const graph::Dims& dims) {
    graph::Graph graph;
    const auto x = graph.add_input("x", {type, graph::shape_of(dims)});
    const auto y = graph.add("Relu", {x});
    graph.set_type(y, graph.value(x).type);
    graph.set_outputs({y});
    return graph;
}

TEST(Proof, TheBestClassIsAskedOfFiniteRowsAlone) {
    const graph::Graph graph = passing(graph::ElementType::f32, {2, 3});
    const float nan = std::nanf("");
    const Tensor expected = Tensor::f32({2, 3}, std::vector<float>{nan, 1, 2, 5, 6, 4});
    const OutputAgreement same = compared(graph, expected, expected);
    EXPECT_TRUE(same.passed());
    EXPECT_EQ(same.rows, 1);
    EXPECT_EQ(same.agreeing, 1);
    // Within a budget of 30 %, but another class is best.
    const Tensor swapped = Tensor::f32({2, 3}, std::vector<float>{nan, 1, 2, 6, 5, 4});
    EXPECT_FALSE(compared(graph, swapped, expected, 0.1).passed());
    EXPECT_TRUE(compared(graph, swapped, expected, 0.3).passed());
    // A NaN where a number was, first of its row.
    const Tensor missing = Tensor::f32({2, 3}, std::vector<float>{nan, 1, 2, nan, 6, 4});
    EXPECT_FALSE(compared(graph, missing, expected).same_nan);
    EXPECT_FALSE(compared(graph, missing, expected).passed());
}

TEST(Proof, IntegersThatNoRoundingReachesAreEqual) {
    const graph::Graph integers = passing(graph::ElementType::i64, {3});
    constexpr std::int64_t large = 1'000'000'000'000'000'000;
    const Tensor expected = Tensor::i64({3}, std::vector<std::int64_t>{large, 2, 3});
    EXPECT_TRUE(compared(integers, expected, expected).passed());
    // 1 of 10^18, which no relative error sees.
    const Tensor other = Tensor::i64({3}, std::vector<std::int64_t>{large + 1, 2, 3});
    const OutputAgreement agreement = compared(integers, other, expected);
    EXPECT_FALSE(agreement.passed());
    EXPECT_EQ(agreement.differing, 1);
    EXPECT_EQ(agreement.elements, 3);

    graph::Graph rounding;
    const auto x = rounding.add_input("x", {graph::ElementType::f32, graph::Shape{3}});
    const auto y = rounding.add("Exp", {x});
    rounding.set_type(y, rounding.value(x).type);
    const auto z = rounding.add("Cast", {y});
    rounding.set_type(z, {graph::ElementType::i64, graph::Shape{3}});
    rounding.set_outputs({z});
    const OutputAgreement rounded = compared(rounding, other, expected);
    EXPECT_TRUE(rounded.passed()) << "1e-18 of what floats were rounded to";
    EXPECT_EQ(rounded.differing, 1);
}

TEST(Inputs, IndicesStayInsideTheirTable) {
    graph::Graph graph;
    const auto ids = graph.add_input("ids", {graph::ElementType::i64, graph::Shape{2, 50}});
    const auto table = graph.add_constant("table", Tensor(graph::ElementType::f32, {7, 3}));
    graph.set_outputs({graph.add("Gather", {table, graph.add("Identity", {ids})})});
    const auto inputs = seeded_inputs(graph, 1);
    ASSERT_TRUE(inputs.ok());
    std::int64_t largest = 0;
    for (const std::int64_t id : (*inputs)[0].values<std::int64_t>()) {
        EXPECT_GE(id, 0);
        largest = std::max(largest, id);
    }
    EXPECT_EQ(largest, 6);
    EXPECT_TRUE((*seeded_inputs(graph, 1))[0].same_bytes((*inputs)[0]));
    EXPECT_FALSE((*seeded_inputs(graph, 2))[0].same_bytes((*inputs)[0]));
}

}  // namespace
}  // namespace viridian::prove
