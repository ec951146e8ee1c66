#include <gtest/gtest.h>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::onnx {
namespace {

const Path node_tests = "/usr/share/libonnx-testdata/data/node";

TEST(Load, AModelOfOneNode) {
    const auto graph = load(node_tests / "test_relu" / "model.onnx");
    ASSERT_TRUE(graph.ok()) << graph.error().text();
    EXPECT_EQ(graph->inputs().size(), 1U);
    EXPECT_EQ(graph->node(graph->nodes()[0]).op.name(), "Relu");
    EXPECT_TRUE(graph::verify(*graph).ok());
    const auto& input = graph->value(graph->inputs()[0]);
    EXPECT_EQ(input.name, "x");
    EXPECT_EQ(graph::text(input.type), "f32[3,4,5]");
}

TEST(Load, UnsupportedOperatorsAreAllListed) {
    const auto graph = load(node_tests / "test_sequence_insert_at_back" / "model.onnx");
    ASSERT_FALSE(graph.ok());
    EXPECT_EQ(graph.error().code, ErrorCode::unsupported);
    EXPECT_NE(graph.error().message.find("SequenceInsert"), std::string::npos) << graph.error().message;
}

}  // namespace
}  // namespace viridian::onnx
