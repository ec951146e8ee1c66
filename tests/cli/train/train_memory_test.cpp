// A run of a training step needs no more memory than --memory allows, and what its message says suffices.
#include <regex>

#include "tests/cli/train_support.hpp"
#include "viridian/base/units_text.hpp"
#include "viridian/session/session.hpp"

namespace viridian::cli {
namespace {

using testing::HasSubstr;
using TrainMemory = TrainCommand;

// "a training step needs 41.0 KiB of memory, or 30.2 KiB if ..." gives both, as --memory takes them.
std::vector<std::string> sizes_in(const std::string& message) {
    const std::regex words("needs ([0-9.]+) ([KMG]iB) of memory, or ([0-9.]+) ([KMG]iB) if activations");
    std::smatch found;
    if (!std::regex_search(message, found, words)) return {};
    return {found[1].str() + found[2].str(), found[3].str() + found[4].str()};
}

// The sizes from `least` to `most` in five steps.
std::vector<std::string> between(const std::string& least, const std::string& most) {
    const Bytes from = *parse_size(least), to = *parse_size(most);
    std::vector<std::string> sizes = {least};
    for (int fifth = 1; fifth < 5; ++fifth)
        sizes.push_back(std::to_string(from.value + (to.value - from.value) * fifth / 5));
    sizes.push_back(most);
    return sizes;
}

TEST_F(TrainMemory, WhatTheMessageNamesSufficesAndSoDoesMore) {
    const auto with = [&](const std::string& size) {
        return run({"--batch", "403", "--memory", size, "-o", folder_ + "trained.onnx"});
    };
    const Outcome refused = with("1KiB");
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("and 1.0 KiB are allowed"));
    const std::vector<std::string> sizes = sizes_in(refused.err);
    ASSERT_EQ(sizes.size(), 2U) << refused.err;
    for (const std::string& size : between(sizes[1], sizes[0]))
        EXPECT_EQ(with(size).code, 0) << size << " of " << refused.err;
}

TEST_F(TrainMemory, BothGraphsOfMicroBatchesFit) {
    const auto with = [&](const std::string& size) {
        return run({"--batch", "100", "--accumulate", "4", "--memory", size, "-o", folder_ + "trained.onnx"});
    };
    const std::vector<std::string> sizes = sizes_in(with("100").err);
    ASSERT_EQ(sizes.size(), 2U);
    EXPECT_EQ(with(sizes[1]).code, 0);
}

TEST_F(TrainMemory, AWrittenStepRunsInWhatItWasMadeFor) {
    const std::string model = folder_ + "cnn.onnx", step = folder_ + "step.onnx";
    ASSERT_EQ(cli::run({"zoo", "small_cnn", "--training", "--batch", "50", "-o", model}).code, 0);
    const auto written = [&](const std::string& size) {
        return cli::run({"gradient", model, "--threads", "1", "--memory", size, "-o", step});
    };
    const std::string refused = written("1KiB").err;
    const std::vector<std::string> sizes = sizes_in(refused);
    ASSERT_EQ(sizes.size(), 2U) << refused;
    for (const std::string& size : between(sizes[1], sizes[0])) {
        SCOPED_TRACE(size + " of " + refused);
        ASSERT_EQ(written(size).code, 0);
        ModelOptions options;
        options.model = step;
        options.threads = 1;
        options.memory = size;
        auto loaded = session::load(options);
        ASSERT_TRUE(loaded.ok()) << loaded.error().text();
        const auto ready = session::prepare(*std::move(loaded), options);
        ASSERT_TRUE(ready.ok()) << ready.error().text();
        EXPECT_LE(ready->planned.executable->memory(), *parse_size(size));
        for (const plan::AssignedRegion& region : ready->planned.plan.assignment.regions)
            EXPECT_NE(region.choice.variant.algorithm, plan::Algorithm::reference) << region.choice.kernel;
    }
}

}  // namespace
}  // namespace viridian::cli
