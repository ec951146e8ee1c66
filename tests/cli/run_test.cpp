// `run`: outputs and traces into files, inputs from files.
#include <sched.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/base/file.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/onnx/tensors/tensor_file.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::cli {
namespace {

class Run : public testing::Test {
  protected:
    void SetUp() override {
        graph::Graph graph;
        const graph::TensorType type{graph::ElementType::f32,
                                     graph::Shape{graph::Dimension("N"), graph::Dimension(2)}};
        const graph::ValueId a = graph.add_input("a", type);
        const graph::ValueId b = graph.add_input("b", type);
        graph.set_outputs({graph.add("Sub", {a, b}, {}, "difference")});
        ASSERT_TRUE(infer_types(graph).ok());
        output_ = graph.value(graph.outputs()[0]).name;
        ASSERT_TRUE(onnx::save(graph, at("model.onnx")).ok());
        write("a.npy", {5, 7});
        write("other.npy", {1, 2});
    }
    std::string at(const char* name) const { return (folder_ / name).string(); }
    void write(const char* name, const std::vector<float>& values) const {
        ASSERT_TRUE(onnx::write_tensor_file(at(name), {"", graph::Tensor::f32({1, 2}, values)}).ok());
    }
    const tests::TemporaryFolder folder_;
    std::string output_;  // its name
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

TEST_F(Run, TheTraceTellsPerfettoKernelLayoutAndPower) {
    const std::string log = at("power.csv");  // 5 W, said every 20 us of a second
    std::string text = "time_ns,meter,device,scope,kind,value,window_ns\n";
    for (int i = 0; i < 50'000; ++i)
        text += fmt::format("{},replayed,cpu:0,package,power_uw,5000000,\n",
                            1'000'000'000'000'000'000 + i * 20'000LL);
    std::ofstream(log) << text;
    ::setenv("VIRIDIAN_REPLAY", log.c_str(), 1);
    const Outcome ran = run(
        {"run", at("model.onnx"), "--batch", "1", "--trace", at("trace.json"), "--rounds", "1", "--json"});
    ::unsetenv("VIRIDIAN_REPLAY");
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto trace = parse_json(*read_file(at("trace.json")), "trace");
    ASSERT_TRUE(trace.ok());
    std::size_t steps = 0, powers = 0;
    for (const Json& event : (*trace)["traceEvents"]) {
        if (event.value("ph", "") == "X") {
            ++steps;
            const Json& arguments = event["args"];
            EXPECT_FALSE(arguments.value("kernel", "").empty()) << event.dump();
            EXPECT_NE(arguments.value("layout", "").find(":f32"), std::string::npos) << event.dump();
        }
        const std::string name = event.value("name", "");
        powers += event.value("ph", "") == "C" && name.find(" power (") != std::string::npos;
    }
    EXPECT_EQ(steps, 10U * (*parse_json(ran.out, "stdout"))["steps"].get<std::size_t>());
    EXPECT_GT(powers, 0U);
    const auto read = trace::open(at("trace.json"));  // and it is still a trace of ours
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(trace::collect(**read)->about.format, "viridian");
}

TEST_F(Run, ReplacesNothingItReads) {
    const std::string model = *read_file(at("model.onnx"));
    const std::string output = output_ + ".npy";
    write(output.c_str(), {5, 7});
    const std::vector<std::vector<std::string>> outputs = {{"--trace", at("model.onnx")},
                                                           {"--trace", at("other.npy")},
                                                           {"--account", at("model.onnx")},
                                                           {"-o", folder_.path().string()}};
    for (const auto& option : outputs) {
        std::vector<std::string> all = {"run",      at("model.onnx"),
                                        "--batch",  "1",
                                        "--rounds", "1",
                                        "--inputs", "b=" + at("other.npy"),
                                        "--inputs", "a=" + at(output.c_str())};
        all.insert(all.end(), option.begin(), option.end());
        const Outcome refused = run(all);
        EXPECT_EQ(refused.code, 1) << option[1];
        EXPECT_NE(refused.err.find("which this command reads"), std::string::npos) << refused.err;
        EXPECT_NE(refused.err.find("choose another name"), std::string::npos) << refused.err;
    }
    EXPECT_EQ(*read_file(at("model.onnx")), model);
    EXPECT_EQ(onnx::read_tensor_file(at("other.npy"))->tensor.number(0), 1);
}

TEST_F(Run, SaysWhatIsWrongWithInputs) {
    const Outcome missing = run({"run", at("model.onnx"), "--batch", "1", "--inputs", "a=" + at("a.npy")});
    EXPECT_EQ(missing.code, 1);
    EXPECT_NE(missing.err.find("no file gives the input `b`"), std::string::npos) << missing.err;
    const Outcome shape = run({"run", at("model.onnx"), "--batch", "3", "--inputs", "a=" + at("a.npy")});
    EXPECT_EQ(shape.code, 1);
    EXPECT_NE(shape.err.find("the input `a` is"), std::string::npos) << shape.err;
    for (const std::string& second : {"a=" + at("other.npy"), at("other.npy")}) {
        const Outcome twice = run({"run", at("model.onnx"), "--batch", "1", "--inputs", "a=" + at("a.npy"),
                                   "--inputs", "b=" + at("a.npy"), "--inputs", second});
        EXPECT_EQ(twice.code, 1);
        EXPECT_TRUE(twice.err.find("one file more for the input `a`") != std::string::npos ||
                    twice.err.find("belongs to no input") != std::string::npos)
            << twice.err;
    }
}

TEST_F(Run, RefusesOptionsThatWouldDoNothing) {
    for (const std::vector<std::string>& more :
         std::vector<std::vector<std::string>>{{"--device", "reference", "--trace", at("t.json")},
                                               {"--device", "reference", "--account", at("a.json")},
                                               {"--device", "reference", "--retune"},
                                               {"--meter", "model"}}) {
        std::vector<std::string> all = {"run", at("model.onnx"), "--batch", "1", "--rounds", "1"};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome outcome = run(all);
        EXPECT_EQ(outcome.code, 1);
        EXPECT_NE(outcome.err.find("`" + (more.size() > 2 ? more[2] : more[0]) + "`"), std::string::npos)
            << outcome.err;
    }
    const Outcome late = run({"run", at("model.onnx"), "--batch", "1", "--trace", at("none/t.json")});
    EXPECT_EQ(late.code, 2);
    EXPECT_NE(late.err.find("cannot write"), std::string::npos) << late.err;
}

TEST_F(Run, TheReferenceAnswersInWords) {
    const Outcome outcome = run({"run", at("model.onnx"), "--batch", "1", "--device", "reference"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out.find('{'), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("f32[1,2]"), std::string::npos) << outcome.out;
}

TEST_F(Run, DimensionsAreGivenOnce) {
    const Outcome twice = run({"run", at("model.onnx"), "--dim", "N=1", "--dim", "N=2"});
    EXPECT_EQ(twice.code, 1);
    EXPECT_NE(twice.err.find("--dim names `N` twice"), std::string::npos) << twice.err;
}

TEST_F(Run, SaysWhatToDoWithShapesThatDependOnDataAndWithoutOutputs) {
    graph::Graph graph;
    const graph::ValueId x =
        graph.add_input("x", {graph::ElementType::f32, graph::Shape{graph::Dimension(4)}});
    const graph::ValueId places = graph.add("NonZero", {x}, {}, "places");
    ASSERT_TRUE(infer_types(graph).ok());
    ASSERT_TRUE(onnx::save(graph, at("none.onnx")).ok());
    const Outcome none = run({"run", at("none.onnx")});
    EXPECT_EQ(none.code, 1);
    EXPECT_NE(none.err.find("has no outputs"), std::string::npos) << none.err;
    graph.set_outputs({places});
    ASSERT_TRUE(onnx::save(graph, at("data.onnx")).ok());
    const Outcome data = run({"run", at("data.onnx")});
    EXPECT_EQ(data.code, 1);
    EXPECT_NE(data.err.find("--device reference"), std::string::npos) << data.err;
    EXPECT_EQ(run({"run", at("data.onnx"), "--device", "reference"}).code, 0);
}

TEST_F(Run, AProcessorThatDoesNotMultiplyInBf16StoresInIt) {
    graph::Graph graph;
    const graph::TensorType type{graph::ElementType::f32, graph::shape_of({64, 64})};
    const auto x = graph.add_input("x", type);
    graph.set_outputs({graph.add("MatMul", {x, graph.add_input("y", type)})});
    ASSERT_TRUE(onnx::save(graph, at("product.onnx")).ok());
    const std::string command = fmt::format(
        "ONEDNN_MAX_CPU_ISA=AVX2 '{}' profile '{}' --allow bf16 --db '{}' --choices --record '{}' 2>&1",
        tests::command_line().string(), at("product.onnx"), at("cost.db"), at("prices.json"));
    FILE* pipe = ::popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string said(65536, '\0');
    said.resize(std::fread(said.data(), 1, said.size(), pipe));
    EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 0) << said;
    const auto prices = read_file(at("prices.json"));
    ASSERT_TRUE(prices.ok()) << prices.error().text();
    EXPECT_THAT(*prices, testing::HasSubstr("bf16"));
    EXPECT_THAT(*prices, testing::HasSubstr("simd:contract"));
    EXPECT_THAT(*prices, testing::Not(testing::HasSubstr("simd:contract:bf16")));
}

// A harness reads how much memory the process had before it read the model, asks for turns, and finds the
// outputs of the runs it timed.
TEST_F(Run, PacedTellsItsMemoryAndWritesTheOutputsOfItsRuns) {
    const std::string command = fmt::format(
        "echo 0.001 | '{}' run '{}' --batch 1 --paced --inputs a='{}' --inputs b='{}' -o '{}'",
        tests::command_line().string(), at("model.onnx"), at("a.npy"), at("other.npy"), at("paced"));
    FILE* pipe = ::popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::string said(1 << 20, '\0');
    said.resize(std::fread(said.data(), 1, said.size(), pipe));
    ASSERT_EQ(WEXITSTATUS(::pclose(pipe)), 0) << said;
    const auto first = parse_json(said.substr(0, said.find('\n')), "stdout");
    ASSERT_TRUE(first.ok()) << said;
    EXPECT_GT((*first)["ready"].get<double>(), 0);
    EXPECT_GT((*first)["memory_before"].get<std::int64_t>(), 1 << 20);
    EXPECT_LT((*first)["memory_before"].get<std::int64_t>(), std::int64_t{1} << 30);
    const auto times = parse_json(said.substr(said.find('\n') + 1), "stdout");
    ASSERT_TRUE(times.ok()) << said;
    EXPECT_GE(times->size(), 2U);
    const auto output = onnx::read_tensor_file(at("paced") + "/" + output_ + ".npy");
    ASSERT_TRUE(output.ok());
    EXPECT_EQ(output->tensor.number(0), 4);
    EXPECT_EQ(output->tensor.number(1), 5);
}

// A run may bind its threads while it lasts; the caller gets its processors back.
TEST_F(Run, LeavesTheCallersThreadWhereItWas) {
    cpu_set_t before, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one processor: nothing to pin to";
    const auto run_with = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = {"run", at("model.onnx"), "--batch", "1", "--threads",
                                        "1",   "--rounds",       "1"};
        all.insert(all.end(), more.begin(), more.end());
        EXPECT_EQ(run(all).code, 0);
        EXPECT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
        return CPU_COUNT(&after);
    };
    EXPECT_EQ(run_with({"--no-pin"}), CPU_COUNT(&before));
    EXPECT_EQ(run_with({}), CPU_COUNT(&before));
}

// A product large enough for two threads to share.
TEST_F(Run, GivesTheSameOutputsPinnedOrNotOnTwoThreads) {
    graph::Graph graph;
    const graph::ValueId x = graph.add_input("x", {graph::ElementType::f32, graph::shape_of({64, 256})});
    graph::Tensor weights(graph::ElementType::f32, {256, 256});
    float value = 0.1F;
    for (float& w : weights.mutable_values<float>()) w = value = value > 1 ? value - 1.93F : value + 0.37F;
    graph.set_outputs({graph.add("MatMul", {x, graph.add_constant("w", std::move(weights))}, {}, "y")});
    ASSERT_TRUE(infer_types(graph).ok());
    const std::string file = graph.value(graph.outputs()[0]).name + ".npy";
    ASSERT_TRUE(onnx::save(graph, at("product.onnx")).ok());
    const auto outputs_of = [&](const char* folder, const std::vector<std::string>& more) {
        std::vector<std::string> all = {"run", at("product.onnx"), "--threads", "2",       "--rounds",
                                        "1",   "--json",           "-o",        at(folder)};
        all.insert(all.end(), more.begin(), more.end());
        const Outcome ran = run(all);
        EXPECT_EQ(ran.code, 0) << ran.err;
        EXPECT_EQ((*parse_json(ran.out, "stdout"))["threads"], 2);
        const auto text = read_file(folder_ / folder / file);
        EXPECT_TRUE(text.ok());
        return text.ok() ? *text : "";
    };
    cpu_set_t before, after;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    const std::string loose = outputs_of("loose", {"--no-pin"});
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&before, &after));
    const std::string pinned = outputs_of("pinned", {});
    EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    EXPECT_GT(loose.size(), 64U * 256U * sizeof(float));
    EXPECT_EQ(loose, pinned);
}

}  // namespace
}  // namespace viridian::cli
