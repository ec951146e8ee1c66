#pragma once
// The fixture of tests of `viridian train`: a folder with a small model and its samples.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/random.hpp"
#include "viridian/cli/train/train_options.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {

class TrainCommand : public testing::Test {
  protected:
    void SetUp() override {
        write_model();
        write_samples();
    }

    // Trains the model on the samples, on one thread.
    Outcome run(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(),
                         {"train", folder_ + "model.onnx", "--data", folder_ + "samples.csv",
                          "--label-column", "label", "--threads", "1"});
        return cli::run(arguments);
    }

    // The options of such a run, with a share of the samples for evaluation.
    [[nodiscard]] TrainOptions options(double evaluation_share) const {
        TrainOptions made;
        made.model.model = folder_ + "model.onnx";
        made.model.threads = 1;
        made.data.path = folder_ + "samples.csv";
        made.data.open.csv.label = "label";
        made.data.evaluation_share = evaluation_share;
        return made;
    }

    // Does the same as run(), and returns the object that --json prints.
    Json run_json(std::vector<std::string> arguments) {
        arguments.emplace_back("--json");
        const Outcome done = run(std::move(arguments));
        EXPECT_EQ(done.code, 0) << done.err;
        const auto json = parse_json(done.out, "stdout");
        EXPECT_TRUE(json.ok());
        return json.ok() ? *json : Json();
    }

    // The numbers of a constant of a model in the folder.
    [[nodiscard]] std::vector<double> numbers(const std::string& model, const std::string& name) const {
        std::vector<double> found;
        const auto graph = onnx::load(folder_ + model);
        for (std::size_t i = 0; graph.ok() && i < graph->value_count(); ++i) {
            const auto id = static_cast<graph::ValueId>(i);
            if (graph->constant(id) == nullptr || graph->value(id).name != name) continue;
            for (std::int64_t k = 0; k < graph->constant(id)->count(); ++k)
                found.push_back(graph->constant(id)->number(k));
        }
        return found;
    }

    // Two inputs, a layer of 16 rectifiers, two classes; the batch is a symbol.
    void write_model(std::int64_t outputs = 2) {
        graph::Graph graph;
        Random random(3);
        const auto weights = [&](const char* name, const graph::Dims& dims) {
            graph::Tensor made(graph::ElementType::f32, dims);
            for (float& value : made.mutable_values<float>())
                value = static_cast<float>(random.uniform(-0.7, 0.7));
            return graph.add_constant(name, std::move(made));
        };
        const graph::ValueId x =
            graph.add_input("points", {graph::ElementType::f32, graph::Shape{graph::Dimension("N"), 2}});
        graph::ValueId y =
            graph.add(graph::op::Gemm, {x, weights("one.weight", {2, 16}), weights("one.bias", {16})});
        y = graph.add(graph::op::Relu, {y});
        y = graph.add(graph::op::Gemm,
                      {y, weights("two.weight", {16, outputs}), weights("two.bias", {outputs})}, {},
                      "scores");
        graph.set_outputs({y});
        ASSERT_TRUE(infer_types(graph).ok());
        ASSERT_TRUE(onnx::save(graph, folder_ + "model.onnx").ok());
    }

    // Points in a square; the label says whether both coordinates have the same sign.
    void write_samples() {
        Random random(4);
        std::ofstream file(folder_ + "samples.csv");
        file << "x,y,label\n";
        for (int i = 0; i < 403; ++i) {
            const double x = random.uniform(-1, 1), y = random.uniform(-1, 1);
            file << x << "," << y << "," << (x * y > 0 ? 1 : 0) << "\n";
        }
    }

    [[nodiscard]] std::string bytes(const std::string& name) const {
        const auto read = read_file(folder_ + name);
        return read.ok() ? *read : "";
    }

    const tests::TemporaryFolder files_;
    const std::string folder_ = files_.path().string() + "/";
};

}  // namespace viridian::cli
