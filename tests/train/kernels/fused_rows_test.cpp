// Kernels that compute several nodes in one pass over rows, against the reference kernels.
#include <gtest/gtest.h>

#include "tests/execute/every_choice.hpp"
#include "viridian/execute/cpu/simd/elementwise/stream.hpp"
#include "viridian/execute/cpu/simd/training/philox.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"

namespace viridian::train {
namespace {

namespace op = graph::op;
using execute::f32;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Node;
using graph::Tensor;
using graph::ValueId;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

constexpr const char* fused = "simd:fused";

// Returns the fused kernels that compute the whole graph, after comparing them with the reference.
std::vector<std::string> check(const Graph& graph, int threads) {
    Random random(3);
    const auto device = execute::test_device(threads);
    return execute::check_region(*device, graph, random, 1e-5, std::nullopt, fused);
}

// Builds a region node by node.
struct Rows {
    explicit Rows(Dims dims) : dims(std::move(dims)) {}

    ValueId input(const char* name) { return graph.add_input(name, f32(dims)); }
    ValueId row(const char* name) {
        return graph.add_constant(name, execute::random_tensor(random, {dims.back()}));
    }
    ValueId number(const char* name, float value) { return graph.add_constant(name, Tensor::scalar(value)); }

    ValueId mask() {
        Node node;
        node.op = op::DropoutMask;
        node.name = "mask";
        node.attributes["stream"] = std::int64_t{7};
        node.inputs = {
            graph.add_constant("seed", Tensor::scalar(std::int64_t{5})),
            graph.add_constant("step", Tensor::scalar(std::int64_t{2})),
            graph.add_constant("first", Tensor::scalar(std::int64_t{9})), number("ratio", 0.3F),
            graph.add_constant("shape", Tensor::i64({static_cast<std::int64_t>(dims.size())}, dims))};
        return graph.node(graph.add_node(std::move(node))).outputs[0];
    }
    ValueId dropped(ValueId x) {
        const ValueId keep = mask();
        masks.push_back(keep);
        return graph.add(op::Where,
                         {keep, graph.add(op::Mul, {x, number("scale", 1.5F)}), number("zero", 0)});
    }
    // y, mean, inverse deviation
    std::vector<ValueId> normalized(ValueId x) {
        Node node;
        node.op = op::LayerNormalization;
        node.name = "norm";
        node.inputs = {x, row("norm.scale"), row("norm.shift")};
        return graph.node(graph.add_node(std::move(node), 3)).outputs;
    }

    Dims dims;
    Graph graph;
    Random random{17};
    std::vector<ValueId> masks;
};

// SUBSTATION's bdrln: bias, dropout, residual connection and layer normalisation.
Graph bias_dropout_residual_norm(const Dims& dims, bool all_outputs) {
    Rows rows(dims);
    const ValueId x = rows.input("x"), residual = rows.input("residual");
    const ValueId biased = rows.graph.add(op::Add, {rows.row("bias"), x});
    const ValueId sum = rows.graph.add(op::Add, {rows.dropped(biased), residual});
    const std::vector<ValueId> norm = rows.normalized(sum);
    if (all_outputs)
        rows.graph.set_outputs({sum, norm[0], norm[1], norm[2], rows.masks[0]});
    else
        rows.graph.set_outputs({norm[0]});
    return rows.graph;
}

TEST(FusedRows, ResidualsAndNormalisationsWithTheirMasks) {
    for (const int threads : {1, 3})
        for (const Dims& dims : {Dims{2, 3, 20}, Dims{4, 37, 64}, Dims{1, 1, 4}, Dims{9, 1024}})
            for (const bool all : {true, false})
                EXPECT_THAT(check(bias_dropout_residual_norm(dims, all), threads), Contains(fused));
}

// SUBSTATION's bdrb: gradients of dropout and ReLU, and the sum of rows that is a bias's gradient.
TEST(FusedRows, GradientsOfActivationsWithTheSumOfRows) {
    for (const int threads : {1, 3})
        for (const Dims& dims : {Dims{2, 3, 20}, Dims{4, 37, 64}, Dims{300, 40}}) {
            Rows rows(dims);
            const ValueId g = rows.input("g"), y = rows.input("y");
            const ValueId keep = rows.graph.add_input("keep", {ElementType::boolean, graph::shape_of(dims)});
            const ValueId passed = rows.graph.add(op::Where, {keep, g, rows.number("zero", 0)});
            const ValueId scaled = rows.graph.add(op::Mul, {passed, rows.number("scale", 1.25F)});
            const ValueId activation = rows.graph.add(op::Max, {scaled, y});
            Dims outer;
            for (std::size_t i = 0; i + 1 < dims.size(); ++i) outer.push_back(static_cast<std::int64_t>(i));
            outer.back() -= static_cast<std::int64_t>(dims.size());  // axes may be counted from the end
            const ValueId axes = rows.graph.add_constant(
                "axes", Tensor::i64({static_cast<std::int64_t>(outer.size())}, outer));
            const ValueId bias =
                rows.graph.add(op::ReduceSum, {activation, axes}, {{"keepdims", std::int64_t{0}}});
            rows.graph.set_outputs({activation, bias});
            EXPECT_THAT(check(rows.graph, threads), Contains(fused));
        }
}

// Every kernel of such a region writes both results, also those that are no kernels of rows.
TEST(FusedRows, ANormalisationOfChannelsThatOthersReadIsWritten) {
    Rows rows({2, 6, 5, 4});
    graph::Graph& graph = rows.graph;
    std::vector<ValueId> inputs = {rows.input("x")};
    for (const char* name : {"scale", "shift", "mean", "variance"}) {
        Tensor values(ElementType::f32, {6});
        for (float& value : values.mutable_values<float>())
            value = static_cast<float>(rows.random.uniform(0.5, 1.5));
        inputs.push_back(graph.add_constant(name, values));
    }
    const ValueId y = graph.add(op::BatchNormalization, inputs);
    graph.set_outputs({y, graph.add(op::Relu, {y})});
    Random random(3);
    execute::check_region(*execute::test_device(2), graph, random, 1e-5);
}

// stream() writes every byte of its range and no other, at any alignment.
TEST(Stream, CopiesBytes) {
    std::vector<std::byte> from(512), before(512, std::byte{7});
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251);
    for (std::size_t at = 0; at < 64; ++at)
        for (std::size_t n = 0; n <= 300; n += n < 70 ? 1 : 23) {
            std::vector<std::byte> to = before, expected = before;
            std::copy_n(from.begin() + 3, n, expected.begin() + static_cast<std::ptrdiff_t>(at));
            execute::cpu::simd::stream(from.data() + 3, to.data() + at, static_cast<std::int64_t>(n));
            execute::cpu::simd::finish_stream();
            ASSERT_EQ(to, expected) << n << " bytes at " << at;
        }
}

// Returns the kernels of a sum of two tensors, in the order in which the device lists them.
std::vector<std::string> kernels_of_a_sum(const Dims& dims, bool into_state) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32(dims)), y = graph.add_input("y", f32(dims));
    const ValueId sum = graph.add(op::Add, {x, y});
    if (into_state) graph.set_after(graph.add_state("state", Tensor(ElementType::f32, dims)), sum);
    graph.set_outputs({sum});
    EXPECT_TRUE(infer_types(graph).ok());
    const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    const auto choices = execute::test_device(2)->choices(graph, region);
    EXPECT_TRUE(choices.ok());
    std::vector<std::string> kernels;
    for (const plan::Choice& choice : *choices) kernels.push_back(choice.kernel);
    return kernels;
}

// Where nothing is measured, the first kernel is taken.
TEST(FusedRows, StoringPastTheCachesComesFirstForTheLargest) {
    constexpr const char* streaming = "simd:fused:stream";
    EXPECT_THAT(kernels_of_a_sum({64, 64}, false), Not(Contains(streaming)));
    const auto middle = kernels_of_a_sum({1024, 1024}, false);
    EXPECT_THAT(middle, Contains(streaming));
    EXPECT_NE(middle[0], streaming);
    EXPECT_EQ(kernels_of_a_sum({4096, 1024}, false)[0], streaming);
    EXPECT_THAT(kernels_of_a_sum({4096, 1024}, true), Not(Contains(streaming)));
}

// Results whose rows or ends are not whole cache lines are stored correctly, in f32 and in bf16.
TEST(FusedRows, LargeResultsAreStoredPastTheCaches) {
    constexpr const char* streaming = "simd:fused:stream";
    Random random(3);
    for (const int threads : {1, 3}) {
        const auto device = execute::test_device(threads), bf16 = execute::bf16_device(threads);
        for (const Dims& dims : {Dims{701, 1004}, Dims{3, 257, 1024}}) {
            const Graph graph = bias_dropout_residual_norm(dims, true);
            EXPECT_THAT(execute::check_region(*device, graph, random, 1e-5, std::nullopt, streaming),
                        Contains(streaming));
            EXPECT_THAT(execute::check_region(*bf16, graph, random, 1e-5, 2e-2, streaming),
                        Contains(streaming));
        }
        Graph chain;
        const ValueId x = chain.add_input("x", f32({1'060'003}));
        chain.set_outputs(
            {chain.add(op::Sigmoid, {chain.add(op::Mul, {x, chain.add_input("y", f32({1'060'003}))})})});
        EXPECT_THAT(execute::check_region(*device, chain, random, 1e-5, std::nullopt, streaming),
                    Contains(streaming));
        EXPECT_THAT(execute::check_region(*bf16, chain, random, 1e-5, 1e-2, streaming), Contains(streaming));
    }
    const Graph small = bias_dropout_residual_norm({64, 64}, true);
    EXPECT_THAT(execute::check_region(*execute::test_device(), small, random, 1e-5, std::nullopt, streaming),
                IsEmpty());
}

// A kernel of element-wise nodes may find an output where an input lies (plan::Choice).
TEST(FusedRows, AStateIsUpdatedWhereItLies) {
    Rows rows({6, 24});
    const ValueId x = rows.input("x");
    const Tensor first = execute::random_tensor(rows.random, rows.dims);
    const ValueId state = rows.graph.add_state("state", first);
    const ValueId after = rows.graph.add(op::Add, {state, x});
    rows.graph.set_after(state, after);
    const ValueId later = rows.graph.add(op::Mul, {rows.graph.add(op::Tanh, {state}), after});
    rows.graph.set_outputs({later});
    ASSERT_TRUE(infer_types(rows.graph).ok());
    const auto device = execute::test_device(2);
    const auto region = plan::make_region(rows.graph, graph::uses(rows.graph), rows.graph.nodes());
    const auto choices = device->choices(rows.graph, region);
    ASSERT_TRUE(choices.ok());
    const auto chosen = std::ranges::find(*choices, fused, &plan::Choice::kernel);
    ASSERT_NE(chosen, choices->end());
    auto assignment = execute::assign(*device, rows.graph, {region}, [&](const auto&, const auto&) {
        return static_cast<std::size_t>(chosen - choices->begin());
    });
    ASSERT_TRUE(assignment.ok());
    const auto plan = plan::make_plan(rows.graph, *std::move(assignment));
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    EXPECT_TRUE(plan->states[0].in_place);
    auto executable = device->prepare(rows.graph, *plan);
    ASSERT_TRUE(executable.ok()) << executable.error().text();
    const std::vector<Tensor> given = {execute::random_tensor(rows.random, rows.dims), first};
    const auto expected = evaluate(rows.graph, given);
    const auto results = execute::run_from(**executable, rows.graph, given);
    ASSERT_TRUE(expected.ok() && results.ok());
    for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(execute::distance((*results)[i], (*expected)[i]), 1e-6);
}

TEST(FusedRows, SumsOverRowsAlone) {
    for (const int threads : {1, 3})
        for (const Dims& dims : {Dims{5, 12}, Dims{3, 700, 40}}) {
            Rows rows(dims);
            Dims outer(dims.size() - 1);
            for (std::size_t i = 0; i < outer.size(); ++i) outer[i] = static_cast<std::int64_t>(i);
            const ValueId axes = rows.graph.add_constant(
                "axes", Tensor::i64({static_cast<std::int64_t>(outer.size())}, outer));
            rows.graph.set_outputs({rows.graph.add(op::ReduceSum, {rows.input("x"), axes})});
            EXPECT_THAT(check(rows.graph, threads), Contains(fused));
        }
}

TEST(FusedRows, WholeTensorsMayBeStoredInBf16) {
    Random random(4);
    const auto device = execute::bf16_device(3);
    const auto tried = execute::check_region(*device, bias_dropout_residual_norm({4, 37, 64}, true), random,
                                             1e-5, 1e-2, fused);
    EXPECT_EQ(tried.size(), 3U);  // bf16 → bf16, bf16 → f32, f32 → bf16
}

TEST(FusedRows, SoftmaxWithItsScaleAndMask) {
    for (const int threads : {1, 3}) {
        Rows rows({2, 2, 9, 16});
        const ValueId scaled = rows.graph.add(op::Mul, {rows.input("scores"), rows.number("by", 0.25F)});
        const ValueId probabilities = rows.graph.add(op::Softmax, {scaled});
        const ValueId dropped = rows.dropped(probabilities);
        rows.graph.set_outputs({probabilities, dropped});
        EXPECT_THAT(check(rows.graph, threads), Contains(fused));
    }
}

// Masks of every length around vectors of counters, for five bounds.
TEST(FusedRows, MasksAreTheWordsOfPhilox) {
    const PhiloxKey key = {0x12345678, 0x9abcdef0};
    for (const std::uint32_t least : {0U, 1U, 0x40000000U, 0xc0000001U, 0xffffffffU})
        for (std::int64_t n = 0; n < 300; ++n) {
            const auto first =
                static_cast<std::uint32_t>(n % 2 == 0 ? 1000 * n : -(n / 8));  // odd: wraps to 0
            std::vector<std::uint8_t> expected, keep(static_cast<std::size_t>(n) + 1, 9);
            for (std::int64_t i = 0; i < n; ++i) {
                const auto group = first + static_cast<std::uint32_t>(i / 4);
                const auto words = philox4x32({group, 5, 0xffffffff, 77}, key);
                expected.push_back(words[static_cast<std::size_t>(i % 4)] >= least ? 1 : 0);
            }
            expected.push_back(9);
            execute::cpu::simd::draw_words(key, {0, 5, 0xffffffff, 77}, least, first, n, keep.data());
            EXPECT_EQ(keep, expected) << n << " " << least;
        }
}

TEST(FusedRows, LongSumsKeepTheirTerms) {
    Rows rows({5, 12});
    const ValueId a = rows.input("a"), b = rows.input("b"), c = rows.input("c");
    const ValueId left = rows.graph.add(op::Tanh, {a}), right = rows.graph.add(op::Exp, {b});
    const ValueId sum = rows.graph.add(op::Sum, {left, right, left, c});
    rows.graph.set_outputs({rows.graph.add(op::Mul, {sum, sum}), rows.graph.add(op::Sub, {right, sum})});
    EXPECT_THAT(check(rows.graph, 1), Contains(fused));
}

TEST(FusedRows, ReadsOperandsThatBroadcast) {
    for (const Dims& own : {Dims{1, 3, 8}, Dims{3, 1}, Dims{4, 1, 8}, Dims{4, 3, 1}, Dims{1}}) {
        Rows rows({4, 3, 8});
        const ValueId positions = rows.graph.add_input("positions", f32(own));
        const ValueId sum = rows.graph.add(op::Add, {rows.input("x"), positions});
        const ValueId softmax = rows.graph.add(op::Softmax, {sum});
        rows.graph.set_outputs({sum, rows.graph.add(op::Tanh, {softmax})});
        EXPECT_THAT(check(rows.graph, 1), Contains(fused)) << testing::PrintToString(own);
    }
}

TEST(FusedRows, SumsAreTheSameBitsOnAnyNumberOfThreads) {
    Rows rows({300, 70});
    const ValueId product = rows.graph.add(op::Mul, {rows.input("g"), rows.input("y")});
    const ValueId axes = rows.graph.add_constant("axes", Tensor::i64({1}, std::vector<std::int64_t>{0}));
    rows.graph.set_outputs({product, rows.graph.add(op::ReduceSum, {product, axes})});
    ASSERT_TRUE(infer_types(rows.graph).ok());
    const auto inputs = execute::random_inputs(rows.graph, rows.random);
    const plan::Region region = plan::make_region(rows.graph, graph::uses(rows.graph), rows.graph.nodes());
    std::optional<Tensor> first;
    for (const int threads : {1, 2, 3, 7}) {
        const auto device = execute::test_device(threads);
        const auto run = execute::run_regions(*device, rows.graph, {region}, inputs);
        ASSERT_TRUE(run.ok()) << run.error().text();
        EXPECT_EQ(run->kernels[0].second, fused);
        if (!first) first = run->outputs[1];
        EXPECT_TRUE(run->outputs[1].same_bytes(*first)) << threads;
    }
}

// Far more rows than are added in f32, all of one sign.
TEST(FusedRows, SumsOverManyRowsAreAsAccurateAsInDouble) {
    const std::int64_t count = 65536, width = 8;
    Rows rows({count, width});
    const ValueId axes = rows.graph.add_constant("axes", Tensor::i64({1}, std::vector<std::int64_t>{0}));
    const ValueId negative = rows.graph.add(op::Neg, {rows.input("x")});
    rows.graph.set_outputs({negative, rows.graph.add(op::ReduceSum, {negative, axes})});
    ASSERT_TRUE(infer_types(rows.graph).ok());
    Tensor x(ElementType::f32, {count, width});
    std::vector<double> sums(static_cast<std::size_t>(width));
    for (std::int64_t i = 0; i < x.count(); ++i) {
        const auto value = static_cast<float>(rows.random.uniform(0.5, 1.5));
        x.mutable_values<float>()[static_cast<std::size_t>(i)] = value;
        sums[static_cast<std::size_t>(i % width)] -= static_cast<double>(value);
    }
    const plan::Region region = plan::make_region(rows.graph, graph::uses(rows.graph), rows.graph.nodes());
    const auto device = execute::test_device(2);
    const auto run = execute::run_regions(*device, rows.graph, {region}, {x});
    ASSERT_TRUE(run.ok()) << run.error().text();
    EXPECT_EQ(run->kernels[0].second, fused);
    for (std::int64_t i = 0; i < width; ++i) {
        const double sum = sums[static_cast<std::size_t>(i)];
        EXPECT_NEAR(run->outputs[1].number(i), sum, 2e-7 * std::abs(sum));
    }
}

TEST(FusedRows, AreNotOfferedForOtherShapes) {
    {
        Rows rows({8});  // one row would span eight samples
        rows.graph.set_outputs({rows.dropped(rows.input("x"))});
        EXPECT_THAT(check(rows.graph, 1), IsEmpty());
    }
    // Groups of four random words would cross rows.
    EXPECT_THAT(check(bias_dropout_residual_norm({2, 3, 6}, true), 1), IsEmpty());
    {
        Rows rows({4, 3, 8});  // nodes that have nothing in common
        rows.graph.set_outputs(
            {rows.graph.add(op::Tanh, {rows.input("x")}), rows.graph.add(op::Exp, {rows.input("y")})});
        EXPECT_THAT(check(rows.graph, 1), IsEmpty());
    }
    {
        Rows rows({4, 3, 8});  // powers have no vector code
        const ValueId y = rows.graph.add(op::Pow, {rows.input("x"), rows.number("by", 1.5F)});
        rows.graph.set_outputs({y, rows.graph.add(op::Tanh, {y})});
        EXPECT_THAT(check(rows.graph, 1), IsEmpty());
    }
    {
        Rows rows({4, 3, 8});  // a sum along the rows
        const ValueId y = rows.graph.add(op::Tanh, {rows.input("x")});
        const ValueId axes = rows.graph.add_constant("axes", Tensor::i64({1}, std::vector<std::int64_t>{2}));
        rows.graph.set_outputs({y, rows.graph.add(op::ReduceSum, {y, axes})});
        EXPECT_THAT(check(rows.graph, 1), Not(Contains(fused)));
    }
}

}  // namespace
}  // namespace viridian::train
