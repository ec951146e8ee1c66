#include "tests/execute/every_choice.hpp"
#include "viridian/base/system/machine.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

struct Shape {
    std::int64_t n, c, h, w, m, kernel_h, kernel_w, stride, dilation, pad, groups;
};

ValueId add_convolution(Graph& graph, ValueId x, const Shape& s, Random& random, bool bias) {
    const ValueId w =
        graph.add_constant("w", random_tensor(random, {s.m, s.c / s.groups, s.kernel_h, s.kernel_w}));
    std::vector<ValueId> inputs = {x, w};
    if (bias) inputs.push_back(graph.add_constant("b", random_tensor(random, {s.m})));
    return graph.add("Conv", inputs,
                     {{"strides", Dims{s.stride, s.stride}},
                      {"dilations", Dims{s.dilation, s.dilation}},
                      {"pads", Dims{s.pad, s.pad, s.pad, s.pad}},
                      {"group", s.groups}},
                     "conv");
}

Shape random_shape(Random& random) {
    Shape s{};
    s.n = random.chance(0.8) ? 1 : 3;
    s.groups = random.chance(0.8) ? 1 : 2;
    const bool depthwise = random.chance(0.2);
    s.c = s.groups * random.between(1, 40);
    s.m = s.groups * random.between(1, 40);
    if (depthwise) s.groups = s.m = s.c = random.between(2, 40);
    if (random.chance(0.3) && !depthwise) s.c = s.groups * 32, s.m = s.groups * 16;
    s.kernel_h = random.chance(0.5) ? 3 : random.between(1, 5);
    s.kernel_w = random.chance(0.7) ? s.kernel_h : random.between(1, 5);
    s.stride = random.chance(0.7) ? 1 : 2;
    s.dilation = random.chance(0.85) ? 1 : 2;
    s.pad = random.between(0, std::min(s.kernel_h, s.kernel_w) - 1);
    const auto reach = (std::max(s.kernel_h, s.kernel_w) - 1) * s.dilation + 1;
    s.h = random.chance(0.1) ? reach : random.between(reach, 20);
    s.w = random.chance(0.1) ? reach : random.between(reach, 20);
    return s;
}

TEST(Convolution, EveryChoiceAgreesWithTheReference) {
    Random random(1);
    const auto device = test_device(2);
    std::vector<std::string> tried;
    for (int i = 0; i < 30; ++i) {
        const Shape s = random_shape(random);
        Graph graph;
        const ValueId x = graph.add_input("x", f32({s.n, s.c, s.h, s.w}));
        graph.set_outputs({add_convolution(graph, x, s, random, random.chance(0.5))});
        SCOPED_TRACE(fmt::format("n{} c{} h{} w{} m{} k{}x{} s{} d{} p{} g{}", s.n, s.c, s.h, s.w, s.m,
                                 s.kernel_h, s.kernel_w, s.stride, s.dilation, s.pad, s.groups));
        const auto kernels = check_region(*device, graph, random, 1e-4);
        EXPECT_EQ(kernels.back(), "reference");
        tried.insert(tried.end(), kernels.begin(), kernels.end());
    }
    EXPECT_THAT(tried, testing::Contains(testing::StartsWith("dnnl:conv:direct:")));
}

TEST(Convolution, NarrowGroups) {
    Random random(7);
    const auto device = test_device(2);
    for (int i = 0; i < 24; ++i) {
        Shape s = random_shape(random);
        const std::int64_t width = std::int64_t{1} << random.between(0, 4);
        s.groups = random.between(2, 64 / width);
        s.c = s.m = s.groups * width;
        if (random.chance(0.3)) s.w = random.between(20, 40);
        Graph graph;
        const ValueId x = graph.add_input("x", f32({s.n, s.c, s.h, s.w}));
        ValueId y = add_convolution(graph, x, s, random, random.chance(0.5));
        const auto out = [&](std::int64_t size, std::int64_t kernel) {
            return (size + 2 * s.pad - (kernel - 1) * s.dilation - 1) / s.stride + 1;
        };
        const auto op = random.below(4);
        if (op == 0) y = graph.add("Relu", {y});
        if (op == 1) y = graph.add("Swish", {y});
        if (op == 2)
            y = graph.add("Add", {y, graph.add_input(
                                         "r", f32({s.n, s.m, out(s.h, s.kernel_h), out(s.w, s.kernel_w)}))});
        graph.set_outputs({y});
        SCOPED_TRACE(fmt::format("n{} c{} h{} w{} k{}x{} s{} d{} p{} g{}", s.n, s.c, s.h, s.w, s.kernel_h,
                                 s.kernel_w, s.stride, s.dilation, s.pad, s.groups));
        const auto kernels = check_region(*device, graph, random, 1e-5);
        EXPECT_GT(std::ranges::count(kernels, "simd:grouped"), 0);
    }
}

TEST(Convolution, EpiloguesAndResiduals) {
    Random random(2);
    const auto device = test_device(2);
    std::vector<std::string> tried;
    for (int i = 0; i < 32; ++i) {
        Shape s = random_shape(random);
        s.groups = 1, s.stride = 1, s.dilation = 1, s.kernel_h = s.kernel_w = 3, s.pad = 1;
        if (i % 2 == 0) s.c = 32, s.m = 32;
        Graph graph;
        const ValueId x = graph.add_input("x", f32({s.n, s.c, s.h, s.w}));
        ValueId y = add_convolution(graph, x, s, random, true);
        const auto op = random.below(8);
        if (op == 0) y = graph.add("Relu", {y});
        if (op >= 6) {  // x·Sigmoid(x), x·Sigmoid(αx)
            const ValueId a = graph.add_constant("alpha", graph::Tensor::scalar(1.702F));
            const ValueId gate = graph.add("Sigmoid", {op == 6 ? y : graph.add("Mul", {y, a})});
            y = graph.add("Mul", i % 4 < 2 ? std::vector{y, gate} : std::vector{gate, y});
        }
        if (op == 1) y = graph.add("LeakyRelu", {y}, {{"alpha", 0.2}});
        if (op == 2)
            y = graph.add("Clip", {y, graph.add_constant("low", graph::Tensor::scalar(0.0F)),
                                   graph.add_constant("high", graph::Tensor::scalar(0.5F))});
        if (op == 3) y = graph.add("Sigmoid", {y});
        if (op == 4)
            y = graph.add("Mul", {y, graph.add_constant("scale", random_tensor(random, {s.m, 1, 1}))});
        if (op >= 4 && op < 7) {
            const ValueId other = graph.add_input("r", f32({s.n, s.m, s.h, s.w}));
            y = graph.add("Add", op == 4 ? std::vector{y, other} : std::vector{other, y});
            y = graph.add("Relu", {y});
        }
        graph.set_outputs({y});
        const auto kernels = check_region(*device, graph, random, 1e-4);
        tried.insert(tried.end(), kernels.begin(), kernels.end());
    }
    EXPECT_GT(tried.size(), 32U);
}

// A 1x1 over so many channels that they fill half of a core's second cache passes in chunks of them.
TEST(Convolution, LongSums) {
    Random random(6);
    const auto device = test_device(2);
    const std::int64_t cache = std::max<std::int64_t>(this_machine().l2.value, 1 << 18);
    for (int i = 0; i < 4; ++i) {
        const std::int64_t c = cache / 512 + random.between(1, 40), m = random.between(33, 60);
        Graph graph;
        ValueId y = graph.add("Conv", {graph.add_input("x", f32({i == 0 ? 2 : 1, c, 8, 8})),
                                       graph.add_constant("w", random_tensor(random, {m, c, 1, 1})),
                                       graph.add_constant("b", random_tensor(random, {m}))});
        if (i % 2 == 1) y = graph.add("Add", {y, graph.add_input("r", f32({1, m, 8, 8}))});
        y = i < 2 ? graph.add("Relu", {y}) : graph.add("HardSwish", {y});
        graph.set_outputs({y});
        EXPECT_THAT(check_region(*device, graph, random, 1e-5), testing::Contains("simd:conv:channels"));
    }
}

// Every family of kernels takes x·Sigmoid(x) behind a convolution as one step.
TEST(Convolution, GatesAreFused) {
    Random random(9);
    const auto device = test_device(2);
    for (const std::int64_t channels : {32, 40})
        for (const std::int64_t groups : {std::int64_t{1}, channels}) {
            Graph graph;
            const ValueId x = graph.add_input("x", f32({1, channels, 9, 9}));
            const Shape s{1, channels, 9, 9, channels, 3, 3, 1, 1, 1, groups};
            const ValueId y = add_convolution(graph, x, s, random, true);
            graph.set_outputs({graph.add("Mul", {y, graph.add("Sigmoid", {y})})});
            const auto kernels = check_region(*device, graph, random, 1e-5);
            EXPECT_THAT(kernels, testing::Contains(testing::StartsWith("dnnl:conv:direct:")));
            EXPECT_THAT(kernels, testing::Contains(groups == 1 ? "simd:conv:pixels" : "simd:grouped"));
        }
}

// Kernels of one row or column, of images no tile fits, with and without padding and epilogue.
TEST(Convolution, LinesByWinograd) {
    Random random(8);
    const auto device = test_device(2);
    for (const std::int64_t taps : {3, 5, 7})
        for (int i = 0; i < 6; ++i) {
            const bool row = i % 2 == 0, padded = random.chance(0.7);
            const bool chained = i >= 2 && i % 3 == 0;  // not clipped as it is stored: whole blocks only
            const std::int64_t c = random.between(8, 70), m = chained ? 48 : random.between(1, 70);
            const std::int64_t pad = padded ? taps / 2 : 0;
            Graph graph;
            const ValueId x = graph.add_input("x", f32({random.chance(0.8) ? 1 : 2, c,
                                                        random.between(taps, 20), random.between(taps, 20)}));
            ValueId y = graph.add("Conv",
                                  {x,
                                   graph.add_constant("w", random_tensor(random, row ? Dims{m, c, 1, taps}
                                                                                     : Dims{m, c, taps, 1})),
                                   graph.add_constant("b", random_tensor(random, {m}))},
                                  {{"pads", row ? Dims{0, pad, 0, pad} : Dims{pad, 0, pad, 0}}}, "conv");
            if (i >= 2) y = graph.add(chained ? "Sigmoid" : "Relu", {y});
            graph.set_outputs({y});
            const auto kernels = check_region(*device, graph, random, 3e-5);
            for (const int results : {6, 4})
                EXPECT_THAT(kernels,
                            testing::Contains(fmt::format("simd:winograd:line:{}x{}:pixels", results, taps)));
        }
}

// Weights and bias that change from run to run, as in evaluations while a network trains, with a residual, a
// clip or a chain behind them.
TEST(Convolution, ChangingWeightsByWinograd) {
    Random random(10);
    for (int i = 0; i < 12; ++i) {
        const int threads = std::vector{1, 2, 5}[static_cast<std::size_t>(i % 3)];
        const auto device = test_device(threads);
        const bool chained = i % 4 == 3;  // whole blocks only
        const std::int64_t c = random.between(20, 70), m = chained ? 48 : random.between(20, 70);
        const Dims image = {random.between(1, 2), c, random.between(12, 24), random.between(12, 24)};
        Graph graph;
        std::vector<ValueId> inputs = {graph.add_input("x", f32(image)),
                                       graph.add_input("w", f32({m, c, 3, 3}))};
        if (i % 3 == 1) inputs.push_back(graph.add_input("b", f32({m})));
        if (i % 3 == 2) inputs.push_back(graph.add_constant("b", random_tensor(random, {m})));
        ValueId y = graph.add("Conv", inputs, {{"pads", Dims{1, 1, 1, 1}}}, "conv");
        if (i % 2 == 1)
            y = graph.add("Add", {y, graph.add_input("skip", f32({image[0], m, image[2], image[3]}))});
        if (i % 4 != 0) y = graph.add(chained ? "Sigmoid" : "Relu", {y});
        graph.set_outputs({y});
        const auto kernels = check_region(*device, graph, random, 3e-5);
        EXPECT_THAT(kernels, testing::Contains(testing::StartsWith("simd:winograd:"))) << i;
    }
}

// conv → conv + skip: the skip dies in the second region and may be overwritten.
TEST(Convolution, OverwritesADyingResidual) {
    Random random(3);
    const auto device = test_device(2);
    Graph graph;
    const Shape s{1, 32, 9, 7, 32, 3, 3, 1, 1, 1, 1};
    const ValueId x = graph.add_input("x", f32({s.n, s.c, s.h, s.w}));
    const ValueId skip = add_convolution(graph, x, s, random, true);
    const ValueId main = add_convolution(graph, x, s, random, false);
    graph.set_outputs({graph.add("Relu", {graph.add("Add", {main, skip})})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto inputs = random_inputs(graph, random);
    const auto expected = evaluate(graph, inputs);
    const auto nodes = graph.nodes();
    const auto uses = graph::uses(graph);
    const std::vector regions = {plan::make_region(graph, uses, {nodes[0]}),
                                 plan::make_region(graph, uses, {nodes[1], nodes[2], nodes[3]})};
    const auto choices = device->choices(graph, regions[1]);
    ASSERT_TRUE(choices.ok());
    int overwriting = 0;
    for (std::size_t c = 0; c < choices->size(); ++c) {
        overwriting += (*choices)[c].aliasing == plan::Aliasing::overwrite ? 1 : 0;
        const auto assignment = assign(*device, graph, regions, [&](const plan::Region& region, const auto&) {
            return region.nodes.size() > 1 ? c : 0;
        });
        ASSERT_TRUE(assignment.ok());
        const auto plan = plan::make_plan(graph, *assignment);
        ASSERT_TRUE(plan.ok());
        const auto executable = device->prepare(graph, *plan);
        ASSERT_TRUE(executable.ok()) << executable.error().text();
        std::vector<graph::Tensor> outputs = {{graph::ElementType::f32, {1, 32, 9, 7}}};
        ASSERT_TRUE((*executable)->run(inputs, outputs).ok());
        EXPECT_LE(distance(outputs[0], (*expected)[0]), 1e-4) << (*choices)[c].key();
    }
    EXPECT_GT(overwriting, 0);
}

TEST(Convolution, TimesAChoice) {
    Random random(4);
    const auto device = test_device(1);
    Graph graph;
    const Shape s{1, 32, 9, 7, 32, 3, 3, 1, 1, 1, 1};
    const ValueId x = graph.add_input("x", f32({s.n, s.c, s.h, s.w}));
    graph.set_outputs({add_convolution(graph, x, s, random, true)});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    const auto choices = device->choices(graph, region);
    ASSERT_TRUE(choices.ok());
    const auto timing =
        device->time(graph, region, choices->front(), {.precision = 1, .budget = Seconds(0.01)});
    ASSERT_TRUE(timing.ok());
    EXPECT_GT(timing->median.value, 0);
    EXPECT_LE(timing->low.value, timing->median.value);
    EXPECT_LE(timing->median.value, timing->high.value);
    EXPECT_GE(timing->count, 5);
    const auto conversion = device->time_conversion(
        {1, 32, 9, 7}, {plan::plain(4), graph::ElementType::f32, {}},
        {plan::channels_blocked(4, 16), graph::ElementType::f32, {}}, {.budget = Seconds(0.01)});
    ASSERT_TRUE(conversion.ok());
    EXPECT_GT(conversion->minimum.value, 0);
}

}  // namespace
}  // namespace viridian::execute
