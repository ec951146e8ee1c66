// Attention and its gradient in cache, against the graph that differentiation makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/cpu_device.hpp"
#include "tests/support/greedy.hpp"
#include "viridian/gradient/differentiate.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/training/attention_grad.hpp"
#include "viridian/plan/precision.hpp"
#include "viridian/rewrite/rewrite.hpp"

namespace viridian::train {
namespace {

namespace op = graph::op;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

struct Form {
    std::int64_t batch = 1, heads = 2, rows = 3, keys = 4, size = 5, columns = 6;
    bool scaled = true, dropped = false;
    Dims mask = {};
    enum class Hides : std::uint8_t { nothing, where_false, where_true } hides = Hides::nothing;
    bool by_position = false;  // the operands are transposed from [batch, position, head, size]
    bool multiplied = false;   // the probabilities, as by a dropout
    bool shared_keys = false;  // all heads read the same keys and values
};

// y = attention(q, k, v), whose gradients with respect to q, k and v are the outputs after it.
Graph step(const Form& f) {
    Graph g;
    const auto type = [](Dims dims) { return graph::TensorType{ElementType::f32, graph::shape_of(dims)}; };
    const auto operand = [&](const char* name, std::int64_t heads, std::int64_t places, std::int64_t size) {
        if (!f.by_position) return g.add_input(name, type({f.batch, heads, places, size}));
        return g.add(op::Transpose, {g.add_input(name, type({f.batch, places, heads, size}))},
                     {{"perm", Dims{0, 2, 1, 3}}});
    };
    const std::int64_t sources = f.shared_keys ? 1 : f.heads;
    const ValueId q = operand("q", f.heads, f.rows, f.size);
    const ValueId k =
        g.add(op::Transpose, {operand("k", sources, f.keys, f.size)}, {{"perm", Dims{0, 1, 3, 2}}});
    const ValueId v = operand("v", sources, f.keys, f.columns);
    const std::vector<ValueId> of(g.inputs().begin(), g.inputs().end());
    const auto number = [&](float value) { return g.add_constant("number", Tensor::scalar(value)); };
    ValueId scores = g.add(op::MatMul, {q, k});
    if (f.scaled) scores = g.add(op::Mul, {scores, number(0.3F)});
    if (!f.mask.empty()) scores = g.add(op::Add, {scores, g.add_input("mask", type(f.mask))});
    if (f.hides != Form::Hides::nothing) {
        const ValueId flags =
            g.add(op::Greater, {g.add_input("flags", type({1, 1, f.rows, f.keys})), number(-0.5F)});
        scores = f.hides == Form::Hides::where_false
                     ? g.add(op::Where, {flags, scores, number(std::numeric_limits<float>::lowest())})
                     : g.add(op::Where, {flags, number(-1), scores});
    }
    ValueId p = g.add(op::Softmax, {scores}, {{"axis", std::int64_t{-1}}});
    if (f.multiplied || f.dropped) p = g.add(op::Mul, {p, number(4.0F / 3)});
    if (f.dropped) {
        const ValueId drawn = g.add_input("drawn", type({f.batch, f.heads, f.rows, f.keys}));
        const ValueId kept = g.add(op::Greater, {drawn, number(-0.5F)});
        p = g.add(op::Where, {kept, p, number(0)});
    }
    const ValueId y = g.add(op::MatMul, {p, v});
    EXPECT_TRUE(infer_types(g).ok());
    const ValueId dy = g.add_input("dy", g.value(y).type);
    const auto gradients = gradient::differentiate(g, of, {{{y, dy}}});
    EXPECT_TRUE(gradients.ok());
    std::vector<ValueId> outputs = {y};
    outputs.insert(outputs.end(), gradients->begin(), gradients->end());
    g.set_outputs(std::move(outputs));
    remove_dead_nodes(g);
    EXPECT_TRUE(infer_types(g).ok());
    return g;
}

std::vector<Tensor> inputs_of(const Graph& graph, Random& random) {
    std::vector<Tensor> inputs;
    for (const ValueId id : graph.inputs()) {
        Tensor tensor(ElementType::f32, graph.value(id).type.dims());
        for (float& x : tensor.mutable_values<float>()) x = static_cast<float>(random.uniform(-1, 1));
        inputs.push_back(std::move(tensor));
    }
    return inputs;
}

double relative_distance(const Tensor& a, const Tensor& b) {
    if (a.dims() != b.dims()) return HUGE_VAL;
    double difference = 0, size = 0;
    for (std::int64_t i = 0; i < a.count(); ++i) {
        difference += (a.number(i) - b.number(i)) * (a.number(i) - b.number(i));
        size += b.number(i) * b.number(i);
    }
    return std::sqrt(difference / std::max(size, 1e-30));
}

bool has_node(const Graph& graph, graph::KnownOperator op) {
    return std::ranges::any_of(graph.nodes(), [&](graph::NodeId id) { return graph.node(id).op == op; });
}

// Picks the choices that store in bf16 in turn, where there are any, and elsewhere the first.
execute::Pick in_bf16(const Graph& graph, std::size_t round, int& picked) {
    return [&graph, &picked, round](const plan::Region& region, const std::vector<plan::Choice>& choices) {
        std::vector<std::size_t> rounding;
        for (std::size_t c = 0; c < choices.size(); ++c)
            if (plan::rounds(graph, region, choices[c])) rounding.push_back(c);
        const bool is_gradient = graph.node(region.nodes[0]).op == op::AttentionGrad;
        if (rounding.empty() || !is_gradient) return std::size_t{0};
        ++picked;
        return rounding[round % rounding.size()];
    };
}

// The kernels that computed the gradient, in every order of memory that it is offered in.
std::set<std::string> check(execute::Device& device, const Form& form, Random& random) {
    const Graph given = step(form);
    Graph graph = given;
    EXPECT_TRUE(rewrite::simplify(graph).ok());
    EXPECT_TRUE(has_node(graph, op::AttentionGrad));
    EXPECT_FALSE(has_node(graph, op::SoftmaxGrad));
    const std::vector<Tensor> inputs = inputs_of(given, random);
    const auto expected = graph::evaluate(given, inputs);
    EXPECT_TRUE(expected.ok());
    std::set<std::string> kernels;
    for (std::size_t round = 0; round < 4; ++round) {
        const auto run = run_greedily(device, graph, inputs,
                                      [&](const plan::Region&, const std::vector<plan::Choice>& choices) {
                                          return round % choices.size();
                                      });
        EXPECT_TRUE(run.ok()) << run.error().text();
        if (!run.ok()) return kernels;
        for (const auto& [name, kernel] : run->kernels)
            if (name == "AttentionGrad") kernels.insert(kernel);
        for (std::size_t i = 0; i < expected->size(); ++i)
            EXPECT_LE(relative_distance(run->outputs[i], (*expected)[i]), 2e-5) << "output " << i;
    }
    return kernels;
}

TEST(AttentionGradient, InBf16) {
    Random random(5);
    auto device = execute::make_cpu_device({.threads = 2, .pin = false, .allowances = {.bf16 = true}});
    ASSERT_TRUE(device.ok());
    for (int i = 0; i < 12; ++i) {
        Form form{random.between(1, 2),  random.between(1, 3),  random.between(2, 130),
                  random.between(2, 90), random.between(2, 70), random.between(2, 70)};
        if (i % 2 == 0)  // products in bf16 need even extents
            for (std::int64_t* extent : {&form.rows, &form.keys, &form.size, &form.columns})
                *extent += *extent % 2;
        form.hides = static_cast<Form::Hides>(random.between(0, 2));
        if (random.chance(0.5)) form.mask = {1, 1, form.rows, form.keys};
        form.dropped = random.chance(0.5), form.by_position = random.chance(0.5);
        form.shared_keys = random.chance(0.3);
        const Graph given = step(form);
        Graph graph = given;
        ASSERT_TRUE(rewrite::simplify(graph).ok());
        std::vector<Tensor> inputs = inputs_of(given, random);
        for (Tensor& input : inputs)
            for (float& x : input.mutable_values<float>()) x = graph::from_bfloat16(graph::to_bfloat16(x));
        const auto expected = graph::evaluate(given, inputs);
        ASSERT_TRUE(expected.ok());
        for (std::size_t round = 0; round < 9; ++round) {
            int picked = 0;
            const auto run = execute::run_greedily(**device, graph, inputs, in_bf16(graph, round, picked));
            ASSERT_TRUE(run.ok()) << run.error().text();
            EXPECT_EQ(picked, 1) << "it is offered in bf16";
            EXPECT_THAT(run->kernels, testing::Contains(std::pair<std::string, std::string>(
                                          "AttentionGrad", "simd:attention_gradient")));
            for (std::size_t o = 0; o < expected->size(); ++o)
                EXPECT_LE(relative_distance(run->outputs[o], (*expected)[o]), 3e-3)
                    << "form " << i << " round " << round << " output " << o;
        }
    }
}

TEST(AttentionGradient, OfRandomForms) {
    Random random(1);
    for (const int threads : {1, 2}) {
        const auto device = execute::device_with(threads);
        for (int i = 0; i < 12; ++i) {
            Form form{random.between(1, 2),  random.between(1, 3),  random.between(2, 130),
                      random.between(2, 90), random.between(2, 70), random.between(2, 70)};
            form.scaled = random.chance(0.7), form.dropped = random.chance(0.5);
            form.by_position = random.chance(0.5), form.shared_keys = random.chance(0.3);
            form.multiplied = random.chance(0.3);
            form.hides = static_cast<Form::Hides>(random.between(0, 2));
            if (random.chance(0.5))
                form.mask = {1, 1, random.chance(0.5) ? form.rows : 1, random.chance(0.8) ? form.keys : 1};
            SCOPED_TRACE(fmt::format("{}: {} rows, {} keys, {} to {}", i, form.rows, form.keys, form.size,
                                     form.columns));
            EXPECT_THAT(check(*device, form, random),
                        testing::Contains(testing::StartsWith("simd:attention_gradient")));
        }
    }
}

TEST(AttentionGradient, HasTheSameBitsOnAnyNumberOfThreads) {
    Graph graph = step(Form{1, 4, 55, 70, 32, 40});
    Random random(7);
    const std::vector<Tensor> inputs = inputs_of(graph, random);
    ASSERT_TRUE(rewrite::simplify(graph).ok());
    std::vector<std::vector<Tensor>> outputs;
    for (const int threads : {1, 2, 4}) {
        const auto device = execute::device_with(threads);
        const auto run = run_greedily(*device, graph, inputs);
        ASSERT_TRUE(run.ok()) << run.error().text();
        EXPECT_THAT(run->kernels, testing::Contains(testing::Pair(
                                      "AttentionGrad", testing::StartsWith("simd:attention_gradient"))));
        outputs.push_back(run->outputs);
    }
    for (std::size_t i = 0; i < outputs[0].size(); ++i)
        for (const auto& others : {outputs[1], outputs[2]})
            EXPECT_TRUE(outputs[0][i].same_bytes(others[i])) << "output " << i;
}

// More keys than a block of scores has room for, so that blocks of queries become smaller.
TEST(AttentionGradient, OfManyKeys) {
    Random random(2);
    const auto device = execute::device_with(2);
    Form form{1, 2, 70, 3000, 16, 24};
    form.dropped = true;
    check(*device, form, random);
}

// The probabilities are an output, so they are kept anyway.
TEST(AttentionGradient, IsNotMadeWhereProbabilitiesAreKept) {
    Graph graph = step(Form());
    std::vector<ValueId> outputs(graph.outputs().begin(), graph.outputs().end());
    for (const graph::NodeId id : graph.nodes())
        if (graph.node(id).op == op::Softmax) outputs.push_back(graph.node(id).outputs[0]);
    graph.set_outputs(std::move(outputs));
    ASSERT_TRUE(rewrite::simplify(graph).ok());
    EXPECT_FALSE(has_node(graph, op::AttentionGrad));
}

}  // namespace
}  // namespace viridian::train
