#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::onnx {
namespace {

const Path data = "/usr/share/libonnx-testdata/data";

std::string structure_and_names(const graph::Graph& graph) {
    std::string text = fmt::format("{:016x}", graph::structural_hash(graph));
    for (const graph::NodeId id : *graph::topological_order(graph)) {
        text += fmt::format("\n{} {}", graph.node(id).op, graph.node(id).name);
        for (const graph::ValueId output : graph.node(id).outputs)
            if (output != graph::ValueId::none) text += fmt::format(" {}", graph.value(output).name);
    }
    return text;
}

// Every model of the folders that loads comes back as the same graph.
TEST(Save, LoadSaveLoadKeepsTheStructure) {
    int round_trips = 0;
    for (const char* folder : {"node", "simple", "pytorch-operator", "pytorch-converted"})
        for (const auto& entry : std::filesystem::directory_iterator(data / folder)) {
            const Path file = entry.path() / "model.onnx";
            const auto first = load(file);
            if (!first.ok()) {
                ASSERT_EQ(first.error().code, ErrorCode::unsupported) << file << " " << first.error().text();
                continue;
            }
            ASSERT_TRUE(graph::verify(*first).ok()) << file << graph::verify(*first).error().text();
            const auto bytes = serialize(*first);
            ASSERT_TRUE(bytes.ok()) << file << " " << bytes.error().text();
            const auto second = parse(*bytes, "again");
            ASSERT_TRUE(second.ok()) << file << " " << second.error().text();
            EXPECT_EQ(graph::structural_hash(*first), graph::structural_hash(*second)) << file;
            const auto written = as_written(*first);
            ASSERT_TRUE(written.ok()) << file << written.error().text();
            EXPECT_EQ(structure_and_names(*written), structure_and_names(*second)) << file;
            EXPECT_EQ(structure_and_names(*written), structure_and_names(*as_written(*written))) << file;
            ++round_trips;
        }
    EXPECT_GT(round_trips, 100);
    RecordProperty("round_trips", round_trips);
}

TEST(Save, LargeConstantsGoBesideTheModel) {
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::Shape{1, 4096}});
    std::vector<float> values(4096);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const auto w = graph.add_constant("w", graph::Tensor::f32({1, 4096}, values));
    graph.set_outputs({graph.add("Add", {x, w})});
    const tests::TemporaryFolder folder;
    ASSERT_TRUE(save(graph, folder / "m.onnx", {.external_above = 0}).ok());
    EXPECT_EQ(std::filesystem::file_size(folder / "m.onnx.data"), 4096U * 4);
    EXPECT_LT(std::filesystem::file_size(folder / "m.onnx"), 1000U);
    const auto again = load(folder / "m.onnx");
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(graph::structural_hash(*again), graph::structural_hash(graph));
}

// In an older operator set a Swish is a call of a function that says it in older words; it is read as Swish.
TEST(Save, SwishIsAFunctionInOldOperatorSets) {
    for (const double alpha : {1.0, 1.5}) {
        graph::Graph graph;
        const auto x = graph.add_input("x", {graph::ElementType::f32, graph::Shape{2, 3}});
        graph.set_outputs(
            {graph.add("Swish", {graph.add("Swish", {x}, {{"alpha", alpha}})}, {{"alpha", alpha}})});
        ASSERT_TRUE(graph::infer_types(graph).ok());
        const auto bytes = serialize(graph);
        ASSERT_TRUE(bytes.ok()) << bytes.error().text();
        EXPECT_NE(bytes->find("Sigmoid"), std::string::npos);
        EXPECT_NE(bytes->find("viridian.operator"), std::string::npos);
        EXPECT_EQ(bytes->find("viridian.operator"), bytes->rfind("viridian.operator")) << "one function";
        const auto again = parse(*bytes, "again");
        ASSERT_TRUE(again.ok()) << again.error().text();
        EXPECT_EQ(graph::structural_hash(*again), graph::structural_hash(graph));

        // Where the function is not ours any more, it means what it says.
        std::string changed = *bytes;
        for (auto at = changed.find("Sigmoid"); at != std::string::npos; at = changed.find("Sigmoid"))
            changed.replace(at, 7, "Softmax");
        const auto inlined = parse(changed, "changed");
        ASSERT_TRUE(inlined.ok()) << inlined.error().text();
        for (const auto id : inlined->nodes()) EXPECT_NE(inlined->node(id).op, graph::op::Swish);
        EXPECT_EQ(graph::structural_hash(*parse(*serialize(graph, {.opset = 24}), "newest")),
                  graph::structural_hash(graph));
    }
}

std::shared_ptr<const graph::Graph> doubled_and_shifted(float shift) {
    graph::Graph body;
    const auto x = body.add_input("x", {graph::ElementType::f32, graph::Shape{2, 3}});
    const auto y = body.add_input("y", {graph::ElementType::f32, graph::Shape{2, 3}});
    const auto twice = body.add("Add", {x, x});
    const auto constant = body.add_constant("shift", graph::Tensor::scalar(shift));
    body.set_outputs({body.add("Add", {twice, constant}), body.add("Mul", {twice, y}), y});
    return std::make_shared<const graph::Graph>(std::move(body));
}

// A graph of private operators, with two bodies of one operator.
graph::Graph private_graph() {
    graph::Graph graph;
    graph::ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::Shape{2, 3}});
    graph::ValueId y = graph.add_input("y", {graph::ElementType::f32, graph::Shape{2, 3}});
    for (const float shift : {1.0F, 2.0F, 1.0F}) {
        graph::Node node;
        node.op = graph::Operator("DoubleAndShift", "viridian");
        node.name = "twice";
        node.attributes = {{"note", std::int64_t{7}}};
        node.inputs = {x, y};
        node.bodies = {doubled_and_shifted(shift)};
        const auto id = graph.add_node(std::move(node), 3);
        x = graph.node(id).outputs[0];
        y = graph.node(id).outputs[1];
    }
    graph.set_outputs({x, y});
    EXPECT_TRUE(graph::infer_types(graph).ok());
    return graph;
}

TEST(Save, PrivateOperatorsSurviveAsFunctions) {
    const graph::Graph graph = private_graph();
    const auto again = parse(*serialize(graph), "again");
    ASSERT_TRUE(again.ok()) << again.error().text();
    int kept = 0;
    for (const auto id : again->nodes()) {
        const graph::Node& node = again->node(id);
        EXPECT_EQ(node.op.qualified_name(), "viridian.DoubleAndShift");
        EXPECT_EQ(node.integer("note", 0), 7);
        kept += node.bodies.size() == 1;
    }
    EXPECT_EQ(kept, 3);
    EXPECT_EQ(structure_and_names(*again), structure_and_names(*as_written(*again)));
    std::vector<graph::Tensor> inputs;
    for (const float first : {0.5F, -2.0F})
        inputs.push_back(graph::Tensor::f32({2, 3}, std::vector<float>{first, -1, -0.25F, 0, 0.5F, 3}));
    const auto was = graph::evaluate(graph, inputs), is = graph::evaluate(*again, inputs);
    ASSERT_TRUE(was.ok() && is.ok());
    for (std::size_t i = 0; i < 2; ++i) EXPECT_TRUE((*was)[i].same_bytes((*is)[i]));
}

TEST(Save, OperatorSetsOutsideTheRangeAreRefused) {
    graph::Graph graph;
    graph.set_outputs(
        {graph.add("Relu", {graph.add_input("x", {graph::ElementType::f32, graph::Shape{2}})})});
    EXPECT_EQ(serialize(graph, {.opset = 9}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace viridian::onnx
