// A training step as the commands take it: `inspect`, `run` on both devices, `optimize` and its plan.
#include <gtest/gtest.h>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/training_step.hpp"
#include "viridian/base/file.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/tensors/tensor_file.hpp"
#include "viridian/prove/proof.hpp"

namespace viridian::cli {
namespace {

using graph::Tensor;

class TrainingStep : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_TRUE(onnx::save(step_, at("step.onnx")).ok());
        const char* names[] = {"x", "target", "rate"};
        given_ = tests::step_inputs(4);
        for (std::size_t i = 0; i < 3; ++i)
            ASSERT_TRUE(onnx::write_tensor_file(at(fmt::format("{}.npy", names[i])), {"", given_[i]}).ok());
        for (const Tensor& first : tests::first_values(step_)) given_.push_back(first);
    }
    std::string at(const std::string& name) const { return (folder_ / name).string(); }

    // Runs `model` with the written inputs and compares all that it writes with the reference kernels.
    Json expect_one_step(const std::string& model, std::vector<std::string> more,
                         const std::vector<Tensor>& given) {
        std::vector<std::string> all = {"run",      model,
                                        "--inputs", at("x.npy"),
                                        "--inputs", "target=" + at("target.npy"),
                                        "--inputs", "rate=" + at("rate.npy"),
                                        "-o",       at("out"),
                                        "--json"};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome ran = run(all);
        EXPECT_EQ(ran.code, 0) << ran.err;
        const auto result = parse_json(ran.out, "stdout");
        if (!result.ok()) return {};
        const auto expected = graph::evaluate(step_, given);
        EXPECT_TRUE(expected.ok());
        const std::vector<std::string> names = {"loss",   "W1.new",          "b1.new",
                                                "W2.new", "W1.momentum.new", "steps.new"};
        EXPECT_EQ((*result)["outputs"].size(), names.size());
        for (std::size_t i = 0; i < names.size() && i < (*result)["outputs"].size(); ++i) {
            EXPECT_EQ((*result)["outputs"][i]["name"], names[i]);
            const auto written = onnx::read_tensor_file(at("out") + "/" + names[i] + ".npy");
            EXPECT_TRUE(written.ok()) << names[i];
            if (written.ok()) {
                EXPECT_LE(prove::relative_error(written->tensor, (*expected)[i]), 1e-5) << names[i];
            }
        }
        std::filesystem::remove_all(at("out"));
        return *result;
    }

    const tests::TemporaryFolder folder_;
    graph::Graph step_ = tests::training_step();
    std::vector<Tensor> given_;
};

TEST_F(TrainingStep, RunTakesOneStepFromTheFirstValues) {
    const Json fast = expect_one_step(at("step.onnx"), {"--rounds", "1", "--threads", "1"}, given_);
    EXPECT_EQ(fast["states"]["count"], 5);
    EXPECT_EQ(fast["states"]["bytes_copied_a_run"], 0);
    expect_one_step(at("step.onnx"), {"--device", "reference"}, given_);
    const Json untimed = expect_one_step(at("step.onnx"), {"--rounds", "0", "--threads", "1"}, given_);
    EXPECT_FALSE(untimed.contains("seconds"));
}

TEST_F(TrainingStep, AStateCanBeGivenByName) {
    given_[4] = Tensor::f32({11}, std::vector<float>(11, 0.5F));
    ASSERT_TRUE(onnx::write_tensor_file(at("b1.npy"), {"", given_[4]}).ok());
    for (const char* device : {"cpu", "reference"})
        expect_one_step(at("step.onnx"), {"--device", device, "--inputs", "b1=" + at("b1.npy")}, given_);
}

TEST_F(TrainingStep, InspectListsStatesAndPhases) {
    const Outcome text = run({"inspect", at("step.onnx")});
    EXPECT_NE(text.out.find("  states  3 parameters, 1 moment, 1 counter: "), std::string::npos) << text.out;
    const Outcome ran = run({"inspect", at("step.onnx"), "--json"});
    const auto result = parse_json(ran.out, "stdout");
    ASSERT_TRUE(result.ok()) << ran.err;
    EXPECT_EQ((*result)["parameters"], 7 * 11 + 11 + 11 * 3);
    EXPECT_EQ((*result)["states"][3], (Json{{"name", "W1.momentum"},
                                            {"type", "f32[7,11]"},
                                            {"role", "moment"},
                                            {"new_value", "W1.momentum.new"},
                                            {"of", "W1"}}));
    int updates = 0;
    for (const Json& node : (*result)["nodes"]) updates += node.value("phase", "") == "update" ? 1 : 0;
    EXPECT_EQ(updates, 9);
}

TEST_F(TrainingStep, OptimizeProvesOutputsAndNewValuesAndThePlanRuns) {
    const Outcome made = run({"optimize", at("step.onnx"), "-o", at("fast.onnx"), "--db", at("cost.db"),
                              "--search", "none", "--threads", "1", "--json"});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto result = parse_json(made.out, "stdout");
    ASSERT_TRUE(result.ok());
    EXPECT_EQ((*result)["verification"]["passed"], true);
    EXPECT_EQ((*result)["verification"]["outputs"].size(), 6U);
    const auto plan = parse_json(*read_file(at("fast.plan.json")), "plan");
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ((*plan)["states"].size(), 5U);
    const auto written = onnx::load(at("fast.onnx"));
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(written->states().size(), 5U);
    expect_one_step(at("fast.plan.json"), {"--rounds", "1"}, given_);
    const Outcome checked = run({"check", at("step.onnx"), at("fast.certificate.json")});
    EXPECT_EQ(checked.code, 0) << checked.err;
}

TEST_F(TrainingStep, WideningIsRefused) {
    const Outcome ran = run({"run", at("step.onnx"), "--as", "f32"});
    EXPECT_EQ(ran.code, 1);
    EXPECT_NE(ran.err.find("has states"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace viridian::cli
