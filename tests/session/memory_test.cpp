// A small file may declare huge tensors: they are refused before anything is allocated.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/meter/fake_tree.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/prove/inputs.hpp"
#include "viridian/session/session.hpp"

namespace viridian::session {
namespace {

std::int64_t peak_mebibytes() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss >> 10;
}

// A file of a Relu over `dims`.
std::string relu_file(const meter::tests::FakeTree& folder, graph::Dims dims) {
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of(dims)});
    graph.set_outputs({graph.add("Relu", {x}, {}, "y")});
    EXPECT_TRUE(infer_types(graph).ok());
    const std::string file = (folder.root() / "net.onnx").string();
    EXPECT_TRUE(onnx::save(graph, file).ok());
    EXPECT_LT(std::filesystem::file_size(file), 1000U);
    return file;
}

TEST(Memory, HugeInputsAreRefusedWithoutAllocatingThem) {
    const meter::tests::FakeTree folder;
    ModelOptions options;
    options.model = relu_file(folder, {16, 1 << 10, 1 << 20});  // 64 GiB, and as much again for the output
    const std::int64_t before = peak_mebibytes();
    options.memory = "100GB";
    const auto refused = load_model(options);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::limit_exceeded);
    EXPECT_EQ(refused.error().text(),
              "`" + options.model +
                  "` needs 128 GiB of memory for its weights, inputs and intermediate values, and --memory "
                  "allows 93.1 GiB. choose smaller sizes with --dim or --batch, or raise --memory.");
    EXPECT_EQ(load(options).error().text(), refused.error().text()) << "no plan needs less";
    options.memory = "128GiB";
    EXPECT_TRUE(load_model(options).ok());
    options.memory = "137438953471";  // one byte less
    EXPECT_FALSE(load_model(options).ok());
    options.runs = false;
    EXPECT_TRUE(load_model(options).ok());
    EXPECT_LT(peak_mebibytes(), before + 64);
}

TEST(Memory, WithoutALimitThreeQuartersOfWhatIsFreeMayBeUsed) {
    const meter::tests::FakeTree folder;
    ModelOptions options;
    options.model = relu_file(folder, {1 << 10, 1 << 10, 1 << 20});  // 4 TiB, and as much again
    const std::int64_t before = peak_mebibytes();
    const auto refused = load_model(options);
    ASSERT_FALSE(refused.ok()) << "does this machine have 11 TiB of memory?";
    EXPECT_EQ(refused.error().code, ErrorCode::out_of_memory);
    EXPECT_NE(refused.error().message.find("needs 8.0 TiB"), std::string::npos) << refused.error().text();
    EXPECT_LT(peak_mebibytes(), before + 64);
    options.memory = "much";
    EXPECT_EQ(load_model(options).error().code, ErrorCode::invalid_argument);
}

TEST(Memory, InputsAndOutputsThatDoNotFitAreErrors) {
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1 << 20, 1 << 20})});
    graph.set_outputs({graph.add("Relu", {x}, {}, "y")});
    ASSERT_TRUE(infer_types(graph).ok());
    const std::int64_t before = peak_mebibytes();
    EXPECT_EQ(
        prove::seeded_inputs(graph, 1).error().text(),
        "there is no memory for the input `x`, f32[1048576,1048576]. choose smaller sizes with --dim or "
        "--batch.");
    EXPECT_EQ(
        execute::output_tensors(graph).error().text(),
        "there is no memory for the output `y`, f32[1048576,1048576]. choose smaller sizes with --dim or "
        "--batch.");
    EXPECT_LT(peak_mebibytes(), before + 64);
}

}  // namespace
}  // namespace viridian::session
