// Attributes and sizes whose sums or products have more than 64 bits: refused, without undefined behaviour.
#include <gtest/gtest.h>

#include "operator_support.hpp"

namespace viridian::graph {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

// Infers the types of one operator over inputs of these types.
Result<void> typed(const std::string& op, const std::vector<TensorType>& inputs, Attributes attributes,
                   const std::vector<Tensor>& constants = {}, std::size_t output_count = 1) {
    Graph graph;
    Node node;
    node.op = graph::Operator(op);
    node.attributes = std::move(attributes);
    for (const TensorType& type : inputs) node.inputs.push_back(graph.add_input("x", type));
    for (const Tensor& constant : constants) node.inputs.push_back(graph.add_constant("c", constant));
    graph.set_outputs(graph.node(graph.add_node(std::move(node), output_count)).outputs);
    return infer_types(graph);
}

TensorType floats_of(Dims dims) { return {ElementType::f32, shape_of(dims)}; }

TEST(HugeAttributes, WindowsAndPaddings) {
    EXPECT_FALSE(
        typed("MaxPool", {floats_of({1, 1, 4})}, {{"kernel_shape", Dims{most}}, {"dilations", Dims{2}}})
            .ok());
    const std::vector<TensorType> transposed = {floats_of({1, 1, 4}), floats_of({1, 1, 3})};
    EXPECT_TRUE(typed("ConvTranspose", transposed, {{"output_padding", Dims{0}}}).ok());
    EXPECT_FALSE(typed("ConvTranspose", transposed, {{"output_padding", Dims{most}}}).ok());
    EXPECT_FALSE(typed("ConvTranspose", transposed, {{"output_shape", Dims{-most - 1}}}).ok());
    const TensorType indices = {ElementType::i64, shape_of({1, 1, std::int64_t{1} << 34})};
    EXPECT_FALSE(typed("MaxUnpool", {floats_of(indices.dims()), indices},
                       {{"kernel_shape", Dims{2}}, {"strides", Dims{std::int64_t{1} << 31}}})
                     .ok());
    EXPECT_FALSE(typed("Col2Im", {floats_of({1, 4, 2})}, {{"pads", Dims{1, 1, 1, 1}}},
                       {integers({2}, {most, most}), integers({2}, {2, 2})})
                     .ok());
}

// Five windows over four cells: the table of what they read would have more than 10^9 entries.
TEST(HugeAttributes, WindowsThatOnlyPaddingFills) {
    constexpr std::int64_t wide = std::int64_t{1} << 28;
    const Attributes attributes = {{"kernel_shape", Dims{wide}}, {"pads", Dims{wide, 0}}};
    for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
        const auto pooled = run_operator(op, {counting({1, 1, 4})}, attributes);
        ASSERT_FALSE(pooled.ok()) << op;
        EXPECT_EQ(pooled.error().code, ErrorCode::limit_exceeded) << pooled.error().text();
    }
}

TEST(HugeAttributes, GroupsOfNoChannels) {
    const Attributes groups = {{"group", most}};
    EXPECT_FALSE(typed("ConvTranspose", {floats_of({1, 0, 4}), floats_of({0, 3, 3})}, groups).ok());
    EXPECT_FALSE(typed("Conv", {floats_of({1, 0, 4}), floats_of({0, 3, 3})}, groups).ok());
}

TEST(HugeAttributes, PartsAndBlocks) {
    EXPECT_TRUE(typed("Split", {floats_of({4})}, {}, {integers({3}, {1, 0, 3})}, 3).ok());
    EXPECT_FALSE(typed("Split", {floats_of({4})}, {}, {integers({3}, {most, most, 6})}, 3).ok());
    EXPECT_FALSE(typed("Split", {floats_of({4})}, {}, {integers({3}, {5, -1, 0})}, 3).ok());
    EXPECT_TRUE(typed("QuantizeLinear", {floats_of({4, 3}), floats_of({1, 3})},
                      {{"axis", std::int64_t{0}}, {"block_size", most}})
                    .ok());
    // Two scales along an axis without elements have no block size.
    EXPECT_FALSE(
        typed("QuantizeLinear", {floats_of({0, 3}), floats_of({2, 3})}, {{"axis", std::int64_t{0}}}).ok());
}

// The reference kernels visit no line of a tensor without elements, however many there are.
TEST(HugeAttributes, ManyLinesWithoutElements) {
    const Tensor empty(ElementType::f32, {4, std::int64_t{1} << 33, 0});
    for (const char* op : {"Softmax", "LogSoftmax", "Hardmax", "LpNormalization"})
        EXPECT_EQ(run(op, {empty}).dims(), empty.dims()) << op;
}

TEST(HugeAttributes, ATensorBeyondTheLimitIsRefusedByItsNode) {
    const auto expanded = typed("Tile", {floats_of({1 << 20, 1 << 20})}, {}, {integers({2}, {1, 2})});
    ASSERT_FALSE(expanded.ok());
    EXPECT_EQ(expanded.error().code, ErrorCode::limit_exceeded);
}

}  // namespace
}  // namespace viridian::graph
