// Plans, certificates and prices as files: what was changed by hand is refused, what was asked for is kept.
#include <gmock/gmock.h>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/json.hpp"
#include "viridian/base/system/machine.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/optimize/files/sidecar.hpp"

namespace viridian::cli {
namespace {

using graph::Dims;
using graph::Tensor;
using graph::ValueId;
using testing::HasSubstr;

Tensor weights(const Dims& dims) {
    Tensor tensor(graph::ElementType::f32, dims);
    float value = 0.1F;
    for (float& w : tensor.mutable_values<float>())
        w = 0.2F * (value = value > 1 ? value - 1.93F : value + 0.37F);
    return tensor;
}

// Two convolutions side by side, pooled: regions of several kinds, and a rule or two.
void write_model(const Path& path) {
    graph::Graph graph;
    const ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({1, 16, 12, 12})});
    const auto conv = [&](ValueId input, const Dims& dims, const char* name) {
        const std::int64_t pad = dims[2] / 2;
        return graph.add("Conv", {input, graph.add_constant("w", weights(dims))},
                         {{"pads", Dims{pad, pad, pad, pad}}}, name);
    };
    const ValueId stem = graph.add("Relu", {conv(x, {16, 16, 3, 3}, "stem")}, {}, "active");
    const ValueId same = graph.add("Identity", {stem}, {}, "same");
    const ValueId both =
        graph.add("Concat", {conv(same, {16, 16, 1, 1}, "one"), conv(same, {16, 16, 3, 3}, "three")},
                  {{"axis", std::int64_t{1}}}, "both");
    graph.set_outputs(
        {graph.add("MaxPool", {both}, {{"kernel_shape", Dims{2, 2}}, {"strides", Dims{2, 2}}}, "pool")});
    ASSERT_TRUE(infer_types(graph).ok());
    ASSERT_TRUE(onnx::save(graph, path).ok());
}

class PlanFile : public testing::Test {
  protected:
    void SetUp() override { write_model(at("net.onnx")); }
    std::string at(const char* name) const { return (folder_ / name).string(); }

    Outcome optimize(std::vector<std::string> more) const {
        std::vector<std::string> all = {"optimize",    at("net.onnx"), "-o", at("net.opt.onnx"), "--db",
                                        at("cost.db"), "--proofs",     "1",  "--search",         "none"};
        all.insert(all.end(), more.begin(), more.end());
        return run(all);
    }
    Json plan() const { return *parse_json(*read_file(at("net.opt.plan.json")), "plan"); }
    // Runs what `change` makes of a plan; as from a hand that knows of the digest, or that leaves it out.
    template <class Change>
    Outcome run_changed(const Json& original, const Change& change,
                        const std::vector<std::string>& more = {}) const {
        Json changed = original;
        changed.erase("digest");
        change(changed);
        EXPECT_TRUE(write_file(at("net.opt.plan.json"), changed.dump()).ok());
        std::vector<std::string> all = {"run", at("net.opt.plan.json"), "--rounds", "1", "--json"};
        all.insert(all.end(), more.begin(), more.end());
        return run(all);
    }
    const tests::TemporaryFolder folder_;
};

TEST_F(PlanFile, IsRunOnlyWhereEveryChoiceIsOneOfTheDevices) {
    ASSERT_EQ(optimize({}).code, 0);
    const Json original = plan();
    ASSERT_EQ(run_changed(original, [](Json&) {}).code, 0);
    for (std::size_t r = 0; r < original["regions"].size(); ++r)
        for (const char* aliasing : {"none", "view", "gather", "overwrite"}) {
            const std::string planned = original["regions"][r]["choice"]["aliasing"];
            if (planned == aliasing) continue;
            // Both are on offer for one kernel; timed prices decide between them.
            const std::set<std::string> either = {"none", "overwrite"};
            if (either.contains(planned) && either.contains(aliasing)) continue;
            const Outcome ran = run_changed(original, [&](Json& plan) {
                plan["regions"][r]["choice"]["aliasing"] = aliasing;
                if (std::string_view(aliasing) == "overwrite")
                    plan["regions"][r]["choice"]["overwritten"] = 0;
            });
            EXPECT_EQ(ran.code, 1) << original["regions"][r] << aliasing << ran.out;
        }
    const auto refused = [&](const auto& change, const char* sentence) {
        const Outcome ran = run_changed(original, change);
        EXPECT_EQ(ran.code, 1) << sentence;
        EXPECT_THAT(ran.err, HasSubstr(sentence));
    };
    Json& (*choice)(Json&) = [](Json& plan) -> Json& { return plan["regions"][0]["choice"]; };
    refused([&](Json& plan) { choice(plan)["kernel"] = "zzz"; }, "does not do it");
    refused([&](Json& plan) { choice(plan)["outputs"][0] = "nchw:i32"; }, "");
    refused([&](Json& plan) { plan["solver"] = "Magic!"; }, "unknown solver `Magic!`");
    refused([&](Json& plan) { plan.erase("predicted"); }, "lacks what is `predicted`");
    refused([&](Json& plan) { plan.erase("value"); }, "lacks the number `value`");
    refused([&](Json& plan) { plan["bound"] = plan["value"].get<double>() * 2; }, "is bounded by");
    refused([&](Json& plan) { plan["schema"] = "viridian.plan/1"; }, "optimise the model again");
}

TEST_F(PlanFile, ShowsWhatWasChangedAfterItWasWritten) {
    ASSERT_EQ(optimize({}).code, 0);
    const Json original = plan();
    EXPECT_FALSE(optimize::changed_since_written(original));
    const Outcome forged = run_changed(original, [&](Json& plan) {
        plan["digest"] = original["digest"];
        plan["predicted"]["seconds"] = 1e-9;
    });
    EXPECT_EQ(forged.code, 1);
    EXPECT_THAT(forged.err, HasSubstr("changed after it was written"));
    Json moved = Json::object();  // the order of fields is free
    for (auto it = original.rbegin(); it != original.rend(); ++it) moved[it.key()] = it.value();
    EXPECT_FALSE(optimize::changed_since_written(moved));
}

TEST_F(PlanFile, IsTunedAnewForWhatItWasMadeFor) {
    ASSERT_EQ(optimize({"--objective", "energy", "--max-error", "1e-3"}).code, 0);
    const Json original = plan();
    EXPECT_EQ(original["objective"], "energy");
    EXPECT_EQ(original["precisions"], Json::array({"f32"}));
    EXPECT_EQ(original["max_error"], 1e-3);
    const std::vector<std::string> retune = {"--retune", "--db", at("cost.db")};
    const Outcome same = run_changed(original, [](Json&) {}, retune);
    ASSERT_EQ(same.code, 0) << same.err;
    EXPECT_EQ((*parse_json(same.out, "stdout"))["retuned"]["objective"], "energy");
    EXPECT_EQ(same.err.find("does not say"), std::string::npos);

    const Outcome older = run_changed(
        original,
        [](Json& plan) {
            for (const char* key : {"objective", "precisions", "max_error"}) plan.erase(key);
        },
        retune);
    ASSERT_EQ(older.code, 0) << older.err;
    EXPECT_THAT(older.err, HasSubstr("does not say what it was made for: re-tuned for time, in f32\n"));

    for (const Json& nonsense : {Json{{"a", 1}}, Json::array(), Json(3)})
        EXPECT_EQ(run_changed(original, [&](Json& plan) { plan = nonsense; }, retune).code, 1);
    EXPECT_EQ(run_changed(original, [](Json& plan) { plan["objective"] = "tiem"; }, retune).code, 1);
}

TEST_F(PlanFile, InBf16StaysInBf16) {
    ASSERT_EQ(optimize({"--allow", "bf16"}).code, 0);
    const Json original = plan();
    EXPECT_EQ(original["precisions"], Json::array({"f32", "bf16"}));
    EXPECT_EQ(run_changed(original, [](Json&) {}).code, 0);
    const Outcome again = run_changed(original, [](Json&) {}, {"--retune", "--db", at("cost.db")});
    ASSERT_EQ(again.code, 0) << again.err;
    EXPECT_EQ((*parse_json(again.out, "stdout"))["retuned"]["precisions"], Json::array({"f32", "bf16"}));
}

TEST_F(PlanFile, WithRecordedPricesRefusesWhatItWouldIgnore) {
    const std::string processor = (tests::source_folder() / "benchmarks/eago/processor.json").string();
    const std::vector<std::string> plain = {"optimize",         at("net.onnx"), "-o",
                                            at("net.opt.onnx"), "--recorded",   processor};
    const std::vector<std::vector<std::string>> ignored = {
        {"--allow", "bf16"},  {"--max-error", "1e-9"}, {"--inputs", "none.npy"}, {"--meter", "nonsense"},
        {"--threads", "512"}, {"--proofs", "7"},       {"--seed", "1"}};
    for (const auto& option : ignored) {
        std::vector<std::string> all = plain;
        all.insert(all.end(), option.begin(), option.end());
        const Outcome refused = run(all);
        EXPECT_EQ(refused.code, 1) << option[0];
        EXPECT_THAT(refused.err, HasSubstr("it cannot do as " + option[0] + " say"));
    }
    std::vector<std::string> without = plain;
    without.insert(without.end(), {"--without", "remove_no_op", "--objective", "energy"});
    const Outcome done = run(without);
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(plan()["objective"], "energy");
    const Outcome here =
        run({"run", at("net.opt.plan.json"), "--retune", "--db", at("cost.db"), "--rounds", "1"});
    EXPECT_EQ(here.code, 0) << here.err;
}

TEST_F(PlanFile, CertificatesAreCheckedToTheirEnd) {
    ASSERT_EQ(optimize({}).code, 0);
    const Json original = *parse_json(*read_file(at("net.opt.certificate.json")), "certificate");
    ASSERT_GT(original["applications"].size(), 0U);
    const auto check = [&](const auto& change) {
        Json changed = original;
        change(changed);
        EXPECT_TRUE(write_file(at("net.opt.certificate.json"), changed.dump()).ok());
        return run({"check", at("net.onnx"), at("net.opt.certificate.json"), "--json"});
    };
    const Outcome good = check([](Json&) {});
    ASSERT_EQ(good.code, 0) << good.err;
    const Json compared = (*parse_json(good.out, "stdout"))["optimized"];
    EXPECT_EQ(compared["compared"], compared["same_graph"] == true ? "graphs" : "outputs");
    const auto refused = [&](const auto& change, const char* sentence) {
        const Outcome done = check(change);
        EXPECT_EQ(done.code, 1) << sentence;
        EXPECT_THAT(done.err, HasSubstr(sentence));
    };
    refused([](Json& c) { c["applications"][0]["removed"] = Json::array(); }, "removes other nodes");
    refused([](Json& c) { c["applications"][0]["removed"].push_back("mine"); }, "removes other nodes");
    refused([](Json& c) { c["note"] = "x"; }, "a field `note`");
    refused([](Json& c) { c["applications"][0]["equation"] = "false = true"; }, "a field `equation`");
    refused([](Json& c) { c["applications"].clear(); }, "not its `count`");
    refused([](Json& c) { c["applications"].clear(), c["count"] = 0; }, "end in another graph");
    refused([](Json& c) { c["final"] = "0000000000000001"; }, "end in another graph");
    // A certificate of nothing is true of the original; the optimised model is then another graph, and that
    // only its outputs were compared is said.
    const std::string nothing = original["applications"][0]["before"];
    const Outcome empty =
        check([&](Json& c) { c["applications"].clear(), c["count"] = 0, c["final"] = nothing; });
    ASSERT_EQ(empty.code, 0) << empty.err;
    EXPECT_EQ((*parse_json(empty.out, "stdout"))["optimized"]["compared"], "outputs");
    EXPECT_THAT(run({"check", at("net.onnx"), at("net.opt.certificate.json")}).out,
                HasSubstr("only outputs were compared"));
}

}  // namespace
}  // namespace viridian::cli
