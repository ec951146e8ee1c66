// Slopes where an operator has a kink, worked out by hand; they are the ones that PyTorch takes.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/gradient/doubles.hpp"
#include "viridian/gradient/differentiate.hpp"
#include "viridian/gradient/rule.hpp"
#include "viridian/graph/evaluate.hpp"

namespace viridian::gradient {
namespace {

// The gradient of the sum of output 0 with respect to the first input, `x`; the other inputs are constants.
std::vector<double> slopes(graph::Operator op, const Attributes& attributes, const Tensor& x,
                           const std::vector<Tensor>& others = {}, std::size_t of_input = 0) {
    Graph graph;
    Builder b(graph);
    std::vector<Term> inputs = {b.value(graph.add_input("x", {x.type(), graph::shape_of(x.dims())}))};
    for (const Tensor& other : others)
        inputs.push_back(other.type() == ElementType::undefined ? Term{&b, ValueId::none}
                                                                : b.constant(other));
    std::swap(inputs[0], inputs[of_input]);
    const Term y = b.add(std::move(op), inputs, attributes);
    const Term one = expand(b.number(1, y), b.dims(y));
    const ValueId of[] = {graph.inputs()[0]};
    const Seed seeds[] = {{y.id, one.id}};
    const auto gradients = differentiate(graph, of, seeds);
    if (!gradients.ok()) ADD_FAILURE() << gradients.error().text();
    if (!gradients.ok() || (*gradients)[0] == ValueId::none)
        return std::vector<double>(static_cast<std::size_t>(x.count()), 0);
    graph.set_outputs({(*gradients)[0]});
    const auto found = evaluate(graph, {x});
    if (!found.ok()) ADD_FAILURE() << found.error().text();
    std::vector<double> numbers;
    for (std::int64_t k = 0; found.ok() && k < (*found)[0].count(); ++k)
        numbers.push_back((*found)[0].number(k));
    return numbers;
}

double slope(graph::Operator op, double x, const Attributes& attributes = {}) {
    return slopes(std::move(op), attributes, doubles({1}, {x}))[0];
}

TEST(Slopes, OfActivationsAtTheirKinks) {
    EXPECT_EQ(slope(op::Relu, 0), 0);
    EXPECT_EQ(slope(op::LeakyRelu, 0, {{"alpha", 0.25}}), 0.25);
    EXPECT_EQ(slopes(op::PRelu, {}, doubles({1}, {0}), {doubles({1}, {0.25})})[0], 0.25);
    EXPECT_EQ(slope(op::Elu, 0, {{"alpha", 0.5}}), 0.5);
    EXPECT_EQ(slope(op::Celu, 0, {{"alpha", 0.5}}), 1);
    EXPECT_DOUBLE_EQ(slope(op::Selu, 0, {{"alpha", 0.5}, {"gamma", 3.0}}), 1.5);
    EXPECT_EQ(slope(op::HardSigmoid, -2, {{"alpha", 0.25}}), 0);
    EXPECT_EQ(slope(op::HardSigmoid, 2, {{"alpha", 0.25}}), 0);
    EXPECT_EQ(slope(op::HardSwish, -3), 0);
    EXPECT_EQ(slope(op::HardSwish, 3), 1);
    EXPECT_EQ(slope(op::Softsign, 0), 1);
    EXPECT_EQ(slope(op::ThresholdedRelu, 2, {{"alpha", 2.0}}), 0);
    EXPECT_EQ(slope(op::Shrink, 0.5), 0);
    EXPECT_EQ(slope(op::Shrink, -0.5), 0);
    EXPECT_EQ(slope(op::Abs, 0), 0);
}

TEST(Slopes, OfASlopeAtZeroIsZero) {
    EXPECT_EQ(slopes(op::PRelu, {}, doubles({1}, {7}), {doubles({1}, {0})}, 1)[0], 0);
}

// Slopes stay numbers where the function is flat or steep.
TEST(Slopes, OfActivationsFarOut) {
    for (const auto op :
         {op::Elu, op::Celu, op::Selu, op::Gelu, op::Softplus, op::Mish, op::Swish, op::HardSwish})
        for (const double x : {-1000.0, 1000.0}) {
            const double expected = x < 0 ? 0 : op == op::Selu ? 1.05070102214813232421875 : 1;
            EXPECT_NEAR(slope(op, x), expected, 1e-12) << op.name() << " at " << x;
        }
    EXPECT_NEAR(slope(op::Gelu, 1000, {{"approximate", std::string("tanh")}}), 1, 1e-12);
}

TEST(Slopes, OfReductions) {
    const Tensor x = doubles({2, 3}, {0, 2, 2, 0, 0, 0});
    const Tensor rows = Tensor::i64({1}, Dims{1});
    using Numbers = std::vector<double>;
    EXPECT_EQ(slopes(op::ReduceMax, {}, x, {rows}), (Numbers{0, 0.5, 0.5, 1.0 / 3, 1.0 / 3, 1.0 / 3}));
    EXPECT_EQ(slopes(op::ReduceMin, {}, x, {rows}), (Numbers{1, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3}));
    EXPECT_EQ(slopes(op::ReduceL1, {}, x, {rows}), (Numbers{0, 1, 1, 0, 0, 0}));
    const std::vector<double> norm = slopes(op::ReduceL2, {}, x, {rows});
    EXPECT_EQ((Numbers{norm[0], norm[3], norm[4], norm[5]}), (Numbers{0, 0, 0, 0}));
    EXPECT_DOUBLE_EQ(norm[1], std::sqrt(0.5));
    const Tensor factors = doubles({3, 3}, {2, 3, 5, 2, 0, 5, 0, 3, 0});
    EXPECT_EQ(slopes(op::ReduceProd, {}, factors, {rows}), (Numbers{15, 10, 6, 0, 10, 0, 0, 0, 0}));
}

TEST(Slopes, OfDropoutAreThoseOfItsMask) {
    const std::uint8_t yes = 1;
    const Tensor training = Tensor::of<std::uint8_t>(ElementType::boolean, {}, std::span(&yes, 1));
    const Tensor x = doubles({64}, std::vector<double>(64, 1));
    const auto at = [&](double ratio) {
        return slopes(op::Dropout, {{"seed", std::int64_t{3}}}, x, {doubles({}, {ratio}), training});
    };
    EXPECT_EQ(at(0), std::vector<double>(64, 1));
    EXPECT_EQ(at(1), std::vector<double>(64, 0));
    const std::vector<double> half = at(0.5);
    EXPECT_EQ(std::ranges::count(half, 0) + std::ranges::count(half, 2), 64);
    EXPECT_GT(std::ranges::count(half, 0), 10);
    EXPECT_GT(std::ranges::count(half, 2), 10);
    EXPECT_EQ(slopes(op::Dropout, {}, x), std::vector<double>(64, 1)) << "in inference";
}

// Rows of a table that are read twice add up; the others get 0.
TEST(Slopes, OfATable) {
    const Tensor table = doubles({4, 2}, std::vector<double>(8, 1));
    EXPECT_EQ(slopes(op::Gather, {}, table, {Tensor::i64({3}, Dims{1, -1, 1})}),
              (std::vector<double>{0, 0, 2, 2, 0, 0, 1, 1}));
}

// Rules also work in the types that networks have: every node of the gradient gets types.
TEST(Slopes, HaveTheTypeOfTheInput) {
    for (const ElementType element : {ElementType::f32, ElementType::f16, ElementType::bf16}) {
        Graph graph;
        Builder b(graph);
        const Term x = b.value(graph.add_input("x", {element, graph::Shape{2, 3}}));
        const Term table = b.value(graph.add_input("table", {element, graph::Shape{5, 3}}));
        const Term targets = b.constant(Tensor::i64({2}, Dims{1, -1}));
        const std::uint8_t yes = 1;
        const Term training =
            b.constant(Tensor::of<std::uint8_t>(ElementType::boolean, {}, std::span(&yes, 1)));
        Term h = x + b.add(op::Gather, {table, b.constant(Tensor::i64({2}, Dims{0, 4}))});
        for (const auto op :
             {op::Gelu, op::Elu, op::HardSigmoid, op::HardSwish, op::Mish, op::Swish, op::Relu})
            h = apply(op, h);
        h = b.add(op::Dropout, {h, Term{&b, ValueId::none}, training});
        h = b.add(op::ReduceL2, {h}) + b.add(op::ReduceProd, {h}) + b.add(op::ReduceMax, {h}) + h;
        const Term loss =
            b.add(op::SoftmaxCrossEntropyLoss, {h, targets}, {{"ignore_index", std::int64_t{-1}}});
        const ValueId of[] = {x.id, table.id};
        const Seed seeds[] = {{loss.id, b.number(1, loss).id}};
        const auto gradients = differentiate(graph, of, seeds);
        ASSERT_TRUE(gradients.ok()) << gradients.error().text();
        for (std::size_t k = 0; k < 2; ++k)
            EXPECT_EQ(graph.value((*gradients)[k]).type, graph.value(of[k]).type);
    }
}

}  // namespace
}  // namespace viridian::gradient
