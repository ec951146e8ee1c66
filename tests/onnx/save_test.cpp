#include <gtest/gtest.h>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::onnx {
namespace {

const Path data = "/usr/share/libonnx-testdata/data";

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
    const Path folder = std::filesystem::path(testing::TempDir()) / "viridian_external";
    std::filesystem::create_directories(folder);
    ASSERT_TRUE(save(graph, folder / "m.onnx", {.external_above = 0}).ok());
    EXPECT_EQ(std::filesystem::file_size(folder / "m.onnx.data"), 4096U * 4);
    EXPECT_LT(std::filesystem::file_size(folder / "m.onnx"), 1000U);
    const auto again = load(folder / "m.onnx");
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(graph::structural_hash(*again), graph::structural_hash(graph));
    std::filesystem::remove_all(folder);
}

TEST(Save, OldOperatorSetsSaySwishInTheirWords) {
    for (const double alpha : {1.0, 1.5}) {
        graph::Graph graph;
        const auto x = graph.add_input("x", {graph::ElementType::f32, graph::Shape{2, 3}});
        graph.set_outputs({graph.add("Swish", {x}, {{"alpha", alpha}})});
        const auto again = parse(*serialize(graph), "again");
        ASSERT_TRUE(again.ok()) << again.error().text();
        int sigmoids = 0;
        for (const auto id : again->nodes()) {
            EXPECT_NE(again->node(id).op.name(), "Swish");
            sigmoids += again->node(id).op == graph::op::Sigmoid;
        }
        EXPECT_EQ(sigmoids, 1);
        const std::vector<graph::Tensor> inputs = {
            graph::Tensor::f32({2, 3}, std::vector<float>{-5, -1, -0.25F, 0, 0.5F, 3})};
        const auto was = graph::evaluate(graph, inputs), is = graph::evaluate(*again, inputs);
        ASSERT_TRUE(was.ok() && is.ok());
        for (std::int64_t i = 0; i < 6; ++i) EXPECT_NEAR((*was)[0].number(i), (*is)[0].number(i), 1e-6);
        EXPECT_EQ(graph::structural_hash(*parse(*serialize(graph, {.opset = 24}), "newest")),
                  graph::structural_hash(graph));
    }
}

TEST(Save, OperatorSetsOutsideTheRangeAreRefused) {
    graph::Graph graph;
    graph.set_outputs(
        {graph.add("Relu", {graph.add_input("x", {graph::ElementType::f32, graph::Shape{2}})})});
    EXPECT_EQ(serialize(graph, {.opset = 9}).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace viridian::onnx
