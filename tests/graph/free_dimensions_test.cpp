#include <gtest/gtest.h>

#include "viridian/graph/infer.hpp"

namespace viridian::graph {
namespace {

Dimension symbol(const char* name) { return Dimension(std::string(name)); }

TEST(FreeDimensions, AreAskedForAtOnceWithTheOptionsToCopy) {
    Graph graph;
    graph.add_input("ids", {ElementType::i64, Shape{symbol("batch"), symbol("seq")}});
    graph.add_input("mask", {ElementType::i64, Shape{symbol("batch"), symbol("seq"), 4}});
    graph.add_input("bias", {ElementType::f32, Shape{4}});
    const auto error = free_dimensions_error(graph);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::missing_entry);
    EXPECT_EQ(
        error->text(),
        "these inputs have free dimensions: `ids` (i64[batch,seq]), `mask` (i64[batch,seq,4]). add --dim "
        "batch=1 --dim seq=1, or the sizes you serve.");
}

TEST(FreeDimensions, WithoutANameCannotBeBound) {
    Graph graph;
    graph.add_input("ids", {ElementType::i64, Shape{symbol("batch")}});
    graph.add_input("image", {ElementType::f32, Shape{Dimension(), 3}});
    graph.add_input("anything", {ElementType::f32, std::nullopt});
    const auto error = free_dimensions_error(graph);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::unsupported);
    EXPECT_EQ(
        error->message,
        "these inputs have dimensions without a size or a name: `image` (f32[?,3]), `anything` (f32[...])");
}

TEST(FreeDimensions, OfManyInputsTheFirstAreListed) {
    Graph graph;
    for (int i = 0; i < 10; ++i) graph.add_input("x", {ElementType::f32, Shape{symbol("N")}});
    const auto error = free_dimensions_error(graph);
    ASSERT_TRUE(error);
    EXPECT_NE(error->message.find(" and 2 more"), std::string::npos) << error->message;
    EXPECT_EQ(error->next_step, "add --dim N=1, or the sizes you serve");
}

TEST(FreeDimensions, NoErrorWhenEverySizeIsKnown) {
    Graph graph;
    graph.add_input("x", {ElementType::f32, Shape{1, 3}});
    graph.add_input("scalar", {ElementType::f32, Shape{}});
    EXPECT_FALSE(free_dimensions_error(graph));
}

}  // namespace
}  // namespace viridian::graph
