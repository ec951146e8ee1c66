// The process around a device: other threads' OpenMP settings, affinity, environment, fork().
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "tests/execute/networks.hpp"
#include "viridian/base/system/machine.hpp"

namespace viridian::execute {
namespace {

using graph::Graph;
using graph::Tensor;

// What a call of the library must leave as it was.
struct ProcessState {
    std::vector<int> processors;  // of the calling thread
    int threads = omp_get_max_threads(), dynamic = omp_get_dynamic(), levels = omp_get_max_active_levels();
    int primitive_cache = 0;
    std::vector<std::string> environment;

    ProcessState() {
        cpu_set_t set;
        EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
        EXPECT_EQ(dnnl_get_primitive_cache_capacity(&primitive_cache), dnnl_success);
        for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    }
    bool operator==(const ProcessState&) const = default;
};

// A table whose rows the input picks: picks beyond it make a run fail in the middle.
Graph picking() {
    Graph graph;
    Random random(1);
    const auto i = graph.add_input("i", {graph::ElementType::i64, graph::shape_of({2})});
    graph.set_outputs({graph.add(
        "Relu", {graph.add("Gather", {graph.add_constant("t", random_tensor(random, {4, 8})), i})})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

// Quick to time: cold weights take some hundred megabytes.
const plan::AssignedRegion& without_weights(const plan::Plan& plan) {
    return *std::ranges::find_if(plan.assignment.regions, [](const plan::AssignedRegion& assigned) {
        return assigned.region.constants.empty() && assigned.choice.aliasing == plan::Aliasing::none;
    });
}

void use_everything(bool pin) {
    auto made = make_cpu_device({.threads = 2, .pin = pin, .allowances = {}});
    ASSERT_TRUE(made.ok());
    Device& device = **made;
    Random random(2);
    const Graph graph = branched_network(random);
    Prepared prepared = prepare(device, graph, {});
    ASSERT_TRUE(prepared.executable->run(random_inputs(graph, random), prepared.outputs).ok());
    const plan::AssignedRegion& assigned = without_weights(prepared.plan);
    ASSERT_TRUE(device.time(graph, assigned.region, assigned.choice, {0, Seconds(0), 1, false}).ok());
    ASSERT_TRUE((*device.make_step_timer(graph, prepared.plan))->run().ok());
    EXPECT_TRUE(device.offered(graph, assigned.region, assigned.choice, false).has_value());
    const Graph picks = picking();
    Prepared failing = prepare(device, picks, {});
    const std::vector<Tensor> beyond = {Tensor::i64({2}, std::vector<std::int64_t>{0, 9})};
    EXPECT_FALSE(failing.executable->run(beyond, failing.outputs).ok());
}

TEST(Process, StaysAsItWas) {
    for (const bool dynamic : {false, true})
        for (const bool pin : {false, true}) {
            omp_set_num_threads(3);
            omp_set_dynamic(dynamic ? 1 : 0);
            const ProcessState before;
            use_everything(pin);
            EXPECT_TRUE(ProcessState() == before) << "pin " << pin;
        }
    omp_set_dynamic(0);
}

TEST(Process, ACallerIsPinnedForAsLongAsItAsks) {
    const ProcessState before;
    {
        const PinnedCaller pinned(true);
        EXPECT_EQ(ProcessState().processors, std::vector<int>{physical_cpus()[0]});
    }
    EXPECT_EQ(ProcessState().processors, before.processors);
}

std::vector<int> processors_of_workers() {
    std::vector<int> counts(2);
#pragma omp parallel num_threads(2)
    {
        cpu_set_t set;
        if (sched_getaffinity(0, sizeof set, &set) == 0)
            counts[static_cast<std::size_t>(omp_get_thread_num())] = CPU_COUNT(&set);
    }
    return counts;
}

TEST(Process, WorkersArePinnedIfAskedAlone) {
    if (physical_cpus().size() < 2) GTEST_SKIP() << "one core";
    std::jthread([] {  // its OpenMP team goes with it
        const int all = static_cast<int>(ProcessState().processors.size());
        ASSERT_TRUE(make_cpu_device({.threads = 2, .allowances = {}}).ok());
        EXPECT_EQ(processors_of_workers(), (std::vector<int>{all, all}));
        ASSERT_TRUE(make_cpu_device({.threads = 2, .pin = true, .allowances = {}}).ok());
        EXPECT_EQ(processors_of_workers(), (std::vector<int>{all, 1}));
    })
        .join();
}

// Inside a parallel region of the caller's, OpenMP by itself would give one thread.
TEST(Process, RunsInsideAParallelRegion) {
    Random random(3);
    const Graph graph = rows_network(random);
    const auto device = test_device(2);
    for (int round = 0; round < 3; ++round) {
        Prepared prepared = prepare(*device, graph, random_pick(random));
        const auto inputs = random_inputs(graph, random);
        ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
        std::atomic<int> right = 0;
#pragma omp parallel num_threads(3)
        for (int i = 0; i < 5; ++i) {
            std::vector<Tensor> outputs = *output_tensors(graph);
            if (prepared.executable->run(inputs, outputs).ok() && outputs[0].same_bytes(prepared.outputs[0]))
                ++right;
        }
        EXPECT_EQ(right, 15);
    }
}

// Answers what the child returned; -1 if it hung or crashed.
template <class Function>
int in_child(const Function& f) {
    const pid_t child = fork();
    if (child == 0) _exit(f());
    for (int waited = 0; waited < 6000; ++waited) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return -1;
}

class Forked : public testing::TestWithParam<int> {
  protected:
    void SetUp() override { ASSERT_TRUE(prepared_.executable->run(inputs_, prepared_.outputs).ok()); }
    // 0: right.
    int run_again() {
        std::vector<Tensor> outputs = *output_tensors(graph_);
        for (int i = 0; i < 3; ++i)
            if (!prepared_.executable->run(inputs_, outputs).ok() ||
                !outputs[0].same_bytes(prepared_.outputs[0]))
                return 1;
        return 0;
    }

    Random random_{4};
    Graph graph_ = branched_network(random_);
    std::unique_ptr<Device> device_ = test_device(GetParam());
    Prepared prepared_ = prepare(*device_, graph_, {});
    std::vector<Tensor> inputs_ = random_inputs(graph_, random_);
};

TEST_P(Forked, AnExecutableRunsInTheChildAndItsChild) {
    EXPECT_EQ(in_child([&] { return run_again() + in_child([&] { return run_again(); }); }), 0);
    EXPECT_EQ(run_again(), 0) << "in the parent";
}

TEST_P(Forked, ADeviceMadeInTheChildWorks) {
    EXPECT_EQ(
        in_child([&] {
            auto device = make_cpu_device({.threads = GetParam(), .allowances = {}});
            if (!device.ok()) return 2;
            const plan::AssignedRegion& assigned = without_weights(prepared_.plan);
            if (!(*device)->time(graph_, assigned.region, assigned.choice, {0, Seconds(0), 1, false}).ok())
                return 3;
            auto executable = (*device)->prepare(graph_, prepared_.plan);
            if (!executable.ok()) return 4;
            prepared_.executable = *std::move(executable);
            return run_again();
        }),
        0);
}

// In the child their memory stays in use for ever; nobody waits for it.
TEST_P(Forked, WhileOtherThreadsRun) {
    std::atomic<bool> stop = false;
    std::vector<std::jthread> others;
    for (int i = 0; i < 2; ++i)
        others.emplace_back([&] {
            while (!stop) EXPECT_EQ(run_again(), 0);
        });
    for (int i = 0; i < 5; ++i) EXPECT_EQ(in_child([&] { return run_again(); }), 0);
    stop = true;
}

INSTANTIATE_TEST_SUITE_P(Threads, Forked, testing::Values(1, 2));

TEST(Process, DISABLED_WithOneThreadAllowed) {
    const auto device = make_cpu_device({.threads = 2, .allowances = {}});
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.error().text(),
              "2 threads were asked for, at most 1 are possible. give at most as many --threads as cores.");
    EXPECT_EQ((*make_cpu_device())->threads(), 1);
}

TEST(Process, AThreadLimitIsKept) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    EXPECT_EQ(std::system(("OMP_THREAD_LIMIT=1 '" + self +
                           "' --gtest_also_run_disabled_tests "
                           "--gtest_filter=Process.DISABLED_WithOneThreadAllowed > /dev/null")
                              .c_str()),
              0);
}

}  // namespace
}  // namespace viridian::execute
