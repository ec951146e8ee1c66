// `run`: outputs and traces into files, inputs from files.
#include "tests/cli/run_cli_support.hpp"
#include "viridian/base/file.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/tensor_file.hpp"

namespace viridian::cli {
namespace {

class Run : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = Path(testing::TempDir()) / fmt::format("run_{}", ::getpid());
        std::filesystem::create_directories(folder_);
        graph::Graph graph;
        const graph::TensorType type{graph::ElementType::f32,
                                     graph::Shape{graph::Dimension("N"), graph::Dimension(2)}};
        const graph::ValueId a = graph.add_input("a", type);
        const graph::ValueId b = graph.add_input("b", type);
        graph.set_outputs({graph.add("Sub", {a, b}, {}, "difference")});
        ASSERT_TRUE(infer_types(graph).ok());
        ASSERT_TRUE(onnx::save(graph, at("model.onnx")).ok());
        write("a.npy", {5, 7});
        write("other.npy", {1, 2});
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    std::string at(const char* name) const { return (folder_ / name).string(); }
    void write(const char* name, const std::vector<float>& values) const {
        ASSERT_TRUE(onnx::write_tensor_file(at(name), {"", graph::Tensor::f32({1, 2}, values)}).ok());
    }
    Path folder_;
};

TEST_F(Run, ReadsInputsByNameAndWritesOutputsAndATrace) {
    const Outcome ran =
        run({"run", at("model.onnx"), "--batch", "1", "--inputs", "b=" + at("other.npy"), "--inputs",
             at("a.npy"), "-o", at("out"), "--trace", at("trace.json"), "--rounds", "1", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto result = parse_json(ran.out, "stdout");
    ASSERT_TRUE(result.ok());
    const auto output = onnx::read_tensor_file((*result)["outputs"][0]["file"].get<std::string>());
    ASSERT_TRUE(output.ok());
    EXPECT_EQ(output->tensor.number(0), 4);
    EXPECT_EQ(output->tensor.number(1), 5);
    EXPECT_NE(read_file(at("trace.json"))->find("difference"), std::string::npos);
}

TEST_F(Run, SaysWhatIsWrongWithInputs) {
    const Outcome missing = run({"run", at("model.onnx"), "--batch", "1", "--inputs", "a=" + at("a.npy")});
    EXPECT_EQ(missing.code, 1);
    EXPECT_NE(missing.err.find("no file gives the input `b`"), std::string::npos) << missing.err;
    const Outcome shape = run({"run", at("model.onnx"), "--batch", "3", "--inputs", "a=" + at("a.npy")});
    EXPECT_EQ(shape.code, 1);
    EXPECT_NE(shape.err.find("the input `a` is"), std::string::npos) << shape.err;
}

}  // namespace
}  // namespace viridian::cli
