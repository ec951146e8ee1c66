// The main job on a small network, through the command line: every product is written, agrees and reads back.
#include <gtest/gtest.h>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/tensors/tensor_file.hpp"

namespace viridian::cli {
namespace {

using graph::Dims;
using graph::Tensor;
using graph::ValueId;

// A fire module: squeeze, two expansions, concatenation, pool, and a batch normalisation to fold.
void write_fire(const Path& path, bool symbolic = false) {
    graph::Graph graph;
    const auto weights = [&](Dims dims, float scale) {
        Tensor tensor(graph::ElementType::f32, dims);
        float value = 0.1F;
        for (float& w : tensor.mutable_values<float>())
            w = scale * (value = value > 1 ? value - 1.93F : value + 0.37F);
        return graph.add_constant("w", std::move(tensor));
    };
    graph::Shape shape = {graph::Dimension(1), graph::Dimension(8), graph::Dimension(12),
                          graph::Dimension(12)};
    if (symbolic) shape[0] = graph::Dimension("N");
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, shape});
    const ValueId squeeze = graph.add("Conv", {x, weights({16, 8, 1, 1}, 0.3F)}, {}, "squeeze");
    const ValueId normal =
        graph.add("BatchNormalization",
                  {squeeze, weights({16}, 1), weights({16}, 1), weights({16}, 0.1F),
                   graph.add_constant("variance", Tensor::f32({16}, std::vector<float>(16, 0.9F)))},
                  {}, "normal");
    const ValueId active = graph.add("Relu", {normal}, {}, "active");
    const ValueId one =
        graph.add("Relu", {graph.add("Conv", {active, weights({16, 16, 1, 1}, 0.2F)}, {}, "one")});
    const ValueId three = graph.add("Relu", {graph.add("Conv", {active, weights({16, 16, 3, 3}, 0.1F)},
                                                       {{"pads", Dims{1, 1, 1, 1}}}, "three")});
    const ValueId both = graph.add("Concat", {one, three}, {{"axis", std::int64_t{1}}}, "both");
    graph.set_outputs({graph.add("GlobalAveragePool", {both}, {}, "pool")});
    ASSERT_TRUE(infer_types(graph).ok());
    ASSERT_TRUE(onnx::save(graph, path).ok());
}

class Optimize : public testing::Test {
  protected:
    std::string at(const char* name) const { return (folder_ / name).string(); }
    const tests::TemporaryFolder folder_;
};

TEST_F(Optimize, WritesAProvenPlanThatRunsAgain) {
    write_fire(at("fire.onnx"));
    const Outcome cold = run({"optimize", at("fire.onnx"), "-o", at("fire.opt.onnx"), "--db", at("cost.db"),
                              "--budget", "30,600s", "--json"});
    ASSERT_EQ(cold.code, 0) << cold.err;
    const auto result = parse_json(cold.out, "stdout");
    ASSERT_TRUE(result.ok());
    EXPECT_EQ((*result)["verification"]["passed"], true);
    EXPECT_LE((*result)["verification"]["outputs"][0]["error"], 1e-4);
    EXPECT_EQ((*result)["assignment"]["gap"], 0.0);
    EXPECT_GT((*result)["database"]["misses"], 0);
    EXPECT_EQ((*result)["rewrites"][0]["rule"], "fold_batch_norm");
    const auto provenance = (*result)["optimized"]["ran"]["joules"]["provenance"].get<std::string>();
    EXPECT_TRUE(provenance.starts_with("estimated:") || provenance.starts_with("measured:")) << provenance;
    EXPECT_TRUE(onnx::load(at("fire.opt.onnx")).ok());
    EXPECT_NE(read_file(at("fire.opt.html"))->find("Before and after"), std::string::npos);

    // Prices that were confirmed since may lead a search to other graphs, which have other prices: no search.
    const Outcome warm = run({"optimize", at("fire.onnx"), "-o", at("fire.opt.onnx"), "--db", at("cost.db"),
                              "--search", "none", "--json"});
    ASSERT_EQ(warm.code, 0) << warm.err;
    EXPECT_EQ((*parse_json(warm.out, "stdout"))["database"]["misses"], 0);
    EXPECT_EQ((*result)["verification"]["reference_reused"], 0);
    EXPECT_EQ((*parse_json(warm.out, "stdout"))["verification"]["reference_reused"], 3);

    const Outcome ran = run({"run", at("fire.opt.plan.json"), "--rounds", "1", "--json"});
    ASSERT_EQ(ran.code, 0) << ran.err;
    const Outcome reference = run({"run", at("fire.onnx"), "--device", "reference", "--json"});
    ASSERT_EQ(reference.code, 0) << reference.err;
    const Json fast = (*parse_json(ran.out, "stdout"))["outputs"][0]["first"];
    const Json slow = (*parse_json(reference.out, "stdout"))["outputs"][0]["first"];
    for (std::size_t i = 0; i < slow.size(); ++i)
        EXPECT_NEAR(fast[i].get<double>(), slow[i].get<double>(),
                    1e-4 * (1 + std::abs(slow[i].get<double>())));
}

TEST_F(Optimize, CalibratesOnSeveralSetsOfInputs) {
    write_fire(at("fire.onnx"));
    for (const char* name : {"first.npy", "second.npy"}) {
        Tensor x(graph::ElementType::f32, {1, 8, 12, 12});
        for (float& value : x.mutable_values<float>()) value = name[0] == 'f' ? 1.0F : -2.0F;
        ASSERT_TRUE(onnx::write_tensor_file(at(name), {"", x}).ok());
    }
    const auto optimize = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = {"optimize",
                                        at("fire.onnx"),
                                        "-o",
                                        at("fire.opt.onnx"),
                                        "--db",
                                        at("cost.db"),
                                        "--search",
                                        "none",
                                        "--json",
                                        "--inputs",
                                        "x=" + at("first.npy"),
                                        "--inputs",
                                        at("second.npy")};
        all.insert(all.end(), more.begin(), more.end());
        return run(all);
    };
    const Outcome two = optimize({});
    ASSERT_EQ(two.code, 0) << two.err;
    EXPECT_EQ((*parse_json(two.out, "stdout"))["verification"]["inputs"], 2);
    const Outcome tight = optimize({"--max-error", "1e-9"});
    EXPECT_EQ(tight.code, 1) << tight.err;
    EXPECT_NE(tight.err.find("no plan stays within --max-error 1e-09"), std::string::npos) << tight.err;
    EXPECT_EQ(tight.err.find("report it"), std::string::npos) << tight.err;
}

TEST_F(Optimize, SaysHowNearThePlanIsToTheBound) {
    write_fire(at("fire.onnx"));
    const auto plan_line = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"optimize", at("fire.onnx"), "-o", at("fire.opt.onnx"), "--db",
                                   at("cost.db"), "--search", "none", "--proofs", "1"});
        const Outcome done = run(more);
        EXPECT_EQ(done.code, 0) << done.err;
        const std::size_t from = done.out.find("  plan  ");
        return done.out.substr(from, done.out.find('\n', from) - from);
    };
    EXPECT_NE(plan_line({}).find("exact solver, gap 0: the cheapest of this graph"), std::string::npos);
    const std::string greedy = plan_line({"--solver", "greedy", "--objective", "energy"});
    EXPECT_NE(greedy.find("greedy solver, "), std::string::npos) << greedy;
    EXPECT_NE(greedy.find("J, no bound known"), std::string::npos) << greedy;
    const Path page = at("fire.opt.html");
    EXPECT_NE(read_file(page)->find("\"bound\":null"), std::string::npos);
}

TEST_F(Optimize, ProfileFillsTheDatabaseAndSaysBeforehandHowLongItTakes) {
    write_fire(at("fire.onnx"));
    const auto profile = [&](const char* more) {
        std::vector<std::string> arguments = {"profile", at("fire.onnx"), "--db", at("cost.db"), "--json"};
        if (*more != 0) arguments.emplace_back(more);
        const Outcome done = run(arguments);
        EXPECT_EQ(done.code, 0) << done.err;
        return *parse_json(done.out, "stdout");
    };
    const Json forecast = profile("--dry-run");
    EXPECT_EQ(forecast["known"], 0);
    EXPECT_GT(forecast["missing"], 0);
    EXPECT_GT(forecast["expected_seconds"], 0);
    EXPECT_EQ(forecast["measured"], 0);
    const Json first = profile("");
    EXPECT_EQ(first["missing"], forecast["missing"]);
    EXPECT_EQ(first["measured"], forecast["missing"]);
    const Json second = profile("");
    EXPECT_EQ(second["known"], forecast["missing"]);
    EXPECT_EQ(second["missing"], 0);
    EXPECT_EQ(second["measured"], 0);
    const Outcome optimized = run({"optimize", at("fire.onnx"), "-o", at("fire.opt.onnx"), "--db",
                                   at("cost.db"), "--proofs", "1", "--search", "none", "--json"});
    ASSERT_EQ(optimized.code, 0) << optimized.err;
    const Json database = (*parse_json(optimized.out, "stdout"))["database"];
    EXPECT_EQ(database["misses"], 0);
    EXPECT_GT(database["again"], 0);  // what it chose, and close rivals
}

TEST_F(Optimize, APlanForAnotherMachineOrModelIsRefused) {
    write_fire(at("fire.onnx"));
    ASSERT_EQ(
        run({"optimize", at("fire.onnx"), "-o", at("fire.opt.onnx"), "--db", at("cost.db"), "--proofs", "1"})
            .code,
        0);
    Json plan = *parse_json(*read_file(at("fire.opt.plan.json")), "plan");
    const Json original = plan;
    plan["device"] = "cpu-0000000000000000";
    ASSERT_TRUE(write_file(at("fire.opt.plan.json"), plan.dump()).ok());
    const Outcome elsewhere = run({"run", at("fire.opt.plan.json")});
    EXPECT_EQ(elsewhere.code, 1);
    EXPECT_NE(elsewhere.err.find("--retune"), std::string::npos) << elsewhere.err;
    EXPECT_EQ(run({"run", at("fire.opt.plan.json"), "--retune", "--db", at("cost.db"), "--rounds", "1"}).code,
              0);
    plan = original;
    plan["graph"] = "0000000000000000";
    ASSERT_TRUE(write_file(at("fire.opt.plan.json"), plan.dump()).ok());
    EXPECT_NE(run({"run", at("fire.opt.plan.json")}).err.find("another model"), std::string::npos);
}

TEST_F(Optimize, ACertificateIsFollowedFromTheOriginalAndAFalseOneRefused) {
    write_fire(at("fire.onnx"));
    const Outcome made =
        run({"optimize", at("fire.onnx"), "-o", at("fire.opt.onnx"), "--db", at("cost.db"), "--proofs", "1",
             "--objective", "kernels", "--alpha", "1.5", "--budget", "20", "--frontier", "--json"});
    ASSERT_EQ(made.code, 0) << made.err;
    const Json result = *parse_json(made.out, "stdout");
    EXPECT_LE(result["search"]["graphs"], 20);
    EXPECT_GE(result["frontier"]["vertices"].size(), 1U);
    const Outcome checked = run({"check", at("fire.onnx"), at("fire.opt.certificate.json"), "--json"});
    ASSERT_EQ(checked.code, 0) << checked.err;
    EXPECT_EQ((*parse_json(checked.out, "stdout"))["applications"], result["rewrites"].size());
    EXPECT_LE((*parse_json(checked.out, "stdout"))["optimized"]["error"], 1e-4);

    Json certificate = *parse_json(*read_file(at("fire.opt.certificate.json")), "certificate");
    certificate["applications"][0]["after"] = "0000000000000001";
    ASSERT_TRUE(write_file(at("false.certificate.json"), certificate.dump()).ok());
    const Outcome refused = run({"check", at("fire.onnx"), at("false.certificate.json")});
    EXPECT_EQ(refused.code, 1);
    EXPECT_NE(refused.err.find("ends in another graph"), std::string::npos) << refused.err;
    // Nothing done, and no product beside it: there is nothing to compare.
    const Json first =
        (*parse_json(*read_file(at("fire.opt.certificate.json")), "certificate"))["applications"][0];
    certificate = {{"schema", "viridian.certificate/2"},
                   {"count", 0},
                   {"final", first["before"]},
                   {"applications", Json::array()}};
    ASSERT_TRUE(write_file(at("empty.certificate.json"), certificate.dump()).ok());
    EXPECT_EQ(run({"check", at("fire.onnx"), at("empty.certificate.json")}).code, 0);
}

TEST_F(Optimize, RulesAreListedAndLeftOut) {
    const Outcome rules = run({"optimize", "--list-rules"});
    ASSERT_EQ(rules.code, 0) << rules.err;
    EXPECT_EQ(rules.out, *read_file(Path(VIRIDIAN_SOURCE_FOLDER) / "docs/rules.md"))
        << "write it again: viridian optimize --list-rules > docs/rules.md";
    write_fire(at("fire.onnx"));
    const Outcome without =
        run({"optimize", at("fire.onnx"), "-o", at("x.onnx"), "--db", at("cost.db"), "--proofs", "1",
             "--without", "fold_batch_norm", "--search", "none", "--json"});
    ASSERT_EQ(without.code, 0) << without.err;
    EXPECT_EQ(without.out.find("\"fold_batch_norm\""), std::string::npos);
    const Outcome read_again = run({"run", at("x.plan.json"), "--rounds", "1"});
    EXPECT_EQ(read_again.code, 0) << read_again.err;
    EXPECT_NE(
        run({"optimize", at("fire.onnx"), "-o", at("x.onnx"), "--without", "magic"}).err.find("--list-rules"),
        std::string::npos);
}

// Prices from a file: nothing is timed or run, and what was recorded gives the same plan again.
TEST_F(Optimize, PlansWithRecordedPricesWithoutADevice) {
    write_fire(at("fire.onnx"));
    const std::string processor = (tests::source_folder() / "benchmarks/eago/processor.json").string();
    const auto plan = [&](const std::string& prices, const std::string& record) {
        return run({"optimize", at("fire.onnx"), "-o", at("fire.opt.onnx"), "--recorded", prices, "--record",
                    record, "--objective", "energy", "--frontier", "--json"});
    };
    const Outcome synthetic = plan(processor, at("prices.json"));
    ASSERT_EQ(synthetic.code, 0) << synthetic.err;
    const Outcome recorded = plan(at("prices.json"), at("again.json"));
    ASSERT_EQ(recorded.code, 0) << recorded.err;
    EXPECT_EQ(*read_file(at("prices.json")), *read_file(at("again.json")));
    const Json a = *parse_json(synthetic.out, "stdout"), b = *parse_json(recorded.out, "stdout");
    EXPECT_EQ(a["recorded"]["schema"], "viridian.processor/1");
    EXPECT_EQ(b["recorded"]["schema"], "viridian.recording/1");
    EXPECT_EQ(a["device"], "synthetic-gpu, seed 1");
    EXPECT_EQ(b["device"], a["device"]);
    EXPECT_FALSE(a["optimized"].contains("ran"));
    const Json& energy = a["optimized"]["predicted"]["joules"];
    EXPECT_EQ(energy["provenance"], "estimated:synthetic-gpu");
    EXPECT_NEAR(b["optimized"]["predicted"]["joules"]["value"].get<double>(), energy["value"].get<double>(),
                1e-4 * energy["value"].get<double>());
    EXPECT_GE(a["frontier"]["vertices"].size(), 2U);
    EXPECT_EQ(a["frontier"]["unresolved"], 0.0);
    EXPECT_EQ(run({"check", at("fire.onnx"), at("fire.opt.certificate.json")}).code, 0);
    // The plan belongs to that processor.
    const Outcome elsewhere = run({"run", at("fire.opt.plan.json"), "--rounds", "1"});
    EXPECT_EQ(elsewhere.code, 1);
    EXPECT_NE(elsewhere.err.find("--retune"), std::string::npos) << elsewhere.err;

    EXPECT_NE(plan(at("fire.onnx"), at("x.json")).code, 0);
    std::filesystem::copy_file(at("fire.opt.certificate.json"), at("other.json"));
    const Outcome no_schema = plan(at("other.json"), at("x.json"));
    EXPECT_EQ(no_schema.code, 1);
    EXPECT_NE(no_schema.err.find("viridian.processor/1"), std::string::npos) << no_schema.err;
}

// Measured prices, confirmed on the way, give the same plan from the file.
TEST_F(Optimize, MeasuredPricesAreRecorded) {
    write_fire(at("fire.onnx"));
    for (const char* precision : {"", "bf16"}) {
        const auto plan = [&](const char* option) {
            std::vector<std::string> arguments = {
                "optimize", at("fire.onnx"), "-o",   at("fire.opt.onnx"), "--search",
                "none",     "--json",        option, at("prices.json")};
            const bool measures = std::string_view(option) == "--record";
            if (measures) arguments.insert(arguments.end(), {"--db", at("cost.db"), "--proofs", "1"});
            if (measures && *precision != 0) arguments.insert(arguments.end(), {"--allow", precision});
            const Outcome done = run(arguments);
            EXPECT_EQ(done.code, 0) << done.err;
            return *parse_json(done.out, "stdout");
        };
        const Json measured = plan("--record"), recorded = plan("--recorded");
        EXPECT_EQ(recorded["recorded"]["schema"], "viridian.recording/1");
        for (const char* side : {"baseline", "optimized"}) {
            const auto seconds = measured[side]["solved"]["seconds"].get<double>();
            EXPECT_NEAR(recorded[side]["predicted"]["seconds"].get<double>(), seconds, 1e-4 * seconds)
                << side;
        }
        EXPECT_EQ(recorded["optimized"]["predicted"]["joules"]["provenance"],
                  measured["optimized"]["predicted"]["joules"]["provenance"]);
    }
}

TEST_F(Optimize, BadInputGetsASentenceAndANextStep) {
    EXPECT_NE(run({"optimize", at("none.onnx"), "-o", at("x.onnx")}).err.find("there is no file"),
              std::string::npos);
    for (const char* budget : {"", "x", "3x", "-1", "0", "1.5", "60s,", "1e99"})
        EXPECT_NE(run({"optimize", at("none.onnx"), "-o", at("x.onnx"), "--budget", budget})
                      .err.find("--budget 300"),
                  std::string::npos)
            << budget;
    const Outcome caret = run({"optimize", at("none.onnx"), "-o", at("x.onnx"), "--objective", "0.5*enrgy"});
    EXPECT_NE(caret.err.find("0.5*enrgy\n        ^"), std::string::npos) << caret.err;
    EXPECT_NE(run({"optimize"}).err.find("needs a model"), std::string::npos);
    write_fire(at("open.onnx"), true);
    const Outcome open = run({"optimize", at("open.onnx"), "-o", at("x.onnx"), "--db", at("cost.db")});
    EXPECT_EQ(open.code, 1);
    EXPECT_NE(open.err.find("--dim N=1"), std::string::npos) << open.err;
    EXPECT_NE(run({"optimize", at("open.onnx"), "-o", at("x.onnx"), "--dim", "N"}).err.find("--dim N=8"),
              std::string::npos);
    EXPECT_EQ(run({"optimize", at("open.onnx"), "-o", at("x.onnx"), "--objective", "tiem"}).code, 1);
    EXPECT_EQ(
        run({"optimize", at("open.onnx"), "-o", at("x.onnx"), "--without", "no_such_rule", "--dim", "N=1"})
            .code,
        1);
}

}  // namespace
}  // namespace viridian::cli
