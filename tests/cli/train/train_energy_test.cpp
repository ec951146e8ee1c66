// What `viridian train` says of joules, and that `viridian account` says the same of the recorded run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/file.hpp"
#include "viridian/base/random.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::cli {
namespace {

namespace op = graph::op;
using graph::ElementType;
using graph::Tensor;
using graph::ValueId;
using testing::HasSubstr;

class TrainEnergy : public testing::Test {
  protected:
    void SetUp() override {
        write_model();
        write_samples();
    }

    Outcome train(std::vector<std::string> more) {
        more.insert(more.begin(), {"train", at("model.onnx"), "--data", at("samples.csv"), "--label-column",
                                   "label", "--threads", "1", "-o", at("trained.onnx")});
        return run(more);
    }
    [[nodiscard]] std::string at(const std::string& name) const { return folder_ + name; }

    // Two layers, wide enough that a step takes some milliseconds; the batch is a symbol.
    void write_model() {
        constexpr std::int64_t wide = 1024;
        graph::Graph graph;
        Random random(3);
        const auto weights = [&](const char* name, const graph::Dims& dims) {
            Tensor made(ElementType::f32, dims);
            for (float& value : made.mutable_values<float>())
                value = static_cast<float>(random.uniform(-0.05, 0.05));
            return graph.add_constant(name, std::move(made));
        };
        const ValueId x =
            graph.add_input("points", {ElementType::f32, graph::Shape{graph::Dimension("N"), 4}});
        ValueId y = graph.add(op::Gemm, {x, weights("one.weight", {4, wide}), weights("one.bias", {wide})},
                              {}, "/one/Gemm");
        y = graph.add(op::Relu, {y}, {}, "/one/Relu");
        y = graph.add(op::Gemm, {y, weights("two.weight", {wide, wide}), weights("two.bias", {wide})}, {},
                      "/two/Gemm");
        y = graph.add(op::Gemm, {y, weights("three.weight", {wide, 2}), weights("three.bias", {2})}, {},
                      "/three/Gemm");
        graph.set_outputs({y});
        ASSERT_TRUE(infer_types(graph).ok());
        ASSERT_TRUE(onnx::save(graph, at("model.onnx")).ok());
    }

    void write_samples() {
        Random random(4);
        std::ofstream file(at("samples.csv"));
        file << "a,b,c,d,label\n";
        for (int i = 0; i < 6030; ++i) {
            for (int k = 0; k < 4; ++k) file << random.uniform(-1, 1) << ",";
            file << i % 2 << "\n";
        }
    }

    const tests::TemporaryFolder files_;
    const std::string folder_ = files_.path().string() + "/";
};

double joules(const Json& energy) { return energy.is_null() ? 0 : energy["value"].get<double>(); }

TEST_F(TrainEnergy, StepsEpochsAndLayersHaveJoulesThatSayWhereTheyComeFrom) {
    const Outcome done = train({"--epochs", "3", "--batch", "100", "--meter", "model", "--log",
                                at("log.jsonl"), "--html", at("page.html"), "--eval-share", "0.1", "--json"});
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = parse_json(done.out, "stdout");
    ASSERT_TRUE(json.ok());
    const Json& energy = (*json)["energy"];
    EXPECT_EQ(energy["meter"], "model-cpu-linear");
    EXPECT_EQ(energy["provenance"], "estimated:model-cpu-linear");
    double epochs = 0;
    for (const Json& epoch : (*json)["epochs"]) {
        ASSERT_FALSE(epoch["joules"].is_null()) << epoch.dump();
        EXPECT_EQ(epoch["joules"]["provenance"], "estimated:model-cpu-linear");
        EXPECT_GT(joules(epoch["joules"]), 0);
        EXPECT_LT(epoch["joules"]["low"].get<double>(), 0.51 * joules(epoch["joules"]));
        epochs += joules(epoch["joules"]);
    }
    EXPECT_NEAR(joules(energy["joules_a_step"]) * (*json)["steps"].get<double>(), epochs, 1e-9 * epochs);
    // The phases add up to the layers, and the layers to the step.
    double phases = 0, layers = 0;
    for (const char* phase : {"forward", "backward", "update", "other"})
        phases += joules(energy["joules"][phase]);
    for (const Json& layer : energy["layers"]) layers += joules(layer["joules"]["all"]);
    EXPECT_NEAR(phases, joules(energy["joules"]["all"]), 1e-9 * phases);
    EXPECT_NEAR(layers, phases, 1e-9 * phases);
    for (const char* name : {"/one/Gemm", "/two/Gemm", "/three/Gemm"}) {
        const auto found =
            std::ranges::find_if(energy["layers"], [&](const Json& l) { return l["name"] == name; });
        ASSERT_NE(found, energy["layers"].end()) << name << energy["layers"].dump(1);
        for (const char* phase : {"forward", "backward", "update"})
            EXPECT_FALSE((*found)["joules"][phase].is_null()) << name << phase;
        EXPECT_THAT((*found)["joules"]["all"]["provenance"].get<std::string>(),
                    testing::StartsWith("estimated:"));
    }
    // The log has a line for each step; after the first tenths of a second steps know their joules.
    std::ifstream log(at("log.jsonl"));
    std::string last;
    int lines = 0;
    for (std::string line; std::getline(log, line);) {
        if (line.find("viridian.train-step/1") != std::string::npos) ++lines;
        if (line.find("\"joules\"") != std::string::npos) last = line;
    }
    EXPECT_EQ(lines, (*json)["steps"].get<int>());
    ASSERT_NE(last, "") << "no step of " << lines << " has joules";
    const auto step = parse_json(last, "log");
    ASSERT_TRUE(step.ok());
    EXPECT_EQ((*step)["joules"]["provenance"], "estimated:model-cpu-linear");
    EXPECT_NEAR((*step)["watts"]["value"].get<double>(),
                joules((*step)["joules"]) / (*step)["seconds"].get<double>(), 1e-6);
    EXPECT_EQ((*step)["watts"]["provenance"], "estimated:model-cpu-linear");
    const auto page = read_file(at("page.html"));
    ASSERT_TRUE(page.ok());
    EXPECT_THAT(*page, HasSubstr("/two/Gemm"));
    EXPECT_EQ(page->find("src="), std::string::npos);
    int steps = 0;
    for (const Json& point : (*json)["curve"]) steps += point["steps"].get<int>();
    EXPECT_EQ(steps, (*json)["steps"].get<int>());
}

// Evaluations and checkpoints are not in the joules of epochs, and no joule of the run is left out.
TEST_F(TrainEnergy, TheJoulesOfARunAreDividedByWhatItDid) {
    const Outcome done =
        train({"--epochs", "2", "--batch", "100", "--meter", "model", "--eval-share", "0.2", "--checkpoints",
               at("points"), "--every", "20", "--record", at("run"), "--json"});
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = parse_json(done.out, "stdout");
    ASSERT_TRUE(json.ok());
    const Json& run = (*json)["energy"]["run"];
    double parts = 0;
    for (const char* part : {"steps", "evaluations", "checkpoints", "other"}) {
        ASSERT_FALSE(run[part].is_null()) << part;
        EXPECT_EQ(run[part]["provenance"], "estimated:model-cpu-linear");
        EXPECT_LE(run[part]["low"], run[part]["value"]);
        EXPECT_LT(run[part]["value"], run[part]["high"]);
        parts += joules(run[part]);
    }
    EXPECT_NEAR(parts, joules(run["all"]), 1e-9 * parts);
    for (const auto& [field, part] :
         {std::pair("joules", "steps"), std::pair("evaluation_joules", "evaluations"),
          std::pair("checkpoint_joules", "checkpoints")}) {
        double epochs = 0;
        for (const Json& epoch : (*json)["epochs"]) epochs += joules(epoch[field]);
        EXPECT_NEAR(epochs, joules(run[part]), 1e-9 * epochs + 1e-12) << field;
    }
    EXPECT_GT(joules(run["evaluations"]), 0);
    EXPECT_GT(joules(run["steps"]), joules(run["evaluations"]));
    // The books of a recorded step: its kernels and what no kernel received are what the meter counted.
    const Json& energy = (*json)["energy"];
    const Json& step = energy["step"];
    const double books = joules(energy["joules"]["all"]) + joules(step["idle"]) +
                         joules(step["unattributed"]) + joules(step["residual"]) +
                         joules(step["other_processes"]);
    EXPECT_NEAR(books, joules(step["all"]), 2e-6);
    double counted = 0;
    for (const Json& device : energy["devices"])
        counted += joules(device["meter"]) + device["other_processes"].get<double>();
    EXPECT_NEAR(joules(step["all"]) * energy["recorded_steps"].get<double>(), counted, 1e-9 * counted);
}

// Returns the joules with which a row of the text begins: "  forward       15.6 mJ [0 J, 40.1 mJ]".
double joules_in(const std::string& row) {
    double value = 0;
    char prefix = 0;
    EXPECT_EQ(std::sscanf(row.c_str(), "%lf %c", &value, &prefix), 2) << row;
    return value * (prefix == 'm' ? 1e-3 : prefix == 'u' ? 1e-6 : prefix == 'n' ? 1e-9 : 1.0);
}

TEST_F(TrainEnergy, EveryLineOfJoulesHasItsIntervalAndThePartsAddUp) {
    const Outcome done =
        train({"--epochs", "2", "--batch", "100", "--meter", "model", "--eval-share", "0.2"});
    ASSERT_EQ(done.code, 0) << done.err;
    const std::string joule = "[0-9.]+ [mun]?J", interval = "\\[" + joule + ", " + joule + "\\]";
    EXPECT_THAT(done.out,
                testing::ContainsRegex("samples/s  steps " + joule + " " + interval + " estimated\n"));
    EXPECT_THAT(done.out,
                testing::ContainsRegex("the run took " + joule + " " + interval + " \\(estimated:"));
    EXPECT_THAT(done.out,
                testing::ContainsRegex("a recorded step took " + joule + " " + interval + " \\(estimated:"));
    double sum = 0, whole = 0;
    int lists = 0;
    std::istringstream lines(done.out);
    const auto close = [&] {
        if (lists == 0) return;
        EXPECT_NEAR(sum, whole, 0.01 * whole + 1e-6) << done.out;
    };
    for (std::string line; std::getline(lines, line);) {
        if (const auto took = line.find(" took "); took != std::string::npos) {
            close();
            ++lists;
            sum = 0;
            whole = joules_in(line.substr(took + 6));
        } else if (line.starts_with("  ")) {
            // A regression may give idle time less than nothing (docs/account.md); no other part of a step.
            const bool has_sign = line.starts_with("  idle") || line.starts_with("  residual");
            const std::string one = has_sign ? "-?" + joule : joule;
            EXPECT_THAT(line,
                        testing::ContainsRegex("^  [a-z ]+ +" + one + " \\[" + one + ", " + one + "\\]"));
            sum += joules_in(line.substr(18));
        }
    }
    close();
    EXPECT_EQ(lists, 2) << "the run, and a recorded step";
    for (const char* part : {"\n  steps ", "\n  evaluations ", "\n  forward ", "\n  backward ", "\n  update ",
                             "\n  idle ", "\n  unattributed "})
        EXPECT_THAT(done.out, HasSubstr(part));
}

TEST_F(TrainEnergy, AccountSaysTheSameOfTheRecordedRun) {
    const Outcome done =
        train({"--epochs", "2", "--batch", "100", "--meter", "model", "--record", at("run"), "--json"});
    ASSERT_EQ(done.code, 0) << done.err;
    const auto json = parse_json(done.out, "stdout");
    ASSERT_TRUE(json.ok());
    const Json& energy = (*json)["energy"];
    std::map<std::pair<std::string, std::string>, double> accounted;  // by layer and phase
    std::map<std::string, double> each;                               // by phase, and parts of no kernel
    double meter = 0;
    for (const char* epoch : {"run/epoch-1", "run/epoch-2"}) {
        const Outcome account = run({"account", at(epoch), "--json"});
        ASSERT_EQ(account.code, 0) << account.err;
        const auto result = parse_json(account.out, "stdout");
        ASSERT_TRUE(result.ok());
        for (const Json& device : (*result)["devices"]) {
            meter += joules(device["meter_total"]);
            each["other_processes"] += device["other_processes"].get<double>();
            for (const char* part : {"idle", "unattributed", "residual"}) each[part] += joules(device[part]);
        }
        for (const Json& operation : (*result)["operations"]) {
            std::string phase = operation["pass"];
            if (phase == "weight") phase = "backward";
            if (phase != "forward" && phase != "backward" && phase != "update") phase = "other";
            if (operation["joules"].is_null()) continue;
            accounted[{operation["name"], phase}] += joules(operation["joules"]);
            each[phase] += joules(operation["joules"]);
        }
    }
    const auto steps = energy["recorded_steps"].get<double>();
    ASSERT_GT(steps, 0);
    std::size_t compared = 0;
    for (const Json& layer : energy["layers"])
        for (const char* phase : {"forward", "backward", "update", "other"}) {
            const auto found = accounted.find({layer["name"], phase});
            ASSERT_EQ(found == accounted.end(), layer["joules"][phase].is_null()) << layer["name"] << phase;
            if (found == accounted.end()) continue;
            ++compared;
            EXPECT_NEAR(joules(layer["joules"][phase]) * steps, found->second, 1e-9 * found->second + 1e-12)
                << layer["name"] << phase;
        }
    EXPECT_EQ(compared, accounted.size());
    EXPECT_GE(compared, 9U);
    for (const char* phase : {"forward", "backward", "update", "other"})
        EXPECT_NEAR(joules(energy["joules"][phase]) * steps, each[phase], 1e-9 * each[phase] + 1e-12)
            << phase;
    for (const char* part : {"idle", "unattributed", "residual", "other_processes"})
        EXPECT_NEAR(joules(energy["step"][part]) * steps, each[part], 1e-9 * std::abs(each[part]) + 1e-12)
            << part;
    double books = 0;
    for (const Json& device : energy["devices"]) books += joules(device["meter"]);
    EXPECT_NEAR(books, meter, 1e-9 * meter);
    const Outcome again = train({"--record", at("run")});
    EXPECT_EQ(again.code, 1);
    EXPECT_THAT(again.err, HasSubstr("is not empty"));
}

TEST_F(TrainEnergy, AMeterThatIsNotThereIsAnError) {
    const Outcome wrong = train({"--meter", "sundial"});
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("sundial"));
    EXPECT_FALSE(std::filesystem::exists(at("trained.onnx")));
}

// Micro-batches give the run of the whole batch, to rounding.
TEST_F(TrainEnergy, AccumulatedBatchesTrainAsOneBatch) {
    const auto loss = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--epochs", "2", "--clip", "1", "--json"});
        const Outcome done = train(more);
        EXPECT_EQ(done.code, 0) << done.err;
        const auto json = parse_json(done.out, "stdout");
        return json.ok() ? (*json)["epochs"] : Json();
    };
    const Json whole = loss({"--batch", "200"});
    const Json parts = loss({"--batch", "50", "--accumulate", "4", "--checkpoints", at("points")});
    ASSERT_EQ(whole.size(), 2U);
    ASSERT_EQ(parts.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(parts[i]["samples"], whole[i]["samples"]);
        EXPECT_NEAR(parts[i]["loss"].get<double>(), whole[i]["loss"].get<double>(), 2e-6);
    }
    const std::string first = *read_file(at("trained.onnx"));
    std::vector<Path> points;
    for (const auto& entry : std::filesystem::directory_iterator(at("points")))
        if (entry.path().extension() == ".safetensors") points.push_back(entry.path());
    std::ranges::sort(points);
    ASSERT_EQ(points.size(), 2U);
    std::filesystem::remove(points[1]);  // the run goes on after its first epoch
    const Outcome resumed = train({"--batch", "50", "--accumulate", "4", "--checkpoints", at("points"),
                                   "--epochs", "2", "--clip", "1", "--resume"});
    EXPECT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(*read_file(at("trained.onnx")), first);
}

}  // namespace
}  // namespace viridian::cli
