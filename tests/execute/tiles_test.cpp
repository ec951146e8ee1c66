// Convolutions and products on the matrix unit, of every shape that its tiles do not fit.
#include "viridian/execute/cpu/simd/bf16/tiles.hpp"
#include <fmt/ranges.h>

#include "tests/execute/every_choice.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

constexpr double exact = 1e-4, rounded_twice = 4e-3;

class Tiles : public testing::TestWithParam<int> {
  protected:
    void SetUp() override {
        if (!cpu::simd::matrix_unit()) GTEST_SKIP() << "this processor has no matrix unit (AMX)";
        device_ = bf16_device(GetParam());
    }
    void TearDown() override {
        if (device_ == nullptr || GetParam() == 1) return;
        for (const char* shared : {":rows", ":(channels|columns)"})
            EXPECT_THAT(tried_, testing::Contains(testing::ContainsRegex(shared)));
    }
    void check(const Graph& graph, const std::function<void(graph::Tensor&)>& change_first = {}) {
        const auto kernels =
            check_region(*device_, graph, random_, exact, rounded_twice, "simd:tile", change_first);
        EXPECT_THAT(kernels, testing::Not(testing::IsEmpty()));
        tried_.insert(tried_.end(), kernels.begin(), kernels.end());
    }
    ValueId constant(Graph& graph, const Dims& dims) {
        return graph.add_constant("c", random_tensor(random_, dims));
    }
    // Nothing, a residual (once also a factor), a clip, a chain, or two of them.
    ValueId followed(Graph& graph, ValueId y, int how) {
        EXPECT_TRUE(infer_types(graph).ok());
        if (how % 3 == 1) {
            const ValueId r = graph.add_input("r", graph.value(y).type);
            y = graph.add("Add", {y, r});
            if (how % 6 == 4) y = graph.add("Mul", {y, r});
        }
        if (how % 4 == 1) y = graph.add("Relu", {y});
        if (how % 4 == 2) y = graph.add("Sigmoid", {y});
        return y;
    }
    Random random_{7};
    std::unique_ptr<Device> device_;
    std::vector<std::string> tried_;
};

TEST_P(Tiles, Convolutions) {
    const std::vector<Dims> kernels = {{1, 1}, {3, 3}, {5, 5}, {7, 7}, {1, 7}, {7, 1}, {2, 3}};
    for (int i = 0; i < 42; ++i) {
        const Dims& kernel = kernels[static_cast<std::size_t>(i) % kernels.size()];
        const bool dilated = i % 5 == 4;
        const std::int64_t dilation_y = dilated ? 2 : 1, dilation_x = dilated ? random_.between(1, 2) : 1;
        const std::int64_t c = i % 6 == 5 ? random_.between(1, 4) : random_.between(5, 100),
                           m = random_.between(1, 100), height = random_.between(8, 24) + 6 * dilation_y,
                           width = random_.between(8, 40) + 6 * dilation_x;
        Graph graph;
        const ValueId x = graph.add_input("x", f32({random_.between(1, 3), c, height, width}));
        std::vector<ValueId> inputs = {x, constant(graph, {m, c, kernel[0], kernel[1]})};
        if (i % 2 == 0) inputs.push_back(constant(graph, {m}));
        const Dims strides = {random_.between(1, 3), random_.between(1, 3)};
        Dims pads(4);
        for (std::size_t side = 0; side < 4; ++side)
            pads[side] = i % 3 == 0 ? 0 : random_.between(0, kernel[side % 2]);
        const ValueId y =
            graph.add("Conv", inputs,
                      {{"pads", pads}, {"strides", strides}, {"dilations", Dims{dilation_y, dilation_x}}});
        SCOPED_TRACE(
            fmt::format("{}: {} channels, {} x {}, kernel {} x {}, strides {} {}, dilations {} {}, pads {}",
                        i, c, height, width, kernel[0], kernel[1], strides[0], strides[1], dilation_y,
                        dilation_x, fmt::join(pads, " ")));
        graph.set_outputs({followed(graph, y, i)});
        check(graph);
    }
}

// Of more than a slice of a thread, of weights that take several passes or do not stay in a cache.
TEST_P(Tiles, LargeConvolutions) {
    for (const auto& [x, w, strides] :
         std::vector<std::tuple<Dims, Dims, Dims>>{{{1, 48, 120, 110}, {40, 48, 3, 3}, {1, 1}},
                                                   {{1, 3, 300, 290}, {32, 3, 3, 3}, {2, 2}},
                                                   {{2, 320, 13, 13}, {96, 320, 3, 3}, {1, 1}},
                                                   {{1, 520, 15, 14}, {600, 520, 1, 1}, {2, 2}},
                                                   {{1, 1100, 9, 9}, {300, 1100, 1, 1}, {1, 1}}})
        for (const int how : {0, 2}) {
            Graph graph;
            const Dims pads(4, w[2] / 2);
            const ValueId y =
                graph.add("Conv", {graph.add_input("x", f32(x)), constant(graph, w), constant(graph, {w[0]})},
                          {{"pads", pads}, {"strides", strides}});
            graph.set_outputs({followed(graph, y, how)});
            check(graph);
        }
}

TEST_P(Tiles, Products) {
    for (int i = 0; i < 24; ++i) {
        const auto m = i % 4 == 3 ? 130 : random_.between(28, 300),
                   k = i % 4 == 3 ? 1024 : random_.between(1, 200), n = random_.between(1, 700);
        Graph graph;
        const ValueId y =
            i % 2 == 0 ? graph.add("Gemm",
                                   {graph.add_input("x", f32({m, k})), constant(graph, {n, k}),
                                    constant(graph, {n})},
                                   {{"transB", std::int64_t{1}}})
                       : graph.add("MatMul", {graph.add_input("x", f32({2, m, k})), constant(graph, {k, n})});
        graph.set_outputs({followed(graph, y, i)});
        check(graph);
    }
}

// What is not finite reaches the results whose receptive field it is in, and no others.
TEST_P(Tiles, WhatIsNotFiniteStaysWhereItIs) {
    for (const float value : {INFINITY, NAN})
        for (const Dims& kernel : {Dims{3, 3}, Dims{1, 1}, Dims{5, 3}})
            for (const std::int64_t c : {3, 17, 40}) {
                Graph graph;
                ValueId y = graph.add("Conv",
                                      {graph.add_input("x", f32({1, c, 14, 15})),
                                       constant(graph, {64, c, kernel[0], kernel[1]})},
                                      {{"strides", Dims{1, c == 17 ? 2 : 1}}});
                if (c == 40) y = graph.add("Relu", {y});
                graph.set_outputs({y});
                check(graph, [&](graph::Tensor& x) {
                    const auto values = x.mutable_values<float>();
                    values[values.size() / 2] = values[7] = value;
                });
            }
}

INSTANTIATE_TEST_SUITE_P(Threads, Tiles, testing::Values(1, 2));

}  // namespace
}  // namespace viridian::execute
