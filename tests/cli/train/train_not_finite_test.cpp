// What `viridian train` says when a loss or a state is no number.
#include "tests/cli/train_support.hpp"
#include "viridian/data/npy.hpp"

namespace viridian::cli {
namespace {

using graph::ElementType;
using graph::Tensor;
using graph::ValueId;
using testing::HasSubstr;

class TrainNotFinite : public TrainCommand {
  protected:
    // Trains the small model, in batches of 4 in order, on points whose labels alternate, except label 9.
    Outcome train(std::vector<float> points, std::int64_t last_label = 1, const char* model = "model.onnx") {
        const auto samples = static_cast<std::int64_t>(points.size() / 2);
        std::vector<std::int64_t> labels;
        for (std::int64_t i = 0; i < samples; ++i) labels.push_back(i < 8 ? i % 2 : last_label);
        std::filesystem::create_directories(folder_ + "arrays");
        std::ofstream(folder_ + "arrays/points.npy")
            << data::npy_bytes(Tensor::f32({samples, 2}, points)).value();
        std::ofstream(folder_ + "arrays/labels.npy")
            << data::npy_bytes(Tensor::i64({samples}, labels)).value();
        return cli::run({"train", folder_ + model, "--data", folder_ + "arrays", "--threads", "1",
                         "--in-order", "--batch", "4", "-o", folder_ + "trained.onnx"});
    }
};

TEST_F(TrainNotFinite, ASampleThatIsNoNumberIsNamed) {
    std::vector<float> points(24, 0.5F);
    points[11] = std::numeric_limits<float>::quiet_NaN();
    const Outcome wrong = train(points);
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err,
                HasSubstr("the loss is nan in step 2: the data gives nan to the input `points`, at "
                          "element 1 of sample 5. repair or leave out this sample"));
}

TEST_F(TrainNotFinite, ABatchWithoutLabelsIsSaid) {
    const Outcome wrong = train(std::vector<float>(24, 0.5F), -100);
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("the loss is nan in step 3: no label of its batch counts"));
}

TEST_F(TrainNotFinite, TheFirstTensorThatOverflowsIsNamed) {
    std::vector<float> points(24, 0.5F);
    points[16] = points[17] = 3e38F;  // two of them are more than the first layer can add up
    const Outcome wrong = train(points);
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("is the first tensor that holds"));
    EXPECT_THAT(wrong.err, HasSubstr(", the output of Gemm `"));
    EXPECT_THAT(wrong.err, HasSubstr("choose a smaller --rate"));
}

// The variance overflows, so that outputs become zero and the loss stays finite.
TEST_F(TrainNotFinite, AnInfiniteStatisticEndsTheRunAtOnce) {
    graph::Graph graph;
    const ValueId x = graph.add_input("points", {ElementType::f32, graph::Shape{graph::Dimension("N"), 2}});
    const auto two = [&](const char* name, float value) {
        return graph.add_constant(name, Tensor::f32({2}, std::vector{value, value}));
    };
    graph::Node norm;
    norm.op = graph::op::BatchNormalization;
    norm.name = "bn";
    norm.inputs = {x, two("bn.weight", 1), two("bn.bias", 0), two("bn.mean", 0), two("bn.variance", 1)};
    norm.attributes["training_mode"] = std::int64_t{1};
    const graph::NodeId id = graph.add_node(std::move(norm), 3);
    graph.set_outputs({graph.node(id).outputs[0], graph.node(id).outputs[1], graph.node(id).outputs[2]});
    ASSERT_TRUE(infer_types(graph).ok());
    ASSERT_TRUE(onnx::save(graph, folder_ + "bn.onnx").ok());
    std::vector<float> points(24, 0.5F);
    points[10] = 1e30F;
    const Outcome wrong = train(points, 1, "bn.onnx");
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("after step 2 `bn.variance` holds inf at element 0"));
}

}  // namespace
}  // namespace viridian::cli
