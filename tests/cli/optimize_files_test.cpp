// `optimize` replaces nothing it reads, writes no two files to one name, and says so before it measures.
#include "viridian/optimize/files/optimize_files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/cli/run_cli_support.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/optimize/optimize.hpp"

namespace viridian::cli {
namespace {

class OptimizeFilesTest : public testing::Test {
  protected:
    void SetUp() override {
        graph::Graph graph;
        const auto x = graph.add_input("x", {graph::ElementType::f32, graph::Shape{graph::Dimension(4)}});
        graph.set_outputs({graph.add("Relu", {x}, {}, "relu")});
        ASSERT_TRUE(onnx::save(graph, at("relu.onnx")).ok());
        model_ = *read_file(at("relu.onnx"));
    }
    std::string at(const char* name) const { return (folder_ / name).string(); }
    Outcome optimize(const std::string& output, std::vector<std::string> more = {}) const {
        std::vector<std::string> all = {"optimize", at("relu.onnx"), "-o", output, "--budget", "5"};
        if (std::ranges::find(more, "--recorded") == more.end())
            all.insert(all.end(), {"--db", at("cost.db")});
        all.insert(all.end(), more.begin(), more.end());
        return run(all);
    }
    std::size_t entries() const {
        std::size_t count = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) count += entry.exists();
        return count;
    }
    const tests::TemporaryFolder folder_;
    std::string model_;
};

TEST_F(OptimizeFilesTest, RefusesToReplaceWhatItReads) {
    std::filesystem::create_symlink(at("relu.onnx"), at("link.onnx"));
    std::filesystem::create_hard_link(at("relu.onnx"), at("hard.onnx"));
    const std::size_t before = entries();
    for (const std::string& output :
         {at("relu.onnx"), at("link.onnx"), at("hard.onnx"), at(".") + "/relu.onnx"}) {
        const Outcome outcome = optimize(output);
        EXPECT_EQ(outcome.code, 1) << output;
        EXPECT_NE(outcome.err.find("choose another name"), std::string::npos) << outcome.err;
    }
    const Outcome prices = optimize(at("new.onnx"), {"--recorded", at("new.plan.json")});
    EXPECT_NE(prices.err.find("which this command reads"), std::string::npos) << prices.err;
    ASSERT_TRUE(write_file(at("x.npy"), "mine").ok());
    for (const std::string& input : {"x=" + at("x.npy"), at("x.npy"), folder_.path().string()}) {
        const Outcome over = optimize(at("new.onnx"), {"--inputs", input, "--record", at("x.npy")});
        EXPECT_NE(over.err.find("which this command reads"), std::string::npos) << over.err;
    }
    std::filesystem::remove(at("x.npy"));
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const std::string kept = cache == nullptr ? "" : cache;
    ::setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    const Outcome database = run({"optimize", at("relu.onnx"), "-o", at("new.onnx"), "--record",
                                  (folder_ / "viridian" / "cost.db").string()});
    cache == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", kept.c_str(), 1);
    EXPECT_NE(database.err.find("which this command reads"), std::string::npos) << database.err;
    EXPECT_EQ(*read_file(at("relu.onnx")), model_);
    EXPECT_EQ(entries(), before);  // not even a database: nothing was begun
}

TEST_F(OptimizeFilesTest, RefusesNamesThatAreNoModelOrCollide) {
    for (const char* name : {"page.html", "relu.v2", "relu", ".onnx"}) {
        const Outcome outcome = optimize(at(name));
        EXPECT_EQ(outcome.code, 1);
        EXPECT_NE(outcome.err.find("does not end in .onnx"), std::string::npos) << outcome.err;
    }
    const Outcome twice = optimize(at("new.onnx"), {"--record", at("new.plan.json")});
    EXPECT_EQ(twice.code, 1);
    EXPECT_NE(twice.err.find("are the same file"), std::string::npos) << twice.err;
    EXPECT_EQ(entries(), 1U);
}

TEST_F(OptimizeFilesTest, SaysBeforeMeasuringThatItCannotWrite) {
    EXPECT_NE(optimize(at("none/x.onnx")).err.find("cannot write `" + at("none/x.onnx")), std::string::npos);
    EXPECT_NE(optimize(at("x.onnx"), {"--record", at("none/r.json")}).err.find("cannot write"),
              std::string::npos);
    std::filesystem::create_directory(at("x.plan.json"));
    const Outcome plan = optimize(at("x.onnx"));
    EXPECT_EQ(plan.code, 2);
    EXPECT_NE(plan.err.find("cannot write `" + at("x.plan.json")), std::string::npos) << plan.err;
    EXPECT_EQ(entries(), 2U);  // the model and that folder: no output, no database
}

TEST_F(OptimizeFilesTest, AnotherModelThanTheCertificatesIsTheUsersError) {
    const std::string prices = (tests::source_folder() / "benchmarks/eago/processor.json").string();
    ASSERT_EQ(optimize(at("x.onnx"), {"--recorded", prices}).code, 0);
    graph::Graph graph;
    const auto x = graph.add_input("x", {graph::ElementType::f32, graph::Shape{graph::Dimension(4)}});
    graph.set_outputs({graph.add("Neg", {x}, {}, "neg")});
    ASSERT_TRUE(onnx::save(graph, at("neg.onnx")).ok());
    const Outcome wrong =
        run({"check", at("relu.onnx"), at("x.certificate.json"), "--optimized", at("neg.onnx")});
    EXPECT_EQ(wrong.code, 1) << wrong.err;
    EXPECT_NE(wrong.err.find("is not what the certificate makes"), std::string::npos) << wrong.err;
}

TEST_F(OptimizeFilesTest, WritesAllOrNothing) {
    const auto files = optimize::OptimizeFiles::make(at("x.onnx"), "", false, {});
    ASSERT_TRUE(files.ok());
    const auto graph = onnx::load(at("relu.onnx"));
    auto prices = optimize::RecordedCosts::open(tests::source_folder() / "benchmarks/eago/processor.json");
    ASSERT_TRUE(graph.ok() && prices.ok());
    Listener silent;
    const auto result = optimize::optimize(*graph, *prices, nullptr, {}, silent);
    ASSERT_TRUE(result.ok()) << result.error().text();
    std::filesystem::create_directory(at("x.html"));  // after the check: the page cannot come there
    EXPECT_FALSE(files->write(*result, "page").ok());
    EXPECT_FALSE(std::filesystem::exists(at("x.onnx")));
    EXPECT_FALSE(std::filesystem::exists(at("x.plan.json")));
    std::filesystem::remove(at("x.html"));
    ASSERT_TRUE(files->write(*result, "page").ok());
    EXPECT_TRUE(onnx::load(at("x.onnx")).ok());
    EXPECT_EQ(*read_file(at("x.html")), "page");
    EXPECT_EQ(entries(), 5U);  // and no folder of parts
}

// A plan of before would be of another graph than the model beside it.
TEST_F(OptimizeFilesTest, AKeptOriginalIsTheGivenModelWithoutAPlan) {
    const auto files = optimize::OptimizeFiles::make(at("x.onnx"), "", false, {});
    const auto graph = onnx::load(at("relu.onnx"));
    auto prices = optimize::RecordedCosts::open(tests::source_folder() / "benchmarks/eago/processor.json");
    ASSERT_TRUE(files.ok() && graph.ok() && prices.ok());
    Listener silent;
    auto result = optimize::optimize(*graph, *prices, nullptr, {}, silent);
    ASSERT_TRUE(result.ok()) << result.error().text();
    ASSERT_TRUE(files->write(*result, "page").ok());
    ASSERT_TRUE(std::filesystem::exists(at("x.plan.json")));
    result->kept_original = *graph;
    ASSERT_TRUE(files->write(*result, "page").ok());
    EXPECT_FALSE(std::filesystem::exists(at("x.plan.json")));
    EXPECT_FALSE(std::filesystem::exists(at("x.certificate.json")));
    EXPECT_EQ(files->json(*result).size(), 2U);
    const auto written = onnx::load(at("x.onnx"));
    ASSERT_TRUE(written.ok());
    EXPECT_EQ(structural_hash(*written), structural_hash(*graph));
}

}  // namespace
}  // namespace viridian::cli
