#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

Dims random_dims(Random& random) {
    Dims dims;
    const auto rank = random.between(1, 4);
    for (std::int64_t i = 0; i < rank; ++i) dims.push_back(random.between(1, 9));
    if (rank > 2 && random.chance(0.5)) dims[1] = 16 * random.between(1, 3);
    if (random.chance(0.2)) dims.back() = random.between(500, 2500);
    return dims;
}

// Dims that broadcast into `dims`.
Dims smaller(const Dims& dims, Random& random) {
    Dims own = dims;
    for (auto& d : own)
        if (random.chance(0.4)) d = 1;
    if (random.chance(0.3))
        own.erase(own.begin(), own.begin() + random.between(0, static_cast<std::int64_t>(own.size())));
    return own;
}

TEST(Elementwise, ChainsWithBroadcastOperands) {
    Random random(1);
    const auto device = test_device(2);
    constexpr std::array functions = {"Relu",      "Sigmoid",  "Tanh", "Elu", "HardSigmoid",
                                      "HardSwish", "Softplus", "Exp",  "Erf", "LeakyRelu",
                                      "Neg",       "Abs",      "Gelu"};
    constexpr std::array operations = {"Add", "Sub", "Mul", "Div", "Min", "Max"};
    std::size_t fast = 0;
    for (int i = 0; i < 60; ++i) {
        const Dims dims = random_dims(random);
        Graph graph;
        ValueId x = graph.add_input("x", f32(dims));
        const auto length = random.between(1, 4);
        for (std::int64_t k = 0; k < length; ++k) {
            if (random.chance(0.4)) {
                x = graph.add(functions[random.below(functions.size())], {x});
                continue;
            }
            const auto op = operations[random.below(operations.size())];
            const Dims own = random.chance(0.3) ? dims : smaller(dims, random);
            graph::Tensor tensor = random_tensor(random, own);
            for (float& value : tensor.mutable_values<float>()) value = std::abs(value) + 0.5F;
            const bool constant = op == std::string_view("Div") || random.chance(0.6);
            const ValueId other = constant ? graph.add_constant("c", tensor) : graph.add_input("y", f32(own));
            x = constant && random.chance(0.3) && op != std::string_view("Div") ? graph.add(op, {other, x})
                                                                                : graph.add(op, {x, other});
        }
        graph.set_outputs({x});
        const auto kernels = check_region(*device, graph, random, 2e-6);
        fast += std::ranges::count(kernels, "simd:fused") > 0 ? 1 : 0;
    }
    EXPECT_GT(fast, 50U);
}

TEST(Elementwise, FunctionsOverTheWholeLine) {
    const auto device = test_device();
    std::vector<float> points = {0,     -0.0F, 1,    -1,    INFINITY, -INFINITY, NAN,   1e-30F, -1e-7F,
                                 88,    -88,   100,  -100,  1e4F,     1e5F,      -3e6F, 3e38F,  0.5F,
                                 -0.5F, 2.5F,  1.5F, -1.5F, 1e-20F,   0.99999F,  1.57F, 30000,  -29999.5F};
    for (float x = -12; x < 12; x += 0.037F) points.push_back(x);
    const auto count = static_cast<std::int64_t>(points.size());
    for (const std::string_view op : {"Sign",     "Floor", "Ceil",   "Round",     "ThresholdedRelu",
                                      "Selu",     "Celu",  "Shrink", "Softsign",  "Swish",
                                      "Mish",     "Sin",   "Cos",    "Tan",       "Asin",
                                      "Acos",     "Atan",  "Sinh",   "Cosh",      "Asinh",
                                      "Acosh",    "Atanh", "Abs",    "Neg",       "Relu",
                                      "Sqrt",     "Exp",   "Log",    "Erf",       "Tanh",
                                      "Softplus", "Gelu",  "Elu",    "Reciprocal"}) {
        Graph graph;
        graph.set_outputs({graph.add(std::string(op), {graph.add_input("x", f32({count}))})});
        ASSERT_TRUE(infer_types(graph).ok());
        const std::vector<graph::Tensor> inputs = {graph::Tensor::f32({count}, points)};
        const auto run = run_greedily(*device, graph, inputs);
        ASSERT_TRUE(run.ok()) << run.error().text();
        EXPECT_EQ(run->kernels[0].second, "simd:fused") << op;
        const auto expected = evaluate(graph, inputs);
        for (std::int64_t i = 0; i < count; ++i) {
            const double have = run->outputs[0].number(i), want = (*expected)[0].number(i);
            if (have == want || (std::isnan(have) && std::isnan(want))) continue;
            EXPECT_LE(std::abs(have - want), 2e-6 * std::max(1.0, std::abs(want)))
                << op << "(" << points[static_cast<std::size_t>(i)] << ")";
        }
    }
}

TEST(Elementwise, GatesAreOneStep) {
    Random random(5);
    const auto device = test_device(2);
    for (const int kind : {0, 1, 2})
        for (const std::int64_t channels : {32, 33}) {  // blocks of 16 with and without padding
            Graph graph;
            const ValueId x = graph.add_input("x", f32({1, channels, 5, 5}));
            ValueId gate = x;
            if (kind == 1)
                gate = graph.add("Mul", {graph.add_constant("a", graph::Tensor::scalar(-0.7F)), gate});
            if (kind == 2) gate = graph.add("Softplus", {gate});
            gate = graph.add(kind == 2 ? "Tanh" : "Sigmoid", {gate});
            const ValueId product = graph.add("Mul", {gate, x});
            graph.set_outputs({graph.add("Add", {product, graph.add_input("y", f32({1, channels, 5, 5}))})});
            const auto kernels = check_region(*device, graph, random, 2e-6);
            EXPECT_GE(std::ranges::count(kernels, "simd:fused"), 4);
        }
}

// What a gate reads twice, somebody else may read too: three kernels, the same numbers.
TEST(Elementwise, GatesThatOthersRead) {
    Random random(6);
    const auto device = test_device(2);
    Graph graph;
    const ValueId x = graph.add_input("x", f32({1, 32, 5, 5}));
    const ValueId y = graph.add("Add", {x, graph.add_constant("c", graph::Tensor::scalar(0.5F))});
    const ValueId gate = graph.add("Sigmoid", {y});
    graph.set_outputs({graph.add("Mul", {y, gate}), graph.add("Neg", {gate})});
    ASSERT_TRUE(infer_types(graph).ok());
    // No chain, but a region of rows with two results.
    EXPECT_THAT(check_region(*device, graph, random, 1e-6), testing::ElementsAre("simd:fused"));
    const auto inputs = random_inputs(graph, random);
    const auto run = run_greedily(*device, graph, inputs);
    ASSERT_TRUE(run.ok()) << run.error().text();
    const auto expected = evaluate(graph, inputs);
    for (const std::size_t i : {0, 1}) EXPECT_LE(distance(run->outputs[i], (*expected)[i]), 1e-6);
}

TEST(Elementwise, KeepsNaN) {
    Random random(2);
    const auto device = test_device();
    for (const std::string_view op :
         {"Relu", "Sigmoid", "Tanh", "Elu", "Exp", "Erf", "Gelu", "HardSwish", "Softmax"}) {
        Graph graph;
        graph.set_outputs({graph.add(std::string(op), {graph.add_input("x", f32({1, 33}))})});
        ASSERT_TRUE(infer_types(graph).ok());
        std::vector<graph::Tensor> inputs = {random_tensor(random, {1, 33})};
        inputs[0].mutable_values<float>()[5] = NAN;
        inputs[0].mutable_values<float>()[32] = NAN;
        const auto run = run_greedily(*device, graph, inputs);
        ASSERT_TRUE(run.ok()) << run.error().text();
        EXPECT_TRUE(std::isnan(run->outputs[0].values<float>()[5])) << op;
        EXPECT_TRUE(std::isnan(run->outputs[0].values<float>()[32])) << op;
        EXPECT_EQ(std::isnan(run->outputs[0].values<float>()[6]), op == "Softmax") << op;
    }
}

TEST(Elementwise, ExtremeArguments) {
    const auto device = test_device();
    for (const std::string_view op : {"Sigmoid", "Tanh", "Exp", "Erf", "Gelu", "Softplus", "Elu"}) {
        Graph graph;
        graph.set_outputs({graph.add(std::string(op), {graph.add_input("x", f32({8}))})});
        ASSERT_TRUE(infer_types(graph).ok());
        const std::vector<float> values = {-1e30F, -120, -88, -1e-20F, 0, 20, 85, 100};
        const std::vector<graph::Tensor> inputs = {graph::Tensor::f32({8}, values)};
        const auto expected = evaluate(graph, inputs);
        const auto run = run_greedily(*device, graph, inputs);
        ASSERT_TRUE(run.ok() && expected.ok());
        for (std::size_t i = 0; i < 8; ++i) {
            const double a = run->outputs[0].values<float>()[i], b = (*expected)[0].values<float>()[i];
            if (a == b) continue;
            EXPECT_LE(std::abs(a - b), 1e-6 * std::abs(b) + 1e-30) << op << " of " << values[i];
        }
    }
}

TEST(Rows, SoftmaxAndLayerNormWithTheirNeighbours) {
    Random random(3);
    const auto device = test_device(2);
    for (int i = 0; i < 30; ++i) {
        const Dims dims = {random.between(1, 3), random.between(1, 20),
                           random.chance(0.2) ? 1000 : random.between(1, 70)};
        Graph graph;
        ValueId x = graph.add_input("x", f32(dims));
        const ValueId other =
            graph.add_input("y", f32(random.chance(0.5) ? dims : Dims{dims[0], 1, dims[2]}));
        if (random.chance(0.6)) x = graph.add("Add", {x, other});
        const auto kind = random.below(3);
        if (kind < 2) {
            if (random.chance(0.5))
                x = graph.add("Div", {x, graph.add_constant("d", graph::Tensor::scalar(8.0F))});
            x = graph.add(kind == 0 ? "Softmax" : "LogSoftmax", {x}, {{"axis", std::int64_t{-1}}});
        } else {
            x = graph.add("LayerNormalization",
                          {x, graph.add_constant("s", random_tensor(random, {dims[2]})),
                           graph.add_constant("b", random_tensor(random, {dims[2]}))},
                          {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5}});
        }
        if (random.chance(0.3)) x = graph.add("Relu", {x});
        graph.set_outputs({x});
        const auto kernels = check_region(*device, graph, random, 2e-5);
        EXPECT_THAT(kernels, testing::Contains("simd:fused"));
    }
}

TEST(Gather, RowsAndItsErrors) {
    Random random(4);
    const auto device = test_device();
    Graph graph;
    const ValueId table = graph.add_constant("table", random_tensor(random, {7, 3, 5}));
    const ValueId ids = graph.add_input("ids", {graph::ElementType::i64, graph::shape_of({2, 2})});
    graph.set_outputs({graph.add("Gather", {table, ids}, {{"axis", std::int64_t{1}}})});
    ASSERT_TRUE(infer_types(graph).ok());
    std::vector<graph::Tensor> inputs = {
        graph::Tensor::i64({2, 2}, std::array<std::int64_t, 4>{0, 2, -1, 1})};
    const auto run = run_greedily(*device, graph, inputs);
    ASSERT_TRUE(run.ok());
    EXPECT_EQ(run->kernels[0].second, "gather");
    EXPECT_EQ(distance(run->outputs[0], (*evaluate(graph, inputs))[0]), 0);
    inputs = {graph::Tensor::i64({2, 2}, std::array<std::int64_t, 4>{0, 2, 3, 1})};
    const auto failed = run_greedily(*device, graph, inputs);
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace viridian::execute
