// The processor's kernels are repeated for a meter: nothing but their runs happens while it counts.
#include <gtest/gtest.h>

#include <ctime>

#include "viridian/execute/cpu/device.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::execute {
namespace {

constexpr Seconds at_least{0.01};
// A timing by this protocol would take this long; a repetition does not time.
const TimingProtocol long_protocol = {.precision = 0, .budget = Seconds(20)};

double processor_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What a meter would have seen: how often its window was opened, and what the runs in it took.
struct Metered {
    int windows = 0;
    double elapsed = 0, worked = 0;

    Window window() {
        return [this](const std::function<void()>& runs) {
            ++windows;
            const auto begin = std::chrono::steady_clock::now();
            const double work = processor_seconds();
            runs();
            worked = processor_seconds() - work;
            elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
    }
    void expect_runs_alone() const {
        EXPECT_EQ(windows, 1);
        EXPECT_GE(elapsed, at_least.value);
        EXPECT_LT(elapsed, long_protocol.budget.value) << "the window holds a timing";
        EXPECT_GT(worked, 0) << "nothing ran";
    }
};

// A convolution, whose kernels have weights, and Relu, which may take the place of its input.
struct Network {
    graph::Graph graph;
    std::vector<plan::Region> regions;

    Network() {
        const auto f32 = graph::ElementType::f32;
        const auto x = graph.add_input("x", {f32, graph::shape_of({1, 16, 9, 9})});
        const auto w = graph.add_constant("w", graph::Tensor(f32, {16, 16, 3, 3}));
        graph.set_outputs({graph.add("Relu", {graph.add("Conv", {graph.add("Sigmoid", {x}), w})})});
        EXPECT_TRUE(graph::infer_types(graph).ok());
        for (const graph::NodeId node : graph.nodes())
            regions.push_back(plan::make_region(graph, graph::uses(graph), {node}));
    }
};

TEST(Repeat, EveryKernelRunsAloneForAsLongAsTheMeterNeeds) {
    const auto device = make_cpu_device({.threads = 2, .pin = false, .allowances = {}});
    ASSERT_TRUE(device.ok());
    const Network network;
    int repeated = 0, in_place = 0;
    for (const plan::Region& region : network.regions) {
        const auto choices = (*device)->choices(network.graph, region);
        ASSERT_TRUE(choices.ok());
        for (const plan::Choice& choice : *choices) {
            SCOPED_TRACE(choice.key());
            if (choice.aliasing == plan::Aliasing::view || choice.aliasing == plan::Aliasing::gather)
                continue;
            Metered metered;
            const auto done =
                (*device)->repeat(network.graph, region, choice, long_protocol, at_least, metered.window());
            ASSERT_TRUE(done.ok()) << done.error().text();
            metered.expect_runs_alone();
            ++repeated;
            in_place += choice.aliasing == plan::Aliasing::overwrite ? 1 : 0;
        }
    }
    EXPECT_GT(repeated, 6);
    EXPECT_GT(in_place, 0);
}

TEST(Repeat, AConversionToo) {
    const auto device = make_cpu_device({.threads = 2, .pin = false, .allowances = {}});
    ASSERT_TRUE(device.ok());
    const plan::Format plain{plan::plain(4), graph::ElementType::f32, {}};
    const plan::Format half{plan::plain(4), graph::ElementType::bf16, {}};
    Metered metered;
    const auto done = (*device)->repeat_conversion({1, 16, 9, 9}, plain, half, at_least, metered.window());
    ASSERT_TRUE(done.ok()) << done.error().text();
    metered.expect_runs_alone();
}

TEST(Repeat, AKernelThatCannotBePreparedOpensNoWindow) {
    const auto device = make_cpu_device({.threads = 1, .pin = false, .allowances = {}});
    ASSERT_TRUE(device.ok());
    const Network network;
    auto choices = (*device)->choices(network.graph, network.regions[0]);
    ASSERT_TRUE(choices.ok());
    plan::Choice unknown = choices->front();
    unknown.kernel = "nobody:knows:it";
    Metered metered;
    const auto done =
        (*device)->repeat(network.graph, network.regions[0], unknown, {}, at_least, metered.window());
    ASSERT_FALSE(done.ok());
    EXPECT_FALSE(done.error().next_step.empty());
    EXPECT_EQ(metered.windows, 0);
}

}  // namespace
}  // namespace viridian::execute
