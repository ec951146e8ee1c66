#include <functional>
#include <set>

#include "tests/execute/networks.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

TEST(Movement, EveryOperatorMovesAsTheReferenceDoes) {
    Random random(1);
    const auto device = test_device(2);
    const auto list = [](Graph& graph, std::vector<std::int64_t> values) {
        const auto n = static_cast<std::int64_t>(values.size());
        return graph.add_constant("c", Tensor::i64({n}, values));
    };
    using Build = std::function<ValueId(Graph&, ValueId)>;
    const std::vector<std::pair<std::string, Build>> cases = {
        {"Slice",
         [&](Graph& g, ValueId x) {
             return g.add("Slice",
                          {x, list(g, {-1, 1}), list(g, {-1000, 5}), list(g, {3, 2}), list(g, {-2, 1})});
         }},
        {"Expand", [&](Graph& g, ValueId x) { return g.add("Expand", {x, list(g, {3, 2, 4, 1, 1})}); }},
        {"Tile", [&](Graph& g, ValueId x) { return g.add("Tile", {x, list(g, {1, 2, 3, 1})}); }},
        {"Pad",
         [&](Graph& g, ValueId x) {
             return g.add("Pad",
                          {x, list(g, {0, 1, 2, 3, 0, 0, 1, -1}), g.add_constant("v", Tensor::scalar(7.5F))});
         }},
        {"reflect",
         [&](Graph& g, ValueId x) {
             return g.add("Pad", {x, list(g, {0, 0, 2, 1, 0, 0, 1, 2})}, {{"mode", std::string("reflect")}});
         }},
        {"edge",
         [&](Graph& g, ValueId x) {
             return g.add("Pad", {x, list(g, {0, 0, 2, 1, 0, 0, 1, 2})}, {{"mode", std::string("edge")}});
         }},
        {"Transpose",
         [&](Graph& g, ValueId x) {
             return g.add("Transpose", {x}, {{"perm", std::vector<std::int64_t>{2, 0, 3, 1}}});
         }},
        {"DepthToSpace",
         [&](Graph& g, ValueId x) { return g.add("DepthToSpace", {x}, {{"blocksize", std::int64_t{2}}}); }},
        {"SpaceToDepth",
         [&](Graph& g, ValueId x) { return g.add("SpaceToDepth", {x}, {{"blocksize", std::int64_t{2}}}); }},
        {"Gather",
         [&](Graph& g, ValueId x) {
             return g.add("Gather", {x, list(g, {1, 0, -1})}, {{"axis", std::int64_t{2}}});
         }},
        {"Trilu", [&](Graph& g, ValueId x) { return g.add("Trilu", {x}, {{"upper", std::int64_t{0}}}); }},
    };
    for (const auto& [name, build] : cases)
        for (const Dims& dims : {Dims{2, 4, 6, 8}, Dims{1, 8, 20, 60}}) {
            if (name == "Expand" && dims[0] != 2) continue;
            Graph graph;
            const Dims own = name == "Expand" ? Dims{2, 1, 6, 8} : dims;
            graph.set_outputs({build(graph, graph.add_input("x", f32(own)))});
            EXPECT_THAT(check_region(*device, graph, random, 0), testing::Contains("move")) << name;
        }
}

// Every offered view, with the conversions that its layouts need, against the reference.
void check_reshape(Device& device, Random& random, const Dims& from, const Dims& to) {
    Graph graph;
    const auto rank = static_cast<std::int64_t>(to.size());
    const ValueId x = graph.add_input("x", f32(from));
    graph.set_outputs({graph.add("Reshape", {x, graph.add_constant("shape", Tensor::i64({rank}, to))})});
    EXPECT_THAT(check_region(device, graph, random, 0), testing::Contains("view"));
}

TEST(Movement, ReshapesAreViewsInEveryLayoutThatTheyOffer) {
    Random random(7);
    const auto device = test_device();
    const std::vector<std::pair<Dims, Dims>> cases = {
        {{2, 6, 20}, {2, 6, 4, 5}},    {{2, 6, 4, 5}, {2, 6, 20}}, {{1, 6, 4, 5}, {6, 20}},
        {{2, 6, 4, 5}, {2, 3, 2, 20}}, {{2, 32, 1, 1}, {2, 32}},   {{1, 1, 6, 20}, {6, 4, 5, 1, 1}},
        {{2, 6, 4, 5}, {12, 4, 5}},    {{2, 6, 4, 5}, {3, 80}},    {{1, 1, 1}, {1, 1, 1, 1}}};
    for (const auto& [from, to] : cases) check_reshape(*device, random, from, to);
    for (int i = 0; i < 100; ++i) {  // factors, multiplied differently on both sides
        Dims sides[2] = {{1}, {1}};
        for (int factor = 0; factor < 5; ++factor) {
            const std::int64_t extent = random.between(1, 3);
            for (Dims& side : sides)
                if (random.chance(0.6))
                    side.push_back(extent);
                else
                    side.back() *= extent;
        }
        check_reshape(*device, random, sides[0], sides[1]);
    }
}

// The memory of tokens, [n, h·w, c], is that of an image with its channels last.
TEST(Movement, TokensAreAnImageWithChannelsLast) {
    const auto device = test_device();
    Graph graph;
    const ValueId x = graph.add_input("x", f32({2, 6, 20}));
    graph.set_outputs(
        {graph.add("Reshape", {x, graph.add_constant("shape", Tensor::i64({4}, Dims{2, 6, 4, 5}))})});
    EXPECT_TRUE(infer_types(graph).ok());
    const auto choices = device->choices(graph, plan::make_region(graph, graph::uses(graph), graph.nodes()));
    ASSERT_TRUE(choices.ok());
    EXPECT_TRUE(std::ranges::any_of(*choices, [](const plan::Choice& choice) {
        return choice.aliasing == plan::Aliasing::view && choice.inputs[0].layout == plan::channels_last(3) &&
               choice.outputs[0].layout == plan::channels_last(4);
    }));
}

// Between every two formats that a kernel offers, on the way from the input to the output as well.
TEST(Movement, ConversionsRoundOnceAndChangeNothingElse) {
    Random random(9);
    for (const int threads : {1, 2}) {
        const auto device = bf16_device(threads);
        Graph graph;
        const ValueId x = graph.add_input("x", f32({2, 20, 30, 7}));
        graph.set_outputs({graph.add("Relu", {graph.add("Relu", {x})})});
        ASSERT_TRUE(infer_types(graph).ok());
        const auto inputs = random_inputs(graph, random);
        const Tensor exact = (*evaluate(graph, inputs))[0], rounded = rounded_to_bf16(exact);
        const auto choices =
            device->choices(graph, plan::make_region(graph, graph::uses(graph), {graph.nodes().front()}));
        ASSERT_TRUE(choices.ok());
        std::set<std::string> changes;
        for (std::size_t first = 0; first < choices->size(); ++first)
            for (std::size_t second = 0; second < choices->size(); ++second) {
                std::size_t region = 0;
                Prepared prepared = prepare(
                    *device, graph, [&](const auto&, const auto&) { return region++ == 0 ? first : second; });
                ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
                bool rounds = false;
                for (const plan::Buffer& buffer : prepared.plan.buffers)
                    rounds = rounds || buffer.format.element == graph::ElementType::bf16;
                EXPECT_TRUE(prepared.outputs[0].same_bytes(rounds ? rounded : exact))
                    << (*choices)[first].key() << ", then " << (*choices)[second].key();
                for (const plan::Step& step : prepared.plan.steps)
                    if (step.kind == plan::Step::Kind::conversion)
                        changes.insert(text(prepared.plan.buffers[step.inputs[0]].format) + " to " +
                                       text(prepared.plan.buffers[step.outputs[0]].format));
            }
        EXPECT_THAT(changes, testing::IsSupersetOf({"nchw:f32 to nchw:bf16", "nchw:bf16 to nchw:f32",
                                                    "nchw:bf16 to nhwc:bf16", "nhwc:f32 to nchw:bf16",
                                                    "nhwc:bf16 to nchw:f32"}));
    }
}

TEST(Movement, AConstantIsConcatenatedOnEitherSide) {
    Random random(4);
    const auto device = test_device(2);
    for (const Dims& dims : {Dims{1, 196, 768}, Dims{2, 3, 5}})
        for (const bool first : {true, false}) {
            Graph graph;
            const ValueId token = graph.add_constant("token", random_tensor(random, {dims[0], 1, dims[2]}));
            const ValueId x = graph.add_input("x", f32(dims));
            graph.set_outputs({graph.add("Concat", first ? std::vector{token, x, x} : std::vector{x, token},
                                         {{"axis", std::int64_t{1}}})});
            EXPECT_THAT(check_region(*device, graph, random, 0), testing::Contains("concat:copy"));
        }
}

TEST(Movement, SplitsIntoUnequalParts) {
    Random random(2);
    const auto device = test_device();
    Graph graph;
    graph::Node node;
    node.op = "Split";
    node.attributes["axis"] = std::int64_t{2};
    node.inputs = {graph.add_input("x", f32({3, 2, 9})),
                   graph.add_constant("sizes", Tensor::i64({3}, std::vector<std::int64_t>{2, 3, 4}))};
    const auto id = graph.add_node(node, 3);
    const auto outputs = graph.node(id).outputs;
    graph.set_outputs(outputs);
    EXPECT_THAT(check_region(*device, graph, random, 0), testing::Contains("move"));
}

TEST(Movement, DropoutIsAViewOnlyIfItDoesNotTrain) {
    Random random(6);
    const auto device = test_device();
    for (const bool trains : {false, true}) {
        Graph graph;
        Tensor mode(graph::ElementType::boolean, {});
        mode.mutable_values<std::uint8_t>()[0] = trains ? 1 : 0;
        const ValueId x = graph.add_input("x", f32({2, 3, 5}));
        graph.set_outputs({graph.add("Dropout", {x, graph.add_constant("ratio", Tensor::scalar(0.5F)),
                                                 graph.add_constant("training", mode)})});
        const auto kernels = check_region(*device, graph, random, 0);
        if (trains)
            EXPECT_THAT(kernels, testing::Not(testing::Contains("view")));
        else
            EXPECT_THAT(kernels, testing::Contains("view"));
    }
}

}  // namespace
}  // namespace viridian::execute
