// Real files of real profilers (tests/data/traces/README.md): totals and joins, counted with another
// program's JSON parser.
#include "viridian/trace/read.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/support/paths.hpp"

namespace viridian::trace {
namespace {

std::filesystem::path data(std::string_view name) {
    return tests::source_folder() / "tests/data/traces" / name;
}

Collected read(std::string_view name) {
    auto source = open(data(name));
    EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().text());
    auto all = collect(**source);
    EXPECT_TRUE(all.ok());
    EXPECT_TRUE(std::ranges::is_sorted(all->events, earlier));
    return std::move(all).value();
}

std::map<Kind, std::size_t> kinds(const Collected& trace) {
    std::map<Kind, std::size_t> counts;
    for (const Event& event : trace.events) ++counts[event.kind];
    return counts;
}

const Event& by_instance(const Collected& trace, InstanceId instance) {
    return trace.events.at(instance - 1);
}

// Every piece of accelerator work has an owner that was launched before it and stands on a processor.
void expect_owned(const Collected& trace) {
    EXPECT_EQ(trace.about.unowned, 0U);
    for (const Event& event : trace.events) {
        if (!is_work(event.kind) || event.kind == Kind::operation) continue;
        ASSERT_NE(event.owner, 0U);
        const Event& owner = by_instance(trace, event.owner);
        EXPECT_EQ(owner.instance, event.owner);
        EXPECT_EQ(trace.about.devices[owner.device], "cpu:0");
        EXPECT_LE(owner.start, event.end);
    }
}

TEST(Read, KinetoWithBaseTimeBehindTheEvents) {
    const Collected trace = read("amd_minitoy.json.gz");
    EXPECT_EQ(trace.about.format, "kineto");
    EXPECT_EQ(trace.about.clock.zero, Clock::Zero::unix_epoch);
    EXPECT_EQ(trace.about.clock.resolution, 1);
    auto count = kinds(trace);
    EXPECT_EQ(count[Kind::operation], 70U);
    EXPECT_EQ(count[Kind::launch], 21U);
    EXPECT_EQ(count[Kind::kernel], 14U);
    EXPECT_EQ(count[Kind::copy], 2U);
    // 1735632360000000000 + 4203669603187.439 us
    const auto step = std::ranges::find(trace.events, "ProfilerStep#1",
                                        [&](const Event& e) { return trace.about.names[e.name]; });
    ASSERT_NE(step, trace.events.end());
    EXPECT_EQ(step->start, 1'739'836'029'603'187'439);
    EXPECT_EQ(trace.about.names[step->type], "ProfilerStep");
    EXPECT_EQ(step->duration(), 9'288'291);
    EXPECT_EQ(trace.about.devices, (std::vector<std::string>{"cpu:0", "cuda:2"}));
    expect_owned(trace);
    EXPECT_TRUE(trace.about.warnings.empty());
}

TEST(Read, KinetoJoinsBackwardToForwardAsItsOwnFlowsDo) {
    const Collected trace = read("amd_minitoy.json.gz");
    std::map<std::string, std::string> links;  // the file's four `fwdbwd` flows, by hand
    for (const Event& event : trace.events)
        if (event.forward != 0 && event.parent != 0 && by_instance(trace, event.parent).forward == 0)
            links[std::string(trace.about.names[event.name])] =
                trace.about.names[by_instance(trace, event.forward).name];
    for (const Event& event : trace.events)
        if (event.forward != 0 && event.parent == 0)
            links[std::string(trace.about.names[event.name])] =
                trace.about.names[by_instance(trace, event.forward).name];
    EXPECT_EQ(links["autograd::engine::evaluate_function: MseLossBackward0"], "aten::mse_loss");
    EXPECT_EQ(links["autograd::engine::evaluate_function: AddmmBackward0"], "aten::addmm");
    for (const Event& event : trace.events) EXPECT_TRUE(event.forward == 0 || event.pass == Pass::backward);
}

TEST(Read, KinetoWithWholeMicrosecondsAndNestedAnnotations) {
    const Collected trace = read("alexnet.json.gz");
    EXPECT_EQ(trace.about.clock.resolution, 1000);
    EXPECT_EQ(trace.about.clock.zero, Clock::Zero::unix_epoch);
    auto count = kinds(trace);
    EXPECT_EQ(count[Kind::operation], 359U);
    EXPECT_EQ(count[Kind::launch], 361U);
    EXPECT_EQ(count[Kind::kernel], 79U);
    EXPECT_EQ(count[Kind::copy], 16U);
    EXPECT_EQ(count[Kind::fill], 3U);
    expect_owned(trace);
    const auto convolution = std::ranges::find_if(trace.events, [&](const Event& e) {
        return e.kind == Kind::kernel &&
               trace.about.qualified(e.path).find("aten::conv2d/aten::convolution") != std::string::npos;
    });
    ASSERT_NE(convolution, trace.events.end());
    EXPECT_EQ(trace.about.names[by_instance(trace, convolution->owner).name].substr(0, 6), "aten::");
}

TEST(Read, KinetoWithSeveralStreams) {
    const Collected trace = read("event_sync.json.gz");
    auto count = kinds(trace);
    EXPECT_EQ(count[Kind::kernel], 3U);
    EXPECT_EQ(count[Kind::overhead], 5U);  // waiting rows are never work
    expect_owned(trace);
    std::set<std::int64_t> streams;
    for (const Event& event : trace.events)
        if (event.kind == Kind::kernel) streams.insert(trace.about.lanes[event.lane].thread);
    EXPECT_GE(streams.size(), 1U);
}

TEST(Read, KinetoLaunchedByTheDriver) {
    const Collected trace = read("triton.json.gz");
    expect_owned(trace);
    const auto kernel = std::ranges::find(trace.events, Kind::kernel, &Event::kind);
    ASSERT_NE(kernel, trace.events.end());
    EXPECT_EQ(by_instance(trace, kernel->owner).kind, Kind::operation);
}

TEST(Read, KinetoSampledFromALongRun) {
    const Collected trace = read("timeline_analysis.json.gz");
    auto count = kinds(trace);
    EXPECT_EQ(count[Kind::operation], 2329U);
    EXPECT_EQ(count[Kind::launch], 1204U);
    EXPECT_EQ(count[Kind::kernel], 1154U);
    EXPECT_EQ(count[Kind::copy], 40U);
    EXPECT_EQ(count[Kind::fill], 10U);
    expect_owned(trace);
}

TEST(Read, KinetoWithoutAnAccelerator) {
    const Collected trace = read("cpu_only.pt.trace.json.gz");
    auto count = kinds(trace);
    EXPECT_EQ(count[Kind::operation], 4U);
    EXPECT_EQ(count[Kind::scope], 11U);
    EXPECT_EQ(trace.about.clock.zero, Clock::Zero::unix_epoch);
}

TEST(Read, KinetoPrettyPrinted) {
    const Collected trace = read("backward_thread.json");
    EXPECT_EQ(trace.about.format, "kineto");
    ASSERT_EQ(trace.events.size(), 7U);
    expect_owned(trace);
    const auto kernel = std::ranges::find(trace.events, Kind::kernel, &Event::kind);
    EXPECT_EQ(kernel->pass, Pass::backward);
    EXPECT_EQ(trace.about.names[by_instance(trace, kernel->owner).name], "aten::mm");
}

// 15 MB of text, whole times since 1970 with three decimals. The file's own 905 `fwdbwd` flows start at the
// same 905 forward operators that the sequence numbers lead to (compared by another program).
TEST(Read, KinetoWithNanosecondsAndGradients) {
    const Collected trace = read("ns_resolution.json.gz");
    EXPECT_EQ(trace.about.clock.resolution, 1);
    auto count = kinds(trace);
    EXPECT_EQ(count[Kind::operation], 23'910U);
    EXPECT_EQ(count[Kind::launch], 15'329U);
    EXPECT_EQ(count[Kind::kernel], 4'350U);
    EXPECT_EQ(count[Kind::copy], 1'600U);
    EXPECT_EQ(count[Kind::fill], 145U);
    EXPECT_EQ(count[Kind::scope], 70U);
    EXPECT_EQ(trace.about.begin, 1'712'195'495'406'752'797);
    expect_owned(trace);
    std::set<InstanceId> forward;
    for (const Event& event : trace.events) {
        if (event.kind != Kind::operation || event.forward == 0) continue;
        if (event.parent != 0 && by_instance(trace, event.parent).forward == event.forward) continue;
        forward.insert(event.forward);
        EXPECT_EQ(by_instance(trace, event.forward).sequence, event.sequence);
    }
    EXPECT_EQ(forward.size(), 905U);
    std::size_t backward_kernels = 0;
    for (const Event& event : trace.events)
        backward_kernels += event.kind == Kind::kernel && event.pass == Pass::backward && event.forward != 0;
    EXPECT_GT(backward_kernels, 1000U);
}

TEST(Read, OnnxRuntimeNamesItsNodes) {
    const Collected trace = read("onnxruntime_squeezenet.json.gz");
    EXPECT_EQ(trace.about.format, "onnxruntime");
    EXPECT_EQ(trace.about.clock.zero, Clock::Zero::unknown);
    auto count = kinds(trace);
    EXPECT_EQ(count[Kind::operation], 120U);
    EXPECT_EQ(count[Kind::scope], 8U);
    std::set<std::string_view> types;
    std::set<PathId> paths;
    for (const Event& event : trace.events) {
        if (event.kind != Kind::operation) continue;
        types.insert(trace.about.names[event.type]);
        paths.insert(event.path);
        EXPECT_FALSE(trace.about.names[event.name].ends_with("_kernel_time"));
    }
    EXPECT_TRUE(types.contains("Conv"));
    EXPECT_TRUE(types.contains("ReorderOutput"));
    const auto relu =
        std::ranges::find_if(trace.events, [&](const Event& e) { return e.kind == Kind::operation; });
    EXPECT_EQ(trace.about.qualified(relu->path), "features/features.1/Relu_output_0_nchwc");
}

TEST(Read, LegacyListOfPyTorch) {
    const Collected trace = read("torch_legacy_squeezenet.json.gz");
    EXPECT_EQ(trace.about.format, "torch-legacy");
    EXPECT_EQ(trace.events.size(), 724U);
    EXPECT_EQ(kinds(trace)[Kind::operation], 724U);
    Nanoseconds outermost = 0;
    std::size_t roots = 0;
    for (const Event& event : trace.events)
        if (event.parent == 0) outermost += event.duration(), ++roots;
    EXPECT_GT(roots, 60U);
    EXPECT_LE(outermost, trace.about.end - trace.about.begin);
}

TEST(Read, AFileThatIsNoTraceIsRefused) {
    EXPECT_EQ(open("/no/such/file").error().code, ErrorCode::file_not_found);
    EXPECT_EQ(open("/tmp").error().code, ErrorCode::file_unreadable);
    EXPECT_EQ(open_text("", "empty").error().text(), "`empty` is empty. record it again.");
    EXPECT_EQ(open_text("hello", "hello.txt").error().code, ErrorCode::malformed);
    auto broken = open_text("{\"traceEvents\": [{\"ph\": \"X\", \"na", "cut.json");
    ASSERT_TRUE(broken.ok());
    EXPECT_EQ((*broken)->next().error().code, ErrorCode::malformed);
}

}  // namespace
}  // namespace viridian::trace
