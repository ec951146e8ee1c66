// Ten thousand damaged traces of every format: each is an error or events with counted warnings, in time
// order, with sound references; never a crash, a hang or a lost byte unnoticed. (fuzz/ does the same without
// an end.)
#include <gtest/gtest.h>

#include "tests/support/paths.hpp"
#include "tests/trace/random_trace.hpp"
#include "viridian/trace/binary/binary.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::trace {
namespace {

std::string plain(const Path& path) {
    std::string text, piece(1U << 16U, '\0');
    auto bytes = open_bytes(path).value();
    for (auto count = bytes->read(piece).value(); count > 0; count = bytes->read(piece).value())
        text.append(piece, 0, count);
    return text;
}

// A stretch of whole rows from the middle, so that each mutation is quick.
std::string shortened(std::string text, std::size_t size) {
    if (text.size() <= size) return text;
    const std::size_t cut = text.find("\n", size);
    return text.substr(0, cut == std::string::npos ? size : cut);
}

std::vector<std::string> corpus() {
    std::vector<std::string> all;
    const Path folder = tests::source_folder() / "tests/data/traces";
    for (const auto& file : std::filesystem::directory_iterator(folder))
        if (file.path().extension() != ".md" && file.path().filename() != "ns_resolution.json.gz")
            all.push_back(shortened(plain(file.path()), 12'000));
    Random random(9);
    all.push_back(tests::random_trace(random, 3).text());
    std::string bytes;
    const auto sink = binary_sink(out_to(bytes));
    EXPECT_TRUE(copy(**open_text(all.back(), "t"), *sink).ok());
    all.push_back(bytes);
    all.emplace_back(  // TensorFlow's two, and Chrome's own
        R"({"traceEvents":[{"ph":"M","name":"process_name","pid":1,"args":{"name":"/job:a/device:GPU:0/stream:all Compute"}},)"
        R"({"ph":"M","name":"process_name","pid":2,"args":{"name":"/job:a/device:CPU:0 Compute"}},)"
        "\n"
        R"({"ph":"X","cat":"Op","name":"MatMul","pid":2,"tid":0,"ts":1700000000000000,"dur":90,"args":{"name":"net/a/MatMul","op":"MatMul"}},)"
        "\n"
        R"({"ph":"X","cat":"Op","name":"Relu","pid":2,"tid":1,"ts":1700000000000095,"dur":20,"args":{"name":"net/a/Relu","op":"Relu","input0":"net/a/MatMul"}},)"
        R"({"ph":"X","cat":"Op","name":"MatMul","pid":1,"tid":0,"ts":1700000000000020,"dur":60,"args":{"name":"net/a/MatMul","op":"MatMul"}}]})");
    all.emplace_back(
        R"({"displayTimeUnit":"ns","metadata":{"highres-ticks":true},"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},)"
        R"x({"ph":"M","pid":1,"tid":14,"name":"thread_name","args":{"name":"Stream #14(Compute)"
}
},)"
        "\n"
        R"({"ph":"X","pid":1,"tid":14,"ts":100.5,"dur":7.25,"name":"gemm","args":{"tf_op":"net/b/MatMul:MatMul","correlation_id":"7"}},)x"
        R"({"ph":"X","pid":1,"tid":14,"ts":110.5,"dur":2.25,"name":"add","args":{"tf_op":"net/b/Add:AddV2","hlo_op":"fusion.1"}},{}]})");
    all.emplace_back(
        R"([{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"X","name":"b","pid":1,"tid":1,"ts":2,"dur":3},)"
        "\n"
        R"({"ph":"C","name":"p","pid":1,"ts":4,"args":{"W":3.5}},{"ph":"s","id":9,"pid":1,"tid":1,"ts":3,"name":"f"},)"
        R"({"ph":"f","bp":"e","id":9,"pid":1,"tid":2,"ts":6,"name":"f"},{"ph":"X","name":"c","pid":1,"tid":2,"ts":6,"dur":1},{"ph":"E","pid":1,"tid":1,"ts":9}])");
    std::ranges::sort(all);
    return all;
}

void mutate(std::string& text, Random& random) {
    static constexpr std::string_view pieces[] = {"\"",
                                                  "{",
                                                  "}",
                                                  "[",
                                                  "]",
                                                  ",",
                                                  ":",
                                                  "\\",
                                                  "\"ph\"",
                                                  "N/A",
                                                  "1e999",
                                                  "-",
                                                  "18446744073709551616",
                                                  "\xff\xfe",
                                                  "{\"ph\":\"X\"",
                                                  "\n",
                                                  "[[[["};
    for (auto left = 1 + random.below(4); left > 0 && !text.empty(); --left) {
        const std::size_t at = random.below(text.size());
        switch (random.below(6)) {
            case 0:
                text[at] = static_cast<char>(random.below(256));
                break;
            case 1:
                text.erase(at, 1 + random.below(40));
                break;
            case 2:
                text.insert(at, pieces[random.below(std::size(pieces))]);
                break;
            case 3:
                text.resize(at);
                break;
            case 4:
                text.insert(at, text.substr(random.below(text.size()), random.below(300)));
                break;
            default:
                std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at),
                            std::min<std::size_t>(text.size() - at, random.below(60)), '\0');
        }
    }
}

void expect_sound(std::string_view text) {
    auto source = open_text(text, "mutated", {.spill = {1U << 20U, "/var/tmp"}});
    if (!source.ok()) {
        EXPECT_FALSE(source.error().next_step.empty());
        return;
    }
    auto trace = collect(**source);
    if (!trace.ok()) {
        EXPECT_FALSE(trace.error().next_step.empty());
        return;
    }
    const Trace& about = trace->about;
    const Event* before = nullptr;
    for (const Event& event : trace->events) {
        ASSERT_LE(event.start, event.end);
        ASSERT_TRUE(before == nullptr || before->start <= event.start);
        ASSERT_LT(event.name, about.names.size());
        ASSERT_LT(event.type, about.names.size());
        ASSERT_LT(event.path, about.paths.size());
        ASSERT_LT(event.lane, about.lanes.size());
        ASSERT_LT(event.device, about.devices.size());
        before = &event;
    }
    for (const Edge& edge : about.edges) ASSERT_LT(std::max(edge.from, edge.to), about.paths.size());
}

TEST(Mutation, TenThousandDamagedTracesAreReadOrRefused) {
    // More than these: --gtest_shuffle --gtest_repeat=N, each turn has a seed of its own.
    Random random(2024 + static_cast<std::uint64_t>(testing::UnitTest::GetInstance()->random_seed()));
    const std::vector<std::string> originals = corpus();
    for (int round = 0; round < 10'000; ++round) {
        std::string text = originals[random.below(originals.size())];
        mutate(text, random);
        SCOPED_TRACE(round);
        expect_sound(text);
        if (HasFatalFailure()) return;
    }
}

TEST(Mutation, ACutFileGivesThePrefixOfItsEvents) {
    Random random(5);
    const std::string text = plain(tests::source_folder() / "tests/data/traces/timeline_analysis.json.gz");
    const Collected whole = collect(**open_text(text, "whole")).value();
    for (int round = 0; round < 20; ++round) {
        const std::string part = text.substr(0, text.size() / 10 + random.below(text.size() * 9 / 10));
        const auto got = collect(**open_text(part, "part"));
        ASSERT_TRUE(got.ok());
        EXPECT_LE(got->events.size(), whole.events.size());
        EXPECT_GE(got->events.size() + 2,
                  whole.events.size() * (part.size() - 20'000) / text.size() * 7 / 10);
        ASSERT_FALSE(got->about.warnings.empty());
        EXPECT_LE(got->about.lost_events, 1U);
    }
}

TEST(Mutation, DamageInOneEventCostsThatEvent) {
    Random random(6);
    const std::string text = tests::random_trace(random, 100).text();
    const std::size_t whole = collect(**open_text(text, "t"))->events.size();
    for (int round = 0; round < 200; ++round) {
        std::string broken = text;
        broken.erase(random.below(text.size() - 200) + 60, 1);
        const auto got = collect(**open_text(broken, "t"));
        ASSERT_TRUE(got.ok());
        EXPECT_GE(got->events.size() + 2, whole);
        EXPECT_LE(got->events.size(), whole);
    }
}

}  // namespace
}  // namespace viridian::trace
