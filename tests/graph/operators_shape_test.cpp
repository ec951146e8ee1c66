// Operators that reduce, reshape and move: known cases, and one property for all of them: where the shapes
// are only partly known, what the shape rule says agrees with what the kernel makes.
#include <gtest/gtest.h>

#include <numeric>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::graph {
namespace {

struct Case {
    std::string name;
    std::vector<Tensor> inputs;
    Attributes attributes;
    std::size_t outputs = 1;
};

Tensor iota(Dims dims) {
    Tensor tensor(ElementType::f32, std::move(dims));
    auto values = tensor.mutable_values<float>();
    std::iota(values.begin(), values.end(), 0.0F);
    return tensor;
}
Tensor integers(const Dims& values) {
    return Tensor::i64({static_cast<std::int64_t>(values.size())}, values);
}

// `constant[i]`: input i is a constant of the graph; otherwise an input of declared dims, or of unknown
// extents, or of unknown rank.
enum class Known { constant, dims, rank, nothing };

Result<Graph> graph_of(const Case& c, const std::vector<Known>& known) {
    Graph graph;
    std::vector<ValueId> ids;
    for (std::size_t i = 0; i < c.inputs.size(); ++i) {
        TensorType type = c.inputs[i].tensor_type();
        if (known[i] == Known::rank) type.shape = Shape(type.shape->size());
        if (known[i] == Known::nothing) type.shape.reset();
        ids.push_back(known[i] == Known::constant ? graph.add_constant("c", c.inputs[i])
                                                  : graph.add_input("x", type));
    }
    Node node;
    node.op = c.name;
    node.inputs = ids;
    node.attributes = c.attributes;
    graph.set_outputs(graph.node(graph.add_node(node, c.outputs)).outputs);
    VIRIDIAN_TRY(infer_types(graph));
    return graph;
}

std::vector<Tensor> run(const Case& c) {
    const auto graph = graph_of(c, std::vector<Known>(c.inputs.size(), Known::constant));
    EXPECT_TRUE(graph.ok()) << c.name << ": " << (graph.ok() ? "" : graph.error().text());
    if (!graph.ok()) return std::vector<Tensor>(c.outputs);
    const auto outputs = evaluate(*graph, {});
    EXPECT_TRUE(outputs.ok()) << c.name << ": " << (outputs.ok() ? "" : outputs.error().text());
    return outputs.ok() ? *outputs : std::vector<Tensor>(c.outputs);
}

std::vector<float> as_floats(const Tensor& tensor) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < tensor.count(); ++i) values.push_back(static_cast<float>(tensor.number(i)));
    return values;
}

using Floats = std::vector<float>;
constexpr std::int64_t one = 1;

std::vector<Case> cases() {
    return {
        {"ReduceSum", {iota({2, 3}), integers({1})}, {}},
        {"ReduceMean", {iota({2, 3, 4}), integers({0, -1})}, {{"keepdims", std::int64_t{0}}}},
        {"ReduceMax", {iota({2, 3})}, {{"keepdims", std::int64_t{0}}}},
        {"ReduceLogSumExp", {iota({2, 3}), integers({-1})}, {}},
        {"ReduceSum", {iota({2, 3}), integers({})}, {{"noop_with_empty_axes", one}}},
        {"ArgMax", {iota({2, 3})}, {{"axis", one}}},
        {"Reshape", {iota({2, 3, 4}), integers({0, -1})}, {}},
        {"Reshape", {iota({2, 3, 4}), integers({4, -1, 2})}, {}},
        {"Flatten", {iota({2, 3, 4})}, {{"axis", std::int64_t{2}}}},
        {"Squeeze", {iota({2, 1, 4, 1}), integers({-1})}, {}},
        {"Squeeze", {iota({2, 1, 4, 1})}, {}},
        {"Unsqueeze", {iota({2, 3}), integers({0, -1})}, {}},
        {"Transpose", {iota({2, 3, 4})}, {{"perm", Dims{2, 0, 1}}}},
        {"Expand", {iota({2, 1}), integers({3, 1, 4})}, {}},
        {"Tile", {iota({2, 3}), integers({2, 3})}, {}},
        {"Concat", {iota({2, 3}), iota({2, 4})}, {{"axis", std::int64_t{-1}}}},
        {"Split", {iota({2, 7}), integers({3, 4})}, {{"axis", one}}, 2},
        {"Split", {iota({2, 7})}, {{"axis", one}, {"num_outputs", std::int64_t{3}}}, 3},
        {"Slice",
         {iota({5, 6}), integers({-1, 1}), integers({-100, 100}), integers({0, 1}), integers({-2, 2})},
         {}},
        {"Slice", {iota({5, 6}), integers({1}), integers({3})}, {}},
        {"Pad", {iota({2, 3}), integers({1, -1, 0, 2})}, {}},
        {"Pad",
         {iota({2, 5}), integers({3, 3}), Tensor::scalar(0.0F), integers({1})},
         {{"mode", std::string("reflect")}}},
        {"Gather", {iota({3, 4}), Tensor::i64({2, 1}, Dims{0, -1})}, {{"axis", one}}},
        {"GatherElements", {iota({3, 3}), Tensor::i64({2, 3}, Dims{1, 2, 0, 2, 0, 0})}, {}},
        {"GatherND", {iota({2, 3, 4}), Tensor::i64({2, 1, 1}, Dims{1, 0})}, {{"batch_dims", one}}},
        {"ScatterElements", {iota({3, 3}), Tensor::i64({1, 2}, Dims{1, 2}), iota({1, 2})}, {{"axis", one}}},
        {"ScatterND",
         {iota({3, 2}), Tensor::i64({2, 1}, Dims{2, 2}), iota({2, 2})},
         {{"reduction", std::string("add")}}},
        {"Shape", {iota({2, 3, 4})}, {{"start", std::int64_t{-2}}}},
        {"Size", {iota({2, 3})}, {}},
        {"ConstantOfShape", {integers({2, 3})}, {}},
        {"Range",
         {Tensor::scalar(std::int64_t{10}), Tensor::scalar(std::int64_t{3}),
          Tensor::scalar(std::int64_t{-3})},
         {}},
        {"EyeLike", {iota({3, 4})}, {{"k", one}}},
        {"Trilu", {iota({2, 3, 3})}, {{"upper", std::int64_t{0}}}},
        {"OneHot",
         {integers({1, -1, 9}), Tensor::scalar(std::int64_t{3}), Tensor::f32({2}, Floats{5, 7})},
         {{"axis", std::int64_t{0}}}},
        {"Compress", {iota({3, 2}), integers({0, 1, 1})}, {{"axis", std::int64_t{0}}}},
        {"NonZero", {iota({2, 2})}, {}},
        {"TopK", {iota({2, 4}), integers({2})}, {}, 2},
        {"Unique", {Tensor::f32({5}, Floats{3, 1, 3, 2, 1})}, {{"sorted", std::int64_t{0}}}, 4},
        {"CumSum", {iota({2, 3}), Tensor::scalar(one)}, {{"exclusive", one}, {"reverse", one}}},
        {"ReverseSequence", {iota({3, 2}), integers({3, 2})}, {}},
    };
}

TEST(ShapeOperators, PartialShapesAgreeWithTheKernels) {
    for (const Case& c : cases()) {
        const std::vector<Tensor> results = run(c);
        // Every combination of what is known about each input.
        const auto kinds = std::size_t{4};
        std::size_t combinations = 1;
        for (std::size_t i = 0; i < c.inputs.size(); ++i) combinations *= kinds;
        for (std::size_t code = 0; code < combinations; ++code) {
            std::vector<Known> known;
            for (std::size_t i = 0, rest = code; i < c.inputs.size(); ++i, rest /= kinds)
                known.push_back(static_cast<Known>(rest % kinds));
            const auto graph = graph_of(c, known);
            ASSERT_TRUE(graph.ok()) << c.name << " " << code << ": " << graph.error().text();
            for (std::size_t i = 0; i < c.outputs; ++i) {
                const TensorType& type = graph->value(graph->outputs()[i]).type;
                EXPECT_EQ(type.element, results[i].type()) << c.name;
                if (!type.shape) continue;
                ASSERT_EQ(type.shape->size(), results[i].dims().size()) << c.name << " " << code;
                for (std::size_t d = 0; d < type.shape->size(); ++d)
                    if ((*type.shape)[d].known()) {
                        EXPECT_EQ((*type.shape)[d].value(), results[i].dims()[d]) << c.name << " " << code;
                    }
            }
        }
        const bool depends_on_data = c.name == "Compress" || c.name == "NonZero" || c.name == "Unique";
        const auto full = graph_of(c, std::vector<Known>(c.inputs.size(), Known::constant));
        if (!depends_on_data) {
            EXPECT_TRUE(full->value(full->outputs()[0]).type.known()) << c.name;
        }
    }
}

TEST(ShapeOperators, KnownValues) {
    const auto first = [](const Case& c) { return as_floats(run(c)[0]); };
    EXPECT_EQ(first({"ReduceSum", {iota({2, 3}), integers({1})}, {}}), (Floats{3, 12}));
    EXPECT_EQ(first({"ReduceMean", {iota({2, 3}), integers({0})}, {}}), (Floats{1.5F, 2.5F, 3.5F}));
    EXPECT_EQ(first({"Transpose", {iota({2, 3})}, {}}), (Floats{0, 3, 1, 4, 2, 5}));
    EXPECT_EQ(
        first({"Slice", {iota({5}), integers({-1}), integers({-100}), integers({0}), integers({-2})}, {}}),
        (Floats{4, 2, 0}));
    EXPECT_EQ(first({"Pad", {iota({3}), integers({2, 3})}, {{"mode", std::string("reflect")}}}),
              (Floats{2, 1, 0, 1, 2, 1, 0, 1}));
    EXPECT_EQ(first({"Pad", {iota({3}), integers({1, 1})}, {{"mode", std::string("wrap")}}}),
              (Floats{2, 0, 1, 2, 0}));
    EXPECT_EQ(first({"Tile", {iota({2, 1}), integers({1, 2})}, {}}), (Floats{0, 0, 1, 1}));
    EXPECT_EQ(first({"Gather", {iota({2, 2}), integers({-1})}, {{"axis", one}}}), (Floats{1, 3}));
    EXPECT_EQ(first({"CumSum", {iota({4}), Tensor::scalar(std::int64_t{0})}, {{"exclusive", one}}}),
              (Floats{0, 0, 1, 3}));
    EXPECT_EQ(first({"ScatterND",
                     {iota({3, 1}), Tensor::i64({2, 1}, Dims{2, 2}), iota({2, 1})},
                     {{"reduction", std::string("add")}}}),
              (Floats{0, 1, 3}));
    const auto unique =
        run({"Unique", {Tensor::f32({5}, Floats{3, 1, 3, 2, 1})}, {{"sorted", std::int64_t{0}}}, 4});
    EXPECT_EQ(as_floats(unique[0]), (Floats{3, 1, 2}));
    EXPECT_EQ(as_floats(unique[2]), (Floats{0, 1, 0, 2, 1}));
    EXPECT_EQ(as_floats(unique[3]), (Floats{2, 2, 1}));
}

TEST(ShapeOperators, TooFewUpdatesAreRefusedBeforePlacesAreListed) {
    constexpr std::int64_t many = 100'000;  // many slices of as many elements: no memory holds their places
    const Case c{"ScatterND",
                 {Tensor(ElementType::f32, {1, many}), Tensor(ElementType::i64, {many, 1}), iota({1})},
                 {}};
    const auto graph = graph_of(c, {Known::dims, Known::dims, Known::dims});
    ASSERT_TRUE(graph.ok());
    const auto result = evaluate(*graph, c.inputs);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::mismatch);
}

TEST(ShapeOperators, SymbolsSurviveReshape) {
    Graph graph;
    const ValueId x = graph.add_input("x", {ElementType::f32, Shape{Dimension("N"), 3, 4}});
    const ValueId merged = graph.add("Reshape", {x, graph.add_constant("a", integers({0, -1}))});
    const ValueId kept = graph.add("Reshape", {x, graph.add_constant("b", integers({-1, 12}))});
    graph.set_outputs({merged, kept});
    ASSERT_TRUE(infer_types(graph).ok());
    EXPECT_EQ(text(graph.value(merged).type), "f32[N,12]");
    EXPECT_EQ(text(graph.value(kept).type), "f32[N,12]");
}

TEST(ShapeOperators, ASqueezeOfEveryAxisIsOfOneElement) {
    const auto typed = [](const Dims& dims, ElementType axes) {
        Graph graph;
        const ValueId x = graph.add_input("x", {ElementType::f32, shape_of(dims)});
        const ValueId gone = graph.add_input("axes", {axes, Shape{static_cast<std::int64_t>(dims.size())}});
        graph.set_outputs({graph.add("Squeeze", {x, gone})});
        return infer_types(graph).ok();
    };
    EXPECT_TRUE(typed({1, 1}, ElementType::i64));
    EXPECT_FALSE(typed({1, 3}, ElementType::i64));
    EXPECT_FALSE(typed({1, 1}, ElementType::f32));
}

TEST(ShapeOperators, ConcatIsOfOneElementType) {
    const auto typed = [](ElementType a, ElementType b) {
        Graph graph;
        const ValueId x = graph.add_input("x", {a, shape_of({2})});
        const ValueId y = graph.add_input("y", {b, shape_of({2})});
        graph.set_outputs({graph.add("Concat", {x, y}, {{"axis", std::int64_t{0}}})});
        return infer_types(graph).ok();
    };
    EXPECT_TRUE(typed(ElementType::f32, ElementType::f32));
    EXPECT_FALSE(typed(ElementType::f32, ElementType::i64));
    EXPECT_FALSE(typed(ElementType::i8, ElementType::u8));
}

TEST(ShapeOperators, AReshapeToNoDimensionsIsOfOneElement) {
    const auto typed = [](const Dims& dims, ElementType shape) {
        Graph graph;
        const ValueId x = graph.add_input("x", {ElementType::f32, shape_of(dims)});
        const ValueId wanted = graph.add_input("shape", {shape, Shape{0}});
        graph.set_outputs({graph.add("Reshape", {x, wanted})});
        return infer_types(graph).ok();
    };
    EXPECT_TRUE(typed({1, 1}, ElementType::i64));
    EXPECT_FALSE(typed({2, 3}, ElementType::i64));
    EXPECT_FALSE(typed({0}, ElementType::i64));
    EXPECT_FALSE(typed({1, 1}, ElementType::f32));
}

TEST(ShapeOperators, BadInputIsAnError) {
    const auto refused = [](const Case& c) {
        const auto graph = graph_of(c, std::vector<Known>(c.inputs.size(), Known::constant));
        return !graph.ok() || !evaluate(*graph, {}).ok();
    };
    const std::int64_t huge = std::int64_t{1} << 62;
    EXPECT_TRUE(refused({"Reshape", {iota({2, 3}), integers({4, -1})}, {}}));
    EXPECT_TRUE(refused({"Reshape", {iota({2, 3}), integers({huge, huge})}, {}}));
    EXPECT_TRUE(refused({"ConstantOfShape", {integers({1 << 20, 1 << 20})}, {}}));
    EXPECT_TRUE(refused({"Tile", {iota({2}), integers({huge})}, {}}));
    EXPECT_TRUE(refused({"Expand", {iota({1}), integers({1 << 20, 1 << 20})}, {}}));
    EXPECT_TRUE(refused({"Gather", {iota({2}), integers({2})}, {}}));
    for (const std::int64_t batch :
         {std::numeric_limits<std::int64_t>::max(), std::int64_t{-1}, std::int64_t{2}})
        EXPECT_TRUE(refused({"GatherND", {iota({2, 3}), integers({0})}, {{"batch_dims", batch}}}));
    EXPECT_TRUE(refused({"Pad", {iota({2}), integers({huge, 0})}, {}}));
    EXPECT_TRUE(refused({"Pad", {iota({2}), integers({-2, -1})}, {}}));
    EXPECT_TRUE(
        refused({"Slice", {iota({2}), integers({0}), integers({1}), integers({0}), integers({0})}, {}}));
    EXPECT_TRUE(refused({"Split", {iota({2, 7}), integers({3, 5})}, {{"axis", one}}, 2}));
    EXPECT_TRUE(
        refused({"Range", {Tensor::scalar(0.0F), Tensor::scalar(1e30F), Tensor::scalar(1e-30F)}, {}}));
    EXPECT_TRUE(refused({"Transpose", {iota({2, 3})}, {{"perm", Dims{0, 0}}}}));
    EXPECT_TRUE(refused({"TopK", {iota({2}), integers({3})}, {}, 2}));
}

}  // namespace
}  // namespace viridian::graph
