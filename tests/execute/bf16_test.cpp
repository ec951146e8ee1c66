// Every kernel that reads or writes bf16, on bf16 numbers, against the reference in f64: what is left is the
// rounding of the result, 2^-9 of each element at most.
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "tests/execute/every_choice.hpp"
#include "viridian/execute/cpu/simd/bf16/scores.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

constexpr double exact = 1e-4;
constexpr double rounded = 2.5e-3;
constexpr double rounded_twice = 4e-3;  // a residual that a kernel rounds before it adds on

class Bf16 : public testing::Test {
  protected:
    void SetUp() override { device_ = bf16_device(2); }
    std::vector<std::string> check(const Graph& graph, double tolerance = rounded) {
        const auto kernels = check_region(*device_, graph, random_, exact, tolerance);
        tried_.insert(tried_.end(), kernels.begin(), kernels.end());
        return kernels;
    }
    ValueId constant(Graph& graph, const Dims& dims) {
        return graph.add_constant("c", random_tensor(random_, dims));
    }
    Random random_{1};
    std::unique_ptr<Device> device_;
    std::vector<std::string> tried_;
};

class Bf16Products : public Bf16 {
  protected:
    void SetUp() override {
        if (!multiplies_bf16()) GTEST_SKIP() << "this processor does not multiply in bf16";
        Bf16::SetUp();
    }
};

TEST_F(Bf16Products, Convolutions) {
    for (int i = 0; i < 12; ++i) {
        const std::int64_t kernel = random_.chance(0.5) ? 1 : 3;
        const bool depthwise = i % 4 == 3;
        const std::int64_t c = i % 5 == 0 ? 3 : 16 * random_.between(1, 3),
                           m = depthwise ? c : random_.between(3, 48);
        Graph graph;
        const ValueId x = graph.add_input("x", f32({random_.between(1, 2), c, 9, 11}));
        std::vector<ValueId> inputs = {x, constant(graph, {m, depthwise ? 1 : c, kernel, kernel})};
        if (random_.chance(0.5)) inputs.push_back(constant(graph, {m}));
        ValueId y = graph.add("Conv", inputs,
                              {{"pads", Dims(4, kernel / 2)},
                               {"strides", Dims(2, random_.between(1, 2))},
                               {"group", depthwise ? c : std::int64_t{1}}});
        if (random_.chance(0.5)) {
            ASSERT_TRUE(infer_types(graph).ok());
            y = graph.add("Add", {y, graph.add_input("r", graph.value(y).type)});
        }
        if (random_.chance(0.7)) y = graph.add("Relu", {y});
        graph.set_outputs({y});
        check(graph, rounded_twice);
    }
    EXPECT_THAT(tried_, testing::Contains(testing::HasSubstr("bf16")));
}

// Kernels beyond every border, with strides and holes, on channels that fill no vector.
TEST_F(Bf16Products, DepthwiseConvolutions) {
    for (int i = 0; i < 60; ++i) {
        const std::int64_t channels[] = {3, 8, 16, 24, 32, 40, 96, 144};
        const std::int64_t c = channels[random_.between(0, 7)], side = i % 3 == 0 ? 5 : 3;
        const Dims kernel =
            i % 5 == 4 ? Dims{random_.between(1, 7), random_.between(2, 7)} : Dims{side, side};
        const bool holes = i % 7 == 6;
        Graph graph;
        const ValueId x = graph.add_input(
            "x", f32({random_.between(1, 2), c, random_.between(13, 20), random_.between(13, 40)}));
        std::vector<ValueId> inputs = {x, constant(graph, {c, 1, kernel[0], kernel[1]})};
        if (random_.chance(0.7)) inputs.push_back(constant(graph, {c}));
        const auto pad = [&](std::size_t axis) { return random_.between(0, kernel[axis] / 2); };
        ValueId y = graph.add("Conv", inputs,
                              {{"pads", Dims{pad(0), pad(1), pad(0), pad(1)}},
                               {"strides", i % 5 == 3 ? Dims{3, 1} : Dims(2, random_.between(1, 2))},
                               {"dilations", Dims(2, holes ? 2 : 1)},
                               {"group", c}});
        if (random_.chance(0.4)) {
            ASSERT_TRUE(infer_types(graph).ok());
            y = graph.add("Add", {y, graph.add_input("r", graph.value(y).type)});
        }
        if (i % 4 == 1) y = graph.add("Relu", {y});
        if (i % 4 == 2)
            y = graph.add("Clip", {y, graph.add_constant("low", graph::Tensor::scalar(-0.5F)),
                                   graph.add_constant("high", graph::Tensor::scalar(0.75F))});
        if (i % 4 == 3) y = graph.add("HardSwish", {y});
        graph.set_outputs({y});
        EXPECT_THAT(check(graph, rounded_twice), testing::Contains("simd:depthwise:pixels")) << i;
    }
    EXPECT_THAT(tried_, testing::Contains("simd:depthwise:channels"));
}

// Pixels between windows are skipped, or a window lies in the padding alone.
TEST_F(Bf16Products, WindowsApartAndInThePadding) {
    for (const auto& [kernel, strides, pads] :
         std::vector<std::tuple<Dims, Dims, Dims>>{{{1, 7}, {2, 2}, {0, 7, 0, 4}},
                                                   {{1, 7}, {3, 2}, {0, 0, 0, 0}},
                                                   {{2, 3}, {3, 3}, {0, 0, 0, 0}},
                                                   {{3, 3}, {1, 1}, {3, 3, 0, 3}},
                                                   {{1, 1}, {2, 2}, {0, 0, 0, 0}},
                                                   {{1, 1}, {1, 1}, {1, 1, 1, 1}}})
        for (const Dims& channels : {Dims{58, 35}, Dims{94, 1}, Dims{64, 64}}) {
            Graph graph;
            graph.set_outputs({graph.add("Conv",
                                         {graph.add_input("x", f32({1, channels[0], 17, 33})),
                                          constant(graph, {channels[1], channels[0], kernel[0], kernel[1]})},
                                         {{"strides", strides}, {"pads", pads}})});
            EXPECT_FALSE(check(graph, rounded_twice).empty());
        }
}

// oneDNN's kernels on products read channels in pairs, and with them a number that lies behind the last
// pixel.
TEST_F(Bf16Products, OddNumbersOfChannelsAreNotReadInPairs) {
    for (const std::int64_t kernel : {1, 3}) {
        Graph graph;
        graph.set_outputs({graph.add("Conv", {graph.add_input("x", f32({1, 33, 17, 17})),
                                              constant(graph, {16, 33, kernel, kernel})})});
        EXPECT_THAT(check(graph, rounded_twice), testing::Each(testing::Not(testing::HasSubstr("brgconv"))));
    }
}

// Squares and lines, of images no tile fits, several at once, with residuals and chains.
TEST_F(Bf16Products, Winograd) {
    for (const Dims& kernel : {Dims{3, 3}, Dims{1, 3}, Dims{5, 1}, Dims{1, 7}, Dims{7, 1}})
        for (int i = 0; i < 6; ++i) {
            const bool padded = random_.chance(0.7), chained = i == 4;
            const std::int64_t c = random_.between(8, 70), m = chained ? 80 : random_.between(60, 80);
            const Dims pads = {kernel[0] / 2, kernel[1] / 2, kernel[0] / 2, kernel[1] / 2};
            Graph graph;
            const ValueId x = graph.add_input(
                "x", f32({random_.between(1, 2), c, random_.between(7, 20), random_.between(7, 20)}));
            ValueId y =
                graph.add("Conv", {x, constant(graph, {m, c, kernel[0], kernel[1]}), constant(graph, {m})},
                          {{"pads", padded ? pads : Dims(4, 0)}});
            if (i % 2 == 1) {
                ASSERT_TRUE(infer_types(graph).ok());
                y = graph.add("Add", {y, graph.add_input("r", graph.value(y).type)});
            }
            if (i >= 2) y = graph.add(chained ? "Sigmoid" : "Relu", {y});
            graph.set_outputs({y});
            const auto kernels = check(graph);
            const bool square = kernel[0] == kernel[1];
            for (const int results : {2, 4})
                EXPECT_THAT(kernels, testing::Contains(fmt::format("simd:winograd:bf16:{}{}x{}:pixels",
                                                                   square ? "" : "line:", results,
                                                                   std::max(kernel[0], kernel[1]))));
        }
}

TEST_F(Bf16Products, Products) {
    for (int i = 0; i < 12; ++i) {
        const auto m = random_.between(1, i < 6 ? 20 : 300), k = random_.between(1, 70),
                   n = random_.between(1, i < 6 ? 70 : 300);
        Graph graph;
        ValueId y{};
        if (i % 3 == 0)
            y = graph.add("Gemm",
                          {graph.add_input("x", f32({m, k})), constant(graph, {n, k}), constant(graph, {n})},
                          {{"transB", std::int64_t{1}}});
        if (i % 3 == 1)
            y = graph.add("MatMul", {graph.add_input("x", f32({2, m, k})), constant(graph, {k, n})});
        if (i % 3 == 2)
            y = graph.add("MatMul",
                          {graph.add_input("x", f32({2, 3, m, k})), graph.add_input("y", f32({2, 3, k, n}))});
        if (i % 3 != 2 && random_.chance(0.5)) {
            ASSERT_TRUE(infer_types(graph).ok());
            y = graph.add("Add", {y, graph.add_input("r", graph.value(y).type)});
        }
        if (i % 3 != 2 && random_.chance(0.5)) y = graph.add("Gelu", {y});
        graph.set_outputs({y});
        EXPECT_FALSE(check(graph, rounded_twice).empty());
    }
    for (const auto* kernel : {"simd:bf16_matmul:columns", "simd:bf16_matmul:rows"})
        EXPECT_THAT(tried_, testing::Contains(kernel));
}

TEST_F(Bf16, ElementwiseChains) {
    for (int i = 0; i < 24; ++i) {
        const Dims dims = i % 2 == 0 ? Dims{2, 16, 5, 7} : Dims{3, random_.between(1, 2500)};
        Graph graph;
        const ValueId x = graph.add_input("x", f32(dims));
        ValueId y = random_.chance(0.5) ? graph.add("Add", {x, graph.add_input("r", f32(dims))})
                                        : graph.add("Mul", {x, constant(graph, Dims(dims.size(), 1))});
        if (random_.chance(0.5)) y = graph.add("Sigmoid", {y});
        if (random_.chance(0.5)) y = graph.add("Mul", {graph.add_input("s", f32(dims)), y});
        graph.set_outputs({y});
        EXPECT_THAT(check(graph), testing::Contains("simd:fused"));
    }
}

TEST_F(Bf16, RowsReadBf16AndComputeInF32) {
    for (const char* op : {"Softmax", "LayerNormalization"}) {
        Graph graph;
        const ValueId x = graph.add_input("x", f32({3, 5, 77}));
        const ValueId sum = graph.add("Add", {x, graph.add_input("r", f32({3, 5, 77}))});
        std::vector<ValueId> inputs = {sum};
        if (*op == 'L') inputs.insert(inputs.end(), {constant(graph, {77}), constant(graph, {77})});
        graph.set_outputs({graph.add(op, inputs)});
        const auto kernels = check(graph);
        EXPECT_THAT(kernels, testing::SizeIs(testing::Ge(3))) << "bf16 in and out, in alone, out alone";
        EXPECT_THAT(kernels, testing::Each("simd:fused"));
    }
    Graph graph;  // along channels: the library's
    graph.set_outputs(
        {graph.add("Softmax", {graph.add_input("x", f32({2, 32, 5, 5}))}, {{"axis", std::int64_t{1}}})});
    check(graph);
}

// Regions of one node (Where, Sub, Sum); operands that broadcast stay in f32.
TEST_F(Bf16, ElementwiseNodes) {
    for (int i = 0; i < 16; ++i) {
        const Dims dims = i % 2 == 0 ? Dims{2, 5, 77} : Dims{3, random_.between(1, 2500)};
        Graph graph;
        const ValueId x = graph.add_input("x", f32(dims));
        const ValueId row = graph.add_input("row", f32({dims.back()}));
        const ValueId flags = graph.add_input("flags", {graph::ElementType::boolean, graph::shape_of(dims)});
        const auto node = [&] {
            if (i % 4 == 0) return graph.add("Where", {flags, x, graph.add_input("other", f32(dims))});
            if (i % 4 == 1) return graph.add("Where", {flags, x, constant(graph, {})});
            if (i % 4 == 2) return graph.add("Sub", {row, x});
            return graph.add("Sum", {x, row, graph.add_input("other", f32(dims))});
        };
        graph.set_outputs({node()});
        EXPECT_THAT(check(graph), testing::Contains("simd:typed")) << i;
    }
}

TEST_F(Bf16, ReductionsReadBf16) {
    for (const Dims& axes : {Dims{0, 1}, Dims{1, 2}, Dims{2}, Dims{1}, Dims{}})
        for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMean"}) {
            Graph graph;
            const ValueId of = graph.add_constant(
                "axes", graph::Tensor::i64({static_cast<std::int64_t>(axes.size())}, axes));
            graph.set_outputs({graph.add(op, {graph.add_input("x", f32({3, 7, 530})), of})});
            const auto kernels = check(graph);
            EXPECT_THAT(kernels, testing::Contains("simd:reduce")) << op;
            EXPECT_THAT(kernels, testing::Each(testing::AnyOf("simd:reduce", "simd:fused",
                                                              testing::StartsWith("dnnl:pool:"))))
                << op;
        }
}

TEST_F(Bf16, Movement) {
    const auto moved = [&](const char* op, graph::Attributes attributes,
                           std::vector<graph::Tensor> parameters) {
        Graph graph;
        std::vector<ValueId> inputs = {graph.add_input("x", f32({2, 32, 6, 6}))};
        for (auto& tensor : parameters) inputs.push_back(graph.add_constant("p", std::move(tensor)));
        graph.set_outputs({graph.add(op, inputs, std::move(attributes))});
        // What was a bf16 number stays one.
        EXPECT_FALSE(check_region(*device_, graph, random_, exact, 0.0).empty()) << op;
    };
    const auto integers = [](std::vector<std::int64_t> list) {
        return graph::Tensor::i64({static_cast<std::int64_t>(list.size())}, list);
    };
    moved("Transpose", {{"perm", Dims{0, 2, 3, 1}}}, {});
    moved("Reshape", {}, {integers({2, -1})});
    moved("Slice", {}, {integers({3}), integers({9}), integers({1})});
    moved("Pad", {}, {integers({0, 0, 1, 1, 0, 0, 2, 0}), graph::Tensor::scalar(-1.5F)});
    moved("DepthToSpace", {{"blocksize", std::int64_t{2}}}, {});
    Graph graph;
    graph.set_outputs({graph.add(
        "Concat", {graph.add_input("x", f32({1, 16, 3, 3})), graph.add_input("y", f32({1, 32, 3, 3}))},
        {{"axis", std::int64_t{1}}})});
    EXPECT_FALSE(check_region(*device_, graph, random_, exact, 0.0).empty());
}

TEST_F(Bf16, DeniedOperatorsAreNotOffered) {
    for (const char* op : {"Exp", "Floor"}) {
        Graph graph;
        graph.set_outputs({graph.add(op, {graph.add_input("x", f32({4, 64}))})});
        EXPECT_THAT(check(graph), testing::IsEmpty()) << op;
    }
    Graph graph;  // a chain may read bf16 before a denied operator, not write what that made
    const ValueId sum = graph.add("Add", {graph.add_input("x", f32({4, 64})), constant(graph, {64})});
    graph.set_outputs({graph.add("Exp", {sum})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto choices = device_->choices(graph, plan::make_region(graph, graph::uses(graph), graph.nodes()));
    ASSERT_TRUE(choices.ok());
    bool reads = false;
    for (const plan::Choice& choice : *choices) {
        EXPECT_EQ(choice.outputs[0].element, graph::ElementType::f32) << choice.key();
        reads = reads || choice.inputs[0].element == graph::ElementType::bf16;
    }
    EXPECT_TRUE(reads);
}

TEST(Bf16Conversions, RoundedRowsKeepTheirSums) {
    Random random(8);
    constexpr std::int64_t rows = 5, blocks = 40;
    std::vector<float> x(rows * blocks * 16);
    for (float& value : x) {
        value = static_cast<float>(random.uniform(1, 2));  // a unit of bf16 is 1/128
        if (random.chance(0.2)) value = 0;                 // as a score that is hidden
        if (random.chance(0.2)) value *= 1e-4F;
    }
    x[2 * 16 + 3] = INFINITY;  // row 2, lane 3, first block
    std::vector<float> rounded = x;
    cpu::simd::round_rows(rounded.data(), rows, blocks);
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t lane = 0; lane < 16; ++lane) {
            double lost = 0;
            for (std::int64_t b = 0; b < blocks; ++b) {
                const auto at = static_cast<std::size_t>((b * rows + r) * 16 + lane);
                EXPECT_EQ(rounded[at], graph::from_bfloat16(graph::to_bfloat16(rounded[at])));
                if (std::isinf(x[at])) {
                    EXPECT_EQ(rounded[at], x[at]);
                    continue;
                }
                EXPECT_LE(std::abs(rounded[at] - x[at]), 1.5 / 128 * std::abs(x[at]));
                lost += static_cast<double>(x[at] - rounded[at]);
            }
            EXPECT_LE(std::abs(lost), 1.0 / 64) << r << " " << lane;
        }
}

// Scores that are packed for attention's gradient are those that round_rows() makes, in other orders.
TEST_F(Bf16Products, ScoresArePacked) {
    constexpr std::int64_t rows = 6;
    for (const std::int64_t keys : {5, 16, 40, 90}) {
        const cpu::simd::Groups groups{keys, 2};
        std::vector<float> x(static_cast<std::size_t>(groups.blocks() * rows * 16));
        for (float& value : x) value = random_.chance(0.2) ? 0 : static_cast<float>(random_.uniform(-1, 1));
        for (const bool keeps_sums : {true, false}) {
            std::vector<float> rounded = x;
            if (keeps_sums) cpu::simd::round_rows(rounded.data(), rows, groups.blocks());
            std::vector<std::uint16_t> expected(x.size()), pixels(x.size()), weights(x.size());
            cpu::simd::narrow(rounded.data(), expected.data(), static_cast<std::int64_t>(x.size()));
            cpu::simd::narrow_scores({x.data(), rows, groups, keeps_sums, weights.data(), pixels.data()});
            EXPECT_EQ(pixels, expected);
            std::size_t at = 0;
            for (std::int64_t g = 0; g < groups.count(); ++g)
                for (std::int64_t r = 0; r < rows; r += 2)
                    for (std::int64_t b = 2 * g; b < 2 * g + groups.width(g); ++b)
                        for (std::int64_t i = 0; i < 32; ++i)
                            EXPECT_EQ(
                                weights[at++],
                                expected[static_cast<std::size_t>((b * rows + r + i % 2) * 16 + i / 2)]);
        }
    }
}

TEST(Bf16Kernels, AreOfferedOnlyWhereAllowed) {
    const auto device = test_device();
    Graph graph;
    graph.set_outputs({graph.add("Relu", {graph.add_input("x", f32({4, 64}))})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    const auto choices = device->choices(graph, region);
    ASSERT_TRUE(choices.ok());
    for (const plan::Choice& choice : *choices)
        EXPECT_FALSE(plan::rounds(graph, region, choice)) << choice.key();
}

}  // namespace
}  // namespace viridian::execute
