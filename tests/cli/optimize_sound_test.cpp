// What an optimised model must withstand: numbers at the ends of f32, sizes bound by hand, rules left out.
#include <gtest/gtest.h>

#include <random>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/json.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

using graph::Graph;
using graph::Tensor;
using graph::ValueId;

class OptimizeSound : public testing::Test {
  protected:
    std::string at(const char* name) const { return (folder_ / name).string(); }

    void save(Graph& graph, ValueId output) const {
        graph.set_outputs({output});
        ASSERT_TRUE(infer_types(graph).ok());
        ASSERT_TRUE(onnx::save(graph, at("model.onnx")).ok());
    }
    Outcome optimize(std::vector<std::string> more) const {
        std::vector<std::string> all = {"optimize", at("model.onnx"), "-o",    at("out.onnx"),
                                        "--db",     at("cost.db"),    "--json"};
        all.insert(all.end(), more.begin(), more.end());
        return run(all);
    }
    static ValueId scalar(Graph& graph, float value) {
        return graph.add_constant("c", Tensor::f32({}, std::vector<float>{value}));
    }
    static ValueId input(Graph& graph, graph::Dimension rows) {
        return graph.add_input("x",
                               {graph::ElementType::f32, graph::Shape{std::move(rows), graph::Dimension(8)}});
    }
    const tests::TemporaryFolder folder_;
};

// Scales that are harmless one by one, and overflow or vanish where they are multiplied into weights.
TEST_F(OptimizeSound, ScalesNearTheEndsOfF32) {
    for (const auto& [before, after, weight] :
         {std::array{1e-30F, 1e25F, 1e20F}, std::array{1e20F, 1e-30F, 1e-15F}}) {
        Graph graph;
        const ValueId x = input(graph, graph::Dimension(4));
        const ValueId active = graph.add("Relu", {graph.add("Mul", {x, scalar(graph, before)})});
        const ValueId w = graph.add_constant("w", Tensor::f32({8, 8}, std::vector<float>(64, weight)));
        save(graph, graph.add("MatMul", {graph.add("Mul", {active, scalar(graph, after)}), w}));
        const Outcome outcome = optimize({});
        ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
        EXPECT_EQ((*parse_json(outcome.out, "stdout"))["verification"]["passed"], true);
        EXPECT_EQ(run({"check", at("model.onnx"), at("out.certificate.json")}).code, 0);
        EXPECT_EQ(run({"run", at("out.plan.json"), "--rounds", "1"}).code, 0);
    }
}

// Two products that cancel but for their rounding: x·(W − V) is nearer to the truth and far from what the
// model says, as is every kernel that sums in another order. What is taken instead depends on timed prices;
// tests/optimize/rounding_test.cpp says what under fixed ones.
TEST_F(OptimizeSound, WhatOnlyRoundingDecidesIsProvenAllTheSame) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> w(64 * 64), v(64 * 64);
    for (std::size_t i = 0; i < w.size(); ++i) {
        w[i] = normal(random);
        v[i] = w[i] + 1e-6F * normal(random);
    }
    Graph graph;
    const ValueId x = graph.add_input(
        "x", {graph::ElementType::f32, graph::Shape{graph::Dimension(8), graph::Dimension(64)}});
    const ValueId one = graph.add("MatMul", {x, graph.add_constant("w", Tensor::f32({64, 64}, w))});
    const ValueId two = graph.add("MatMul", {x, graph.add_constant("v", Tensor::f32({64, 64}, v))});
    save(graph, graph.add("Sub", {one, two}));
    const Outcome outcome = optimize({});
    ASSERT_EQ(outcome.code, 0) << outcome.err << outcome.out;
    const Json result = *parse_json(outcome.out, "stdout");
    EXPECT_EQ(result["verification"]["passed"], true);
    EXPECT_EQ(run({"check", at("model.onnx"), at("out.certificate.json"), "--strict"}).code, 0);
    EXPECT_EQ(run({"run", at("out.plan.json"), "--rounds", "1"}).code, 0);
}

TEST_F(OptimizeSound, CheckBindsTheSizesOfTheOriginalAlone) {
    Graph graph;
    const ValueId x = input(graph, graph::Dimension("N"));
    const ValueId w = graph.add_constant("w", Tensor::f32({8, 8}, std::vector<float>(64, 0.5F)));
    save(graph, graph.add("Relu", {graph.add("MatMul", {graph.add("Identity", {x}), w})}));
    ASSERT_EQ(optimize({"--dim", "N=3"}).code, 0);
    const Outcome checked =
        run({"check", at("model.onnx"), at("out.certificate.json"), "--dim", "N=3", "--json"});
    ASSERT_EQ(checked.code, 0) << checked.err << checked.out;
    EXPECT_EQ((*parse_json(checked.out, "stdout"))["optimized"]["same_graph"], true);

    // Another model of the same outputs passes by them, and not where the very graph is asked for.
    Graph longer;
    const ValueId again = input(longer, graph::Dimension(3));
    const ValueId half = longer.add_constant("w", Tensor::f32({8, 8}, std::vector<float>(64, 0.5F)));
    const ValueId product = longer.add("Relu", {longer.add("MatMul", {again, half})});
    longer.set_outputs({longer.add("Relu", {product})});
    ASSERT_TRUE(infer_types(longer).ok());
    ASSERT_TRUE(onnx::save(longer, at("longer.onnx")).ok());
    const std::vector<std::string> check = {"check", at("model.onnx"), at("out.certificate.json"), "--dim",
                                            "N=3",   "--optimized",    at("longer.onnx")};
    EXPECT_EQ(run(check).code, 0);
    std::vector<std::string> strict = check;
    strict.emplace_back("--strict");
    EXPECT_EQ(run(strict).code, 1);
}

TEST_F(OptimizeSound, EveryRuleCanBeLeftOut) {
    Graph graph;
    const ValueId x = input(graph, graph::Dimension(4));
    const ValueId two = graph.add("Add", {scalar(graph, 1), scalar(graph, 1)}, {}, "constant");
    save(graph, graph.add("Mul", {graph.add("Identity", {x}, {}, "nothing"), two}));
    // Without the search, whose alternatives are taken by timed prices.
    const auto rules = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--search", "none"});
        const Outcome outcome = optimize(more);
        EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
        std::set<std::string> names;
        const auto result = parse_json(outcome.out, "stdout");
        if (!result.ok()) return names;
        for (const Json& entry : (*result)["rewrites"]) names.insert(entry["rule"].get<std::string>());
        return names;
    };
    EXPECT_EQ(rules({}), (std::set<std::string>{"fold_constants", "remove_no_op"}));
    EXPECT_EQ(rules({"--without", "fold_constants"}), std::set<std::string>{"remove_no_op"});
    EXPECT_EQ(rules({"--without", "fold_constants", "--without", "remove_no_op"}), std::set<std::string>{});
}

TEST_F(OptimizeSound, AnObjectiveThatNothingSolvesIsRefusedBeforeTheModelIsRead) {
    const Outcome outcome = optimize({"--objective", "0.3*power+0.3*flop+0.4*kernels"});
    EXPECT_EQ(outcome.code, 1) << outcome.out;
    EXPECT_NE(outcome.out.find("two can be"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace viridian::cli
