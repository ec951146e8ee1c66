#include "tests/execute/every_choice.hpp"
#include "viridian/base/system/machine.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

TEST(Matrix, GemmAndConstantMatMul) {
    Random random(1);
    const auto device = test_device(2);
    for (int i = 0; i < 16; ++i) {
        const auto m = random.chance(0.4) ? 1 : random.between(1, 40);
        const auto k = random.between(1, 70), n = random.between(1, 70);
        Graph graph;
        const bool gemm = random.chance(0.5);
        ValueId y{};
        if (gemm) {
            const bool ta = random.chance(0.3), tb = random.chance(0.5);
            const ValueId x = graph.add_input("x", f32(ta ? Dims{k, m} : Dims{m, k}));
            std::vector<ValueId> inputs = {
                x, graph.add_constant("w", random_tensor(random, tb ? Dims{n, k} : Dims{k, n}))};
            if (random.chance(0.6)) inputs.push_back(graph.add_constant("b", random_tensor(random, {n})));
            y = graph.add("Gemm", inputs, {{"transA", std::int64_t{ta}}, {"transB", std::int64_t{tb}}});
        } else {
            const ValueId x = graph.add_input("x", f32({2, m, k}));
            y = graph.add("MatMul", {x, graph.add_constant("w", random_tensor(random, {k, n}))});
        }
        if (random.chance(0.6))
            y = graph.add("Add", {y, graph.add_constant("c", random_tensor(random, {n}))});
        if (random.chance(0.5)) {
            ASSERT_TRUE(infer_types(graph).ok());
            y = graph.add("Add", {y, graph.add_input("r", graph.value(y).type)});
        }
        if (random.chance(0.5))
            y = random.chance(0.5) ? graph.add("Relu", {y})
                                   : graph.add("Mul", {y, graph.add("Sigmoid", {y})});
        graph.set_outputs({y});
        check_region(*device, graph, random, 1e-5);
    }
}

TEST(Matrix, BatchedInEveryOrder) {
    Random random(2);
    const auto device = test_device(2);
    for (int i = 0; i < 6; ++i) {
        const auto b = random.between(1, 2), h = random.between(1, 3), m = random.between(1, 20),
                   k = random.between(1, 20), n = random.between(1, 20);
        Graph graph;
        const ValueId x = graph.add_input("x", f32({b, h, m, k}));
        const ValueId y = graph.add_input("y", f32({b, h, k, n}));
        ValueId z = graph.add("MatMul", {x, y});
        if (i % 2 == 0) z = graph.add("Div", {z, graph.add_constant("d", graph::Tensor::scalar(8.0F))});
        graph.set_outputs({z});
        const auto kernels = check_region(*device, graph, random, 1e-5);
        EXPECT_GE(kernels.size(), 12U);
    }
}

// Several chunks of K, halves that no tile divides, every epilogue.
// Rows that fill a core's second cache pass in chunks.
TEST(Matrix, LongRows) {
    Random random(4);
    const auto device = test_device(2);
    const std::int64_t cache = std::max<std::int64_t>(this_machine().l2.value, 1 << 18);
    for (int i = 0; i < 4; ++i) {
        const std::int64_t m = 130, k = cache / 256 + random.between(1, 40), n = random.between(33, 70);
        Graph graph;
        ValueId y = graph.add("MatMul", {graph.add_input("x", f32({m, k})),
                                         graph.add_constant("w", random_tensor(random, {k, n}))});
        y = graph.add("Add", {y, graph.add_constant("b", random_tensor(random, {n}))});
        if (i % 2 == 1) y = graph.add("Add", {y, graph.add_input("r", f32({m, n}))});
        y = i < 2 ? graph.add("Relu", {y}) : graph.add("Gelu", {y});
        graph.set_outputs({y});
        EXPECT_THAT(check_region(*device, graph, random, 1e-5),
                    testing::IsSupersetOf({"simd:matmul:rows", "simd:matmul:columns"}));
    }
}

TEST(Matrix, StrassensAlgorithm) {
    Random random(3);
    const auto device = test_device(2);
    for (int i = 0; i < 8; ++i) {
        const std::int64_t m = 64 + 2 * random.between(0, 20), n = 64 * random.between(4, 6);
        const std::int64_t k = i < 2 ? 1632 : 32 * random.between(8, 30);
        Graph graph;
        ValueId y{};
        if (i % 2 == 0) {
            y = graph.add(
                "Gemm",
                {graph.add_input("x", f32({m, k})), graph.add_constant("w", random_tensor(random, {n, k})),
                 graph.add_constant("b", random_tensor(random, {n}))},
                {{"transB", std::int64_t{1}}});
        } else {
            y = graph.add("MatMul", {graph.add_input("x", f32({1, m, k})),
                                     graph.add_constant("w", random_tensor(random, {k, n}))});
        }
        if (i >= 4) {
            ASSERT_TRUE(infer_types(graph).ok());
            y = graph.add("Add", {y, graph.add_input("r", graph.value(y).type)});
        }
        if (i % 4 >= 2) y = graph.add(i % 3 == 0 ? "Relu" : "Tanh", {y});
        graph.set_outputs({y});
        EXPECT_THAT(check_region(*device, graph, random, 5e-6), testing::Contains("simd:matmul:strassen"));
    }
}

// What is not finite, or so large that a sum of it overflows, stays in its own row and column.
TEST(Matrix, StrassensAlgorithmKeepsNanAndInfinitiesApart) {
    Random random(5);
    const std::int64_t m = 64, n = 256, k = 512;
    const auto device = test_device(2);
    for (const float odd : {NAN, INFINITY, -INFINITY, 3e38F})
        for (const bool in_weights : {false, true}) {
            SCOPED_TRACE(fmt::format("{} {}", odd, in_weights));
            const auto spoil = [&](graph::Tensor& tensor) {
                tensor.mutable_values<float>()[3 * 256 + 5] = odd;
            };
            graph::Tensor weights = random_tensor(random, {k, n});
            if (in_weights) spoil(weights);
            Graph graph;
            graph.set_outputs(
                {graph.add("MatMul", {graph.add_input("x", f32({m, k})), graph.add_constant("w", weights)})});
            EXPECT_THAT(check_region(*device, graph, random, 1e-5, std::nullopt, "simd:matmul:strassen",
                                     [&](graph::Tensor& source) {
                                         if (!in_weights) spoil(source);
                                     }),
                        testing::ElementsAre("simd:matmul:strassen"));
        }
}

// A row that is much larger than another does not cost the other its digits, which the error of the whole
// result would not show.
TEST(Matrix, StrassensAlgorithmKeepsTheDigitsOfSmallRows) {
    const std::int64_t m = 64, n = 256, k = 512;
    const auto device = test_device(2);
    Random random(7);
    Graph graph;
    graph.set_outputs({graph.add("MatMul", {graph.add_input("x", f32({m, k})),
                                            graph.add_constant("w", random_tensor(random, {k, n}))})});
    ASSERT_TRUE(infer_types(graph).ok());
    const plan::Region region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    const std::vector<plan::Choice> choices = device->choices(graph, region).value();
    const auto strassen = std::ranges::find_if(
        choices, [](const plan::Choice& choice) { return choice.kernel == "simd:matmul:strassen"; });
    ASSERT_NE(strassen, choices.end());
    for (const float factor : {1.0F, 30.0F, 1e3F, 1e6F, 0.0F}) {
        SCOPED_TRACE(factor);
        graph::Tensor input = random_tensor(random, {m, k});
        for (std::int64_t i = 0; i < k; ++i)
            input.mutable_values<float>()[static_cast<std::size_t>(3 * k + i)] *= factor;
        const std::vector<graph::Tensor> exact = graph::evaluate(graph, {input}).value();
        const auto c = static_cast<std::size_t>(strassen - choices.begin());
        const std::vector<graph::Tensor> outputs = run_choice(*device, graph, region, c, {input});
        for (std::int64_t r = 0; r < m; ++r) {
            double error = 0, size = 0;
            for (std::int64_t i = 0; i < n; ++i) {
                const auto at = static_cast<std::size_t>(r * n + i);
                const double value = exact[0].values<float>()[at];
                error = std::max(error, std::abs(outputs[0].values<float>()[at] - value));
                size = std::max(size, std::abs(value));
            }
            EXPECT_LE(error, 1e-4 * size) << "row " << r;
        }
    }
}

TEST(Matrix, ExactArithmeticLeavesOutWhatMultipliesLess) {
    Random random(6);
    auto device =
        make_cpu_device({.threads = 1, .pin = false, .allowances = {.winograd = false, .strassen = false}});
    ASSERT_TRUE(device.ok());
    Graph graph;
    graph.set_outputs({graph.add("MatMul", {graph.add_input("x", f32({64, 512})),
                                            graph.add_constant("w", random_tensor(random, {512, 256}))})});
    EXPECT_THAT(check_region(**device, graph, random, 1e-6),
                testing::Not(testing::Contains("simd:matmul:strassen")));
    Graph image;
    image.set_outputs({image.add("Conv", {image.add_input("x", f32({1, 32, 28, 28})),
                                          image.add_constant("w", random_tensor(random, {64, 32, 3, 3}))})});
    for (const std::string& kernel : check_region(**device, image, random, 1e-6))
        EXPECT_THAT(kernel, testing::Not(testing::HasSubstr("wino")));
}

}  // namespace
}  // namespace viridian::execute
