// Products of matrices that both change from run to run, in f32 and in bf16.
#include "viridian/execute/cpu/simd/bf16/tiles.hpp"

#include <hwy/targets.h>
#include "tests/execute/every_choice.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

std::ptrdiff_t contractions(const std::vector<std::string>& kernels) {
    return std::ranges::count(kernels, "simd:contract");
}

// Tolerance for a result and a residual that are each rounded to bf16 once.
constexpr double bf16_result = 2.5e-3;

// A row to add, a residual, and an activation, each in half of the graphs.
ValueId epilogue(Graph& graph, ValueId y, std::int64_t n, Random& random) {
    if (random.chance(0.5))
        y = graph.add("Add", {y, random.chance(0.5) ? graph.add_input("row", f32({n}))
                                                    : graph.add_constant("row", random_tensor(random, {n}))});
    if (random.chance(0.5)) {
        EXPECT_TRUE(infer_types(graph).ok());
        y = graph.add("Add", {y, graph.add_input("residual", graph.value(y).type)});
    }
    if (random.chance(0.5)) y = graph.add(random.chance(0.5) ? "Relu" : "Tanh", {y});
    return y;
}

// A product of two inputs, each as it is or transposed, with an epilogue. Its extents are below and above a
// tile and a slice, and `k` is below and above a pass, up to `deepest`.
struct RandomProduct {
    Graph graph;
    std::int64_t k;

    RandomProduct(Random& random, std::int64_t deepest)
        : k(random.chance(0.4) ? random.between(380, deepest) : random.between(1, 90)) {
        const auto m = random.between(64, 260), n = random.between(64, 200);
        const bool ta = random.chance(0.5), tb = random.chance(0.5);
        std::vector<ValueId> inputs = {graph.add_input("x", f32(ta ? Dims{k, m} : Dims{m, k})),
                                       graph.add_input("w", f32(tb ? Dims{n, k} : Dims{k, n}))};
        if (random.chance(0.3)) inputs.push_back(graph.add_input("bias", f32({n})));
        const ValueId y =
            graph.add("Gemm", inputs, {{"transA", std::int64_t{ta}}, {"transB", std::int64_t{tb}}});
        graph.set_outputs({epilogue(graph, y, n, random)});
    }
};

TEST(Contraction, MatricesOfEverySizeAndOrder) {
    Random random(1);
    const auto device = test_device(2);
    for (int i = 0; i < 24; ++i) {
        const RandomProduct product(random, i % 4 == 0 ? 2200 : 900);  // a pass takes 256, 512 or 1024 of K
        const auto kernels = check_region(*device, product.graph, random, 1e-5, {}, "simd:contract");
        EXPECT_EQ(contractions(kernels) % 4, 0) << "both operands as they are and transposed";
        EXPECT_GE(contractions(kernels), 4);
    }
}

// Checks the product of x, as it is and transposed, with a matrix of k × n.
void check_products(int threads, std::int64_t m, std::int64_t k, std::int64_t n, std::uint64_t seed) {
    Random random(seed);
    const auto device = test_device(threads);
    for (const bool transposed : {false, true}) {
        Graph graph;
        const ValueId x = graph.add_input("x", f32(transposed ? Dims{k, m} : Dims{m, k}));
        const ValueId y =
            graph.add("Gemm", {x, graph.add_input("w", f32({k, n}))}, {{"transA", std::int64_t{transposed}}});
        graph.set_outputs({epilogue(graph, y, n, random)});
        EXPECT_FALSE(check_region(*device, graph, random, 1e-5, {}, "simd:contract").empty());
    }
}

// A slice takes up to 1152 rows where the L2 cache has 2 MiB.
TEST(Contraction, SeveralSlicesOfRows) { check_products(1, 1607, 518, 70, 9); }

// With AVX2 the threads then share the whole of A, in two slices of rows, and each packs panels of B.
void check_more_columns_than_rows() { check_products(2, 313, 518, 741, 10); }

TEST(Contraction, MoreColumnsThanRows) { check_more_columns_than_rows(); }

// The code for AVX2 on a processor that has more.
TEST(Contraction, MoreColumnsThanRowsWithAvx2) {
    hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
    hwy::GetChosenTarget().DeInit();
    EXPECT_EQ(cpu::simd::tile_pixels(), 6);
    check_more_columns_than_rows();
    hwy::DisableTargets(0);
    hwy::GetChosenTarget().DeInit();
}

TEST(Contraction, RowsOfABatchByOneMatrix) {
    Random random(2);
    const auto device = test_device(3);
    for (int i = 0; i < 8; ++i) {
        const auto k = random.between(1, 600), n = random.between(64, 150);
        Graph graph;
        const ValueId x = graph.add_input("x", f32({random.between(1, 3), random.between(64, 90), k}));
        const ValueId y = graph.add("MatMul", {x, graph.add_input("w", f32({k, n}))});
        graph.set_outputs({epilogue(graph, y, n, random)});
        const auto kernels = check_region(*device, graph, random, 1e-5, {}, "simd:contract");
        EXPECT_GE(contractions(kernels), 2);
    }
}

TEST(Contraction, BatchesTogetherAndApart) {
    Random random(3);
    for (const int threads : {1, 2, 3}) {
        const auto device = test_device(threads);
        for (int i = 0; i < 6; ++i) {
            const auto b = random.between(1, 3), h = random.between(1, 3), m = random.between(64, 120),
                       k = random.between(1, 70), n = random.between(64, 120);
            Graph graph;
            const bool same_left = random.chance(0.3), same_right = random.chance(0.3);
            const ValueId x = graph.add_input("x", f32({same_left ? 1 : b, h, m, k}));
            const ValueId y = graph.add_input("y", f32({b, same_right ? 1 : h, k, n}));
            graph.set_outputs({graph.add("MatMul", {x, y})});
            const auto kernels = check_region(*device, graph, random, 1e-5, {}, "simd:contract");
            EXPECT_EQ(contractions(kernels), 18) << "three orders of each operand, two of the result";
        }
    }
}

// Inputs are bf16 numbers, all choices read both matrices in bf16, and half of them write bf16: the only
// errors left are the roundings of the result and of a residual.
TEST(Contraction, MatricesInBf16) {
    Random random(6);
    const auto device = bf16_device(2);
    for (int i = 0; i < 12; ++i) {
        const RandomProduct product(random, 2700);  // a pass takes 1024 of K in pairs, 2048 in tiles
        const auto kernels = check_region(*device, product.graph, random, 1e-5, bf16_result, "simd:contract");
        EXPECT_EQ(kernels.size() % 8, 0U)
            << "both operands as they are and transposed, two types of the result";
        EXPECT_GE(kernels.size(), 8U);
        const bool pairs = multiplies_bf16() && product.k % 2 == 0, tiles = pairs && cpu::simd::matrix_unit();
        const auto count = [&](std::string_view kernel) { return std::ranges::count(kernels, kernel); };
        const auto all = static_cast<std::int64_t>(kernels.size());
        EXPECT_EQ(count("simd:contract:tiles"), tiles ? all / 2 : 0) << product.k;
        EXPECT_EQ(count("simd:contract:bf16"), pairs ? all - count("simd:contract:tiles") : 0) << product.k;
        EXPECT_EQ(contractions(kernels), pairs ? 0 : all) << product.k;
    }
}

// Matrices in f32 on the matrix unit, split into two parts in bf16: what is lost is the product of the rests.
TEST(Contraction, SplitMatrices) {
    if (!cpu::simd::matrix_unit()) GTEST_SKIP() << "this processor has no matrix unit (AMX)";
    Random random(11);
    const auto device = bf16_device(2);
    for (int i = 0; i < 12; ++i) {
        const RandomProduct product(random, 1500);  // a pass takes 640 of K
        const auto kernels = check_region(*device, product.graph, random, 3e-5, {}, "simd:contract:bf16x3");
        EXPECT_EQ(kernels.size(), product.k % 2 == 0 ? 4U : 0U) << product.k;
    }
}

// The bias is also the second operand, so one tensor would have to be read in two types.
TEST(Contraction, LeavesABiasThatIsAnOperandToOthers) {
    Random random(8);
    Graph graph;
    const ValueId b = graph.add_input("b", f32({1, 70}));
    graph.set_outputs({graph.add("Add", {graph.add("MatMul", {graph.add_input("a", f32({80, 1})), b}), b})});
    EXPECT_TRUE(check_region(*bf16_device(2), graph, random, 1e-5, bf16_result, "simd:contract").empty());
}

TEST(Contraction, BatchesInBf16) {
    Random random(7);
    for (const int threads : {1, 3}) {
        const auto device = bf16_device(threads);
        for (int i = 0; i < 2; ++i) {
            const auto b = random.between(1, 3), h = random.between(1, 3), m = random.between(64, 120),
                       k = random.between(1, 70), n = random.between(64, 120);
            Graph graph;
            const ValueId x = graph.add_input("x", f32({b, h, m, k}));
            graph.set_outputs({graph.add("MatMul", {x, graph.add_input("y", f32({b, h, k, n}))})});
            const auto kernels = check_region(*device, graph, random, 1e-5, bf16_result, "simd:contract");
            EXPECT_EQ(kernels.size(), cpu::simd::matrix_unit() && k % 2 == 0 ? 72U : 36U)
                << "three orders of each operand, two orders and two types of the result";
        }
    }
}

TEST(Contraction, KeepsNan) {
    Random random(4);
    const auto device = test_device(2);
    Graph graph;
    const ValueId x = graph.add_input("x", f32({70, 20}));
    graph.set_outputs({graph.add("MatMul", {x, graph.add_input("w", f32({20, 70}))})});
    const auto kernels =
        check_region(*device, graph, random, 1e-5, {}, "simd:contract",
                     [](graph::Tensor& tensor) { tensor.mutable_values<float>()[45] = NAN; });
    EXPECT_GE(contractions(kernels), 4);
}

TEST(Contraction, LeavesSmallAndConstantMatricesToOthers) {
    Random random(5);
    const auto device = test_device(2);
    const auto offered = [&](std::int64_t m, bool constant) {
        Graph graph;
        const ValueId x = graph.add_input("x", f32({m, 64}));
        const ValueId w = constant ? graph.add_constant("w", random_tensor(random, {64, 64}))
                                   : graph.add_input("w", f32({64, 64}));
        graph.set_outputs({graph.add("MatMul", {x, w})});
        return contractions(check_region(*device, graph, random, 1e-5));
    };
    EXPECT_GT(offered(64, false), 0);
    EXPECT_EQ(offered(63, false), 0);
    EXPECT_EQ(offered(64, true), 0);
}

}  // namespace
}  // namespace viridian::execute
