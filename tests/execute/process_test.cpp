// The process around a device: other threads' OpenMP settings, affinity, environment, fork().
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

// How many processors each of our workers may use, in ascending order.
std::vector<int> processors_of_workers() {
    std::vector<int> counts;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::string name;
        std::ifstream(task.path() / "comm") >> name;
        cpu_set_t set;
        if (name == "viridian" && sched_getaffinity(std::stoi(task.path().filename()), sizeof set, &set) == 0)
            counts.push_back(CPU_COUNT(&set));
    }
    std::ranges::sort(counts);
    return counts;
}

TEST(Process, WorkersArePinnedIfAskedAlone) {
    if (physical_cpus().size() < 2) GTEST_SKIP() << "one core";
    const int all = static_cast<int>(ProcessState().processors.size());
    ASSERT_EQ(processors_of_workers(), std::vector<int>());
    // Every worker has to come to a barrier, so it has started and is where it stays.
    const auto workers_of = [&](bool pin) {
        auto device = make_cpu_device({.threads = 2, .pin = pin, .allowances = {}});
        EXPECT_TRUE(device.ok());
        EXPECT_GE((*device)->wake_latency(), Seconds());
        return processors_of_workers();
    };
    // /proc may list a joined thread for a moment.
    const auto workers_that_stay = [] {
        for (int waited = 0; !processors_of_workers().empty() && waited < 1000; ++waited)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return processors_of_workers();
    };
    EXPECT_EQ(workers_of(false), std::vector<int>{all});
    EXPECT_EQ(workers_that_stay(), std::vector<int>()) << "the workers go with the device";
    EXPECT_EQ(workers_of(true), std::vector<int>{1});
    EXPECT_EQ(workers_that_stay(), std::vector<int>());
}

// Outside of our calls, the program's own regions are those of its OpenMP library.
TEST(Process, AProgramsOwnRegionsHaveTheirThreads) {
    const auto device = test_device(2);
    for (const int threads : {1, 2, 5}) {
        std::vector<int> met(static_cast<std::size_t>(threads));
        std::atomic<int> arrived = 0, wrong = 0;
#pragma omp parallel num_threads(threads)
        {
            ++met[static_cast<std::size_t>(omp_get_thread_num())];
            ++arrived;
#pragma omp barrier
            if (arrived != threads || omp_get_num_threads() != threads) ++wrong;
        }
        EXPECT_EQ(met, std::vector<int>(static_cast<std::size_t>(threads), 1));
        EXPECT_EQ(wrong, 0);
    }
}

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

std::intptr_t frame_address() { return reinterpret_cast<std::intptr_t>(__builtin_frame_address(0)); }

// How often a signal handler ran on the stack of this thread, and on other memory.
std::atomic<std::intptr_t> stack_address = 0;
std::atomic<int> handled_on_stack = 0, handled_elsewhere = 0;

extern "C" void record_stack(int) {
    constexpr std::intptr_t largest_stack = std::intptr_t{8} << 20U;
    ++(std::abs(frame_address() - stack_address.load()) < largest_stack ? handled_on_stack
                                                                        : handled_elsewhere);
}

// Sends SIGALRM to the calling thread, ten times a millisecond.
class Alarms {
  public:
    Alarms() : before_(std::signal(SIGALRM, record_stack)) {
        sigevent event{};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGALRM;
        event._sigev_un._tid = gettid();
        EXPECT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer_), 0);
        const itimerspec often{{0, 100'000}, {0, 100'000}};
        EXPECT_EQ(timer_settime(timer_, 0, &often, nullptr), 0);
    }
    ~Alarms() {
        timer_delete(timer_);
        std::signal(SIGALRM, before_);
    }
    Alarms(const Alarms&) = delete;
    Alarms& operator=(const Alarms&) = delete;

  private:
    void (*before_)(int);
    timer_t timer_{};
};

// Some of oneDNN's products, those of a large K among them, use the stack pointer for other memory.
TEST(Process, NoSignalHandlerRunsOnTheMemoryOfAKernel) {
    constexpr std::int64_t k = 10000;
    Random random(5);
    Graph graph;
    const auto a = graph.add_input("a", f32({48, k}));
    graph.set_outputs({graph.add("MatMul", {a, graph.add_constant("b", random_tensor(random, {k, 32}))})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    const auto inputs = random_inputs(graph, random);
    stack_address = frame_address();
    const auto device = test_device(1);
    const auto choices = device->choices(graph, region);
    ASSERT_TRUE(choices.ok());
    for (std::size_t c = 0; c < choices->size(); ++c) {
        if ((*choices)[c].kernel == "reference") continue;  // slow, and no generated code
        Prepared prepared = prepare(*device, graph, [&](const auto&, const auto&) { return c; });
        const Alarms alarms;
        handled_on_stack = handled_elsewhere = 0;
        for (int run = 0; run < 50; ++run)
            EXPECT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
        EXPECT_EQ(handled_elsewhere, 0) << (*choices)[c].key();
        EXPECT_GT(handled_on_stack, 0) << "signals that waited arrive after the run";
    }
}

TEST(Process, WorkersHoldSignals) {
    const auto device = test_device(2);
    EXPECT_GE(device->wake_latency(), Seconds());  // every worker has started
    int workers = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream status(task.path() / "status");
        std::string name, word;
        unsigned long long blocked = 0;
        while (status >> word) {
            if (word == "Name:") status >> name;
            if (word == "SigBlk:") status >> std::hex >> blocked;
        }
        if (name != "viridian") continue;
        ++workers;
        for (const int number : {SIGINT, SIGTERM, SIGALRM, SIGPROF})
            EXPECT_TRUE(blocked >> (number - 1) & 1U) << number;
        EXPECT_FALSE(blocked >> (SIGSEGV - 1) & 1U) << "a fault ends the program";
    }
    EXPECT_GE(workers, 1);
}

// Sets an environment variable while it lives.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    const char* name_;
};

TEST(Process, TheEnvironmentGivesTheDefaultNumberOfThreads) {
    const Variable of_openmp("OMP_NUM_THREADS", "3");
    EXPECT_EQ((*make_cpu_device())->threads(), 3);
    {
        const Variable ours("VIRIDIAN_THREADS", "2");
        EXPECT_EQ((*make_cpu_device())->threads(), 2);
        EXPECT_EQ((*make_cpu_device({.threads = 1, .allowances = {}}))->threads(), 1);
    }
    const Variable ours("VIRIDIAN_THREADS", "all");
    const auto device = make_cpu_device();
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.error().text(),
              "the environment variable VIRIDIAN_THREADS is `all`. set it to a number from 1 to 1024, or "
              "unset it.");
    EXPECT_TRUE(make_cpu_device({.threads = 1, .allowances = {}}).ok());
}

TEST(Process, ThreadsHaveALimit) {
    const auto device = make_cpu_device({.threads = 1025, .allowances = {}});
    ASSERT_FALSE(device.ok());
    EXPECT_EQ(device.error().text(),
              "1025 threads were asked for, at most 1024 are possible. give at most as many --threads as "
              "cores.");
}

}  // namespace
}  // namespace viridian::execute
