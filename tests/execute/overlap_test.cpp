// Runs of one executable that overlap.
#include <thread>

#include "tests/execute/networks.hpp"
#include "viridian/trace/record/recorder.hpp"

namespace viridian::execute {
namespace {

using graph::Graph;
using graph::Tensor;

// Inputs of its own for each thread, and what they give when nothing overlaps.
struct Caller {
    std::vector<Tensor> inputs, expected;
    int wrong = 0;
};

std::vector<Caller> callers_of(Prepared& prepared, const Graph& graph, Random& random, int count) {
    std::vector<Caller> callers(static_cast<std::size_t>(count));
    for (Caller& caller : callers) {
        caller.inputs = random_inputs(graph, random);
        caller.expected = *output_tensors(graph);
        EXPECT_TRUE(prepared.executable->run(caller.inputs, caller.expected).ok());
    }
    return callers;
}

void run_at_once(Executable& executable, const Graph& graph, std::vector<Caller>& callers, int runs) {
    std::vector<std::jthread> threads;
    for (Caller& caller : callers)
        threads.emplace_back([&executable, &graph, &caller, runs] {
            for (int i = 0; i < runs; ++i) {
                std::vector<Tensor> outputs = *output_tensors(graph);
                const bool ran = executable.run(caller.inputs, outputs).ok();
                for (std::size_t o = 0; o < outputs.size(); ++o)
                    if (!ran || !outputs[o].same_bytes(caller.expected[o])) ++caller.wrong;
            }
        });
}

// Eight threads with inputs of their own: every run gives the bytes that it gives alone.
void expect_right_outputs(Device& device, const Graph& graph, Random& random, int plans, int runs) {
    for (int p = 0; p < plans; ++p) {
        std::string chosen;
        Prepared prepared = prepare(device, graph, [&](const auto&, const auto& choices) {
            const auto at = p == 0 ? 0 : random.below(choices.size());
            chosen += choices[at].key() + "\n";
            return at;
        });
        std::vector<Caller> callers = callers_of(prepared, graph, random, 8);
        run_at_once(*prepared.executable, graph, callers, runs);
        for (const Caller& caller : callers) ASSERT_EQ(caller.wrong, 0) << chosen;
    }
}

TEST(OverlappingRuns, OutputsAreRight) {
    Random random(1);
    const auto device = test_device(1);
    expect_right_outputs(*device, branched_network(random), random, 6, 60);
    expect_right_outputs(*device, rows_network(random), random, 6, 60);
    expect_right_outputs(*device, recurrent_network(random), random, 3, 60);
}

TEST(OverlappingRuns, OutputsOfSeveralThreadsEachAreRight) {
    Random random(2);
    const auto device = test_device(2);
    expect_right_outputs(*device, branched_network(random), random, 3, 10);
    expect_right_outputs(*device, rows_network(random), random, 3, 10);
    expect_right_outputs(*device, recurrent_network(random), random, 2, 10);
}

TEST(OverlappingRuns, OutputsInBf16AreRight) {
    const auto device = bf16_device(2);
    Random random(3);
    expect_right_outputs(*device, branched_network(random), random, 6, 10);
    expect_right_outputs(*device, rows_network(random), random, 6, 10);
}

// Memory grows by activations alone, and not with the number of runs.
TEST(OverlappingRuns, SharePackedWeights) {
    Random random(4);
    Graph graph;
    const auto x = graph.add_input("x", f32({4, 512}));
    graph.set_outputs({graph.add(
        "Relu", {graph.add("MatMul", {x, graph.add_constant("w", random_tensor(random, {512, 512}))})})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    const Bytes before = prepared.executable->memory();
    EXPECT_GE(before.value, 512 * 512 * 4);
    std::vector<Caller> callers = callers_of(prepared, graph, random, 8);
    EXPECT_EQ(prepared.executable->memory(), before) << "runs one after the other need no more memory";
    run_at_once(*prepared.executable, graph, callers, 100);
    EXPECT_LE(prepared.executable->memory().value, before.value + 7 * (1 << 16));
}

TEST(OverlappingRuns, RecordAsThreadsOfTheirOwn) {
    Random random(5);
    const Graph graph = branched_network(random);
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    std::vector<Caller> callers = callers_of(prepared, graph, random, 4);
    const auto events_of = [&](std::uint32_t lanes, int runs) {
        trace::Recorder recorder(lanes, 1 << 16);
        prepared.executable->record(&recorder);
        run_at_once(*prepared.executable, graph, callers, runs);
        prepared.executable->record(nullptr);
        const auto source = recorder.finish();
        std::size_t count = 0;
        for (;;) {
            const auto batch = source->next();
            EXPECT_TRUE(batch.ok());
            if (batch->empty()) return count;
            count += batch->size();
        }
    };
    const std::size_t all = 4 * 25 * prepared.plan.steps.size();
    EXPECT_EQ(events_of(4, 25), all);
    const std::size_t some = events_of(1, 25);
    EXPECT_LE(some, all);
    EXPECT_GT(some, 0U);
    EXPECT_EQ(some % prepared.plan.steps.size(), 0U) << "a run is recorded as a whole";
}

}  // namespace
}  // namespace viridian::execute
