// Runs whose step has stacked weights leave the weights, and keep the checkpoints, of runs that do not.
#include "tests/cli/train_support.hpp"
#include "viridian/train/checkpoint/folder.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

class TrainStack : public TrainCommand {
  protected:
    void SetUp() override {
        TrainCommand::SetUp();
        write_projections();
    }

    // tanh(q)·k + v, three projections of a rectified layer, and two classes.
    void write_projections() {
        graph::Graph graph;
        Random random(5);
        const auto layer = [&](graph::ValueId x, const std::string& name, std::int64_t in, std::int64_t out) {
            graph::Tensor weight(graph::ElementType::f32, {in, out}), bias(graph::ElementType::f32, {out});
            for (float& value : weight.mutable_values<float>())
                value = static_cast<float>(random.uniform(-0.5, 0.5));
            const graph::ValueId product =
                graph.add(graph::op::MatMul, {x, graph.add_constant(name + ".weight", std::move(weight))});
            return graph.add(graph::op::Add, {product, graph.add_constant(name + ".bias", std::move(bias))});
        };
        const graph::ValueId points =
            graph.add_input("points", {graph::ElementType::f32, graph::Shape{graph::Dimension("N"), 2}});
        const graph::ValueId x = graph.add(graph::op::Relu, {layer(points, "one", 2, 16)});
        const graph::ValueId q = layer(x, "q", 16, 8), k = layer(x, "k", 16, 8), v = layer(x, "v", 16, 8);
        const graph::ValueId mixed =
            graph.add(graph::op::Add, {graph.add(graph::op::Mul, {graph.add(graph::op::Tanh, {q}), k}), v});
        graph.set_outputs({layer(mixed, "two", 8, 2)});
        ASSERT_TRUE(infer_types(graph).ok());
        ASSERT_TRUE(onnx::save(graph, folder_ + "model.onnx").ok());
    }

    void expect_near(const std::string& one, const std::string& other) const {
        for (const char* name :
             {"one.weight", "q.weight", "q.bias", "k.weight", "v.weight", "v.bias", "two.bias"}) {
            const std::vector<double> a = numbers(one, name), b = numbers(other, name);
            ASSERT_EQ(a.size(), b.size()) << name;
            ASSERT_FALSE(a.empty()) << name;
            for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-5) << name << i;
        }
    }
};

TEST_F(TrainStack, TheWeightsAreThoseOfSeparateProducts) {
    const std::vector<std::string> common = {"--epochs", "2", "--ema", "0.9", "--eval-share", "0.25"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    const Json separate = run_json(with({"-o", folder_ + "separate.onnx"}));
    for (const std::string stack : {"all", "pairs", "cheapest"}) {
        const Json made = run_json(with({"-o", folder_ + stack + ".onnx", "--stack", stack}));
        EXPECT_EQ(made["parameters"], separate["parameters"]);
        EXPECT_NEAR(made["epochs"][1]["evaluation_loss"].get<double>(),
                    separate["epochs"][1]["evaluation_loss"].get<double>(), 1e-4);
        expect_near("separate.onnx", stack + ".onnx");
    }
    const Json parts = run_json({"--epochs", "2", "--batch", "16", "--accumulate", "2", "--stack", "all",
                                 "-o", folder_ + "parts.onnx"});
    EXPECT_EQ(parts["parameters"], separate["parameters"]);
    EXPECT_EQ(run({"--epochs", "2", "--batch", "16", "--accumulate", "2", "-o", folder_ + "plain.onnx"}).code,
              0);
    expect_near("plain.onnx", "parts.onnx");
}

TEST_F(TrainStack, CheckpointsHaveTheModelsNamesAndTheRunGoesOnFromThem) {
    const std::string points = folder_ + "points";
    const std::vector<std::string> common = {"--epochs", "2",      "--stack", "all",           "--every",
                                             "5",        "--keep", "100",     "--checkpoints", points};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    const Outcome whole = run(with({"-o", folder_ + "whole.onnx"}));
    ASSERT_EQ(whole.code, 0) << whole.err;
    const std::vector<Path> files = train::checkpoints_in(points);
    ASSERT_GT(files.size(), 3U);
    const auto saved = train::read_checkpoint(files[0]);
    ASSERT_TRUE(saved.ok()) << saved.error().text();
    std::vector<std::string> parameters;
    for (const train::SavedState& state : saved->states) {
        if (state.role == "parameter") parameters.push_back(state.name);
        if (state.name == "k.weight.moment2") {
            EXPECT_EQ(state.of, "k.weight");
            EXPECT_EQ(state.tensor.dims(), (graph::Dims{16, 8}));
        }
        EXPECT_EQ(state.name.find('+'), std::string::npos) << state.name;
    }
    EXPECT_THAT(parameters, UnorderedElementsAre("one.weight", "one.bias", "q.weight", "q.bias", "k.weight",
                                                 "k.bias", "v.weight", "v.bias", "two.weight", "two.bias"));
    for (std::size_t i = 0; i < files.size() / 2; ++i) std::filesystem::remove(files[i]);  // the newest
    const Outcome resumed = run(with({"-o", folder_ + "resumed.onnx", "--resume"}));
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(bytes("whole.onnx"), bytes("resumed.onnx"));
}

TEST_F(TrainStack, OtherWordsAreRefused) {
    const Outcome unknown = run({"-o", folder_ + "a.onnx", "--stack", "three"});
    EXPECT_EQ(unknown.code, 1);
    EXPECT_THAT(unknown.err, HasSubstr("`three` is no way to stack products"));
    EXPECT_THAT(unknown.err, HasSubstr("choose separate, pairs or all"));
    const Outcome priced = cli::run({"gradient", folder_ + "model.onnx", "--batch", "4", "--stack",
                                     "cheapest", "-o", folder_ + "s.onnx"});
    EXPECT_EQ(priced.code, 1);
    EXPECT_THAT(priced.err, HasSubstr("has no prices of kernels"));
}

}  // namespace
}  // namespace viridian::cli
