// Whole plans: chains in random formats, traces, and a steady state without allocations.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "tests/execute/networks.hpp"
#include "viridian/trace/record/recorder.hpp"

// The thread sanitizer replaces operator new itself.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define VIRIDIAN_COUNTS_NO_ALLOCATIONS
#endif
#endif

#ifndef VIRIDIAN_COUNTS_NO_ALLOCATIONS
namespace {

std::atomic<bool> counting{false};
std::atomic<int> allocations{0};

// Called from this program, not from a library: oneDNN allocates a little in every call of a primitive, which
// is not ours to avoid.
bool is_ours(const void* caller) {
    static const char here = 0;
    Dl_info where{}, ours{};
    return dladdr(caller, &where) != 0 && dladdr(&here, &ours) != 0 && where.dli_fbase == ours.dli_fbase;
}

}  // namespace

// Inlined, these look to the compiler like free() of what new made.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void* operator new(std::size_t size) {
    if (counting && is_ours(__builtin_return_address(0))) ++allocations;
    void* memory = std::malloc(size == 0 ? 1 : size);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    if (counting && is_ours(__builtin_return_address(0))) ++allocations;
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::ValueId;

// A view of an output reads the caller's memory.
TEST(Executable, AnOutputThatOthersLookAtIsNotCopied) {
    Random random(8);
    Graph graph;
    const ValueId x = graph.add_input("x", f32({6, 4}));
    const ValueId y = graph.add("Exp", {x}, {}, "y");
    const std::int64_t flat[] = {24};
    const ValueId z = graph.add("Reshape", {y, graph.add_constant("flat", graph::Tensor::i64({1}, flat))});
    graph.set_outputs({y, graph.add("Tanh", {z}, {}, "w")});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = test_device();
    const auto keeps_inputs = [](const plan::Region&, const std::vector<plan::Choice>& choices) {
        const auto found = std::ranges::find_if(
            choices, [](const plan::Choice& choice) { return choice.aliasing != plan::Aliasing::overwrite; });
        return static_cast<std::size_t>(found - choices.begin());
    };
    auto assignment = assign(*device, graph, single_node_regions(graph), keeps_inputs);
    ASSERT_TRUE(assignment.ok()) << assignment.error().text();
    const auto plan = plan::make_plan(graph, *std::move(assignment));
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    EXPECT_EQ(std::ranges::count(plan->steps, plan::Step::Kind::conversion, &plan::Step::kind), 0);
    auto executable = device->prepare(graph, *plan);
    ASSERT_TRUE(executable.ok()) << executable.error().text();
    for (int run = 0; run < 2; ++run) {  // into other memory each time
        const auto inputs = random_inputs(graph, random);
        std::vector<graph::Tensor> outputs;
        for (const auto id : graph.outputs())
            outputs.emplace_back(graph::ElementType::f32, graph.value(id).type.dims());
        ASSERT_TRUE((*executable)->run(inputs, outputs).ok());
        const auto expected = evaluate(graph, inputs);
        ASSERT_TRUE(expected.ok());
        for (std::size_t i = 0; i < outputs.size(); ++i)
            EXPECT_LE(distance(outputs[i], (*expected)[i]), 1e-6) << i;
    }
}

TEST(Executable, ChainsInRandomFormatsAgree) {
    Random random(1);
    const Graph graph = branched_network(random);
    const auto inputs = random_inputs(graph, random);
    const auto expected = evaluate(graph, inputs);
    ASSERT_TRUE(expected.ok());
    for (const int threads : {1, 2}) {
        const auto device = test_device(threads);
        for (int round = 0; round < 25; ++round) {
            std::string chosen;
            Prepared prepared = prepare(*device, graph, [&](const auto&, const auto& choices) {
                const auto at = random.below(choices.size());
                chosen += choices[at].key() + "\n";
                return at;
            });
            for (int repeat = 0; repeat < 2; ++repeat)
                ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
            EXPECT_LE(distance(prepared.outputs[0], (*expected)[0]), 1e-4) << chosen;
        }
    }
}

// Steps on one thread between steps on all three.
TEST(Executable, StepsOnFewerThreadsAgree) {
    Random random(7);
    const auto device = test_device(3);
    const std::unique_ptr<Device> one = *device->on_threads(1);
    for (const Graph& graph : {branched_network(random), rows_network(random), recurrent_network(random)}) {
        const auto inputs = random_inputs(graph, random);
        const auto expected = evaluate(graph, inputs);
        ASSERT_TRUE(expected.ok());
        for (int round = 0; round < 10; ++round) {
            auto assignment = assign(*one, graph, single_node_regions(graph), random_pick(random));
            ASSERT_TRUE(assignment.ok());
            for (plan::AssignedRegion& assigned : assignment->regions) {
                assigned.choice.threads = 1;
                const auto wide = device->choices(graph, assigned.region);
                ASSERT_TRUE(wide.ok());
                plan::Choice on_all = assigned.choice;
                on_all.threads = 0;
                const bool offered =
                    std::ranges::find(*wide, on_all.key(), &plan::Choice::key) != wide->end();
                if (offered && random.below(2) == 0) assigned.choice = on_all;
            }
            auto plan = plan::make_plan(graph, *std::move(assignment));
            ASSERT_TRUE(plan.ok());
            plan->threads = round % 2 == 0 ? 1 : 3;  // of conversions
            ASSERT_TRUE(check_offered(*device, graph, *plan).ok());
            auto executable = device->prepare(graph, *plan);
            ASSERT_TRUE(executable.ok()) << executable.error().text();
            std::vector<graph::Tensor> outputs = *output_tensors(graph);
            for (int repeat = 0; repeat < 3; ++repeat) ASSERT_TRUE((*executable)->run(inputs, outputs).ok());
            EXPECT_LE(distance(outputs[0], (*expected)[0]), 1e-4);
        }
    }
}

#ifndef VIRIDIAN_COUNTS_NO_ALLOCATIONS
TEST(Executable, SteadyStateAllocatesNothing) {
    Random random(2);
    const Graph graph = branched_network(random);
    const auto inputs = random_inputs(graph, random);
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    for (const auto& assigned : prepared.plan.assignment.regions)
        ASSERT_NE(assigned.choice.kernel, "reference");
    ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
    allocations = 0;
    counting = true;
    const bool ran = prepared.executable->run(inputs, prepared.outputs).ok();
    counting = false;
    EXPECT_TRUE(ran);
    EXPECT_EQ(allocations, 0);
}
#endif

TEST(Executable, RecordsEveryStep) {
    Random random(3);
    const Graph graph = branched_network(random);
    const auto inputs = random_inputs(graph, random);
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    trace::Recorder recorder(1, 4096);
    prepared.executable->record(&recorder);
    ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
    ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
    prepared.executable->record(nullptr);
    ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
    const auto source = recorder.finish();
    std::size_t count = 0, gaps = 0;
    trace::Nanoseconds last = 0;
    for (;;) {
        const auto batch = source->next();
        ASSERT_TRUE(batch.ok());
        if (batch->empty()) break;
        for (const trace::Event& event : *batch) {
            EXPECT_GE(event.start, last);
            EXPECT_GE(event.end, event.start);
            gaps += event.start > last ? 1 : 0;
            last = event.end;
            ++count;
        }
    }
    EXPECT_EQ(count, 2 * prepared.plan.steps.size());
    EXPECT_GT(gaps, 2U) << "what passes between steps belongs to none: beyond the runs' first, some show";
}

TEST(Executable, RunsAreDoneAtTheMarkBehindThem) {
    Random random(7);
    const Graph graph = branched_network(random);
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    const auto inputs = random_inputs(graph, random);
    ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
    const auto queue = device->make_queue();
    std::vector<graph::Tensor> outputs = {graph::Tensor(graph::ElementType::f32, prepared.outputs[0].dims())};
    ASSERT_TRUE(prepared.executable->submit(*queue, inputs, outputs).ok());
    ASSERT_TRUE(queue->wait(queue->record()).ok());
    EXPECT_TRUE(outputs[0].same_bytes(prepared.outputs[0]));
    EXPECT_EQ(prepared.executable->submit(*queue, {}, outputs).error().code, ErrorCode::mismatch);
}

TEST(Executable, RefusesActivationsBeyondTheMemoryThereIs) {
    Random random(8);
    const Graph graph = branched_network(random);
    const auto device = test_device(1);
    plan::Plan plan = prepare(*device, graph, {}).plan;
    plan.arena_bytes = device->capacity().value + 1;
    const auto executable = device->prepare(graph, plan);
    ASSERT_FALSE(executable.ok());
    EXPECT_EQ(executable.error().code, ErrorCode::out_of_memory);
}

TEST(Executable, RefusesForeignTensors) {
    Random random(4);
    const Graph graph = branched_network(random);
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    std::vector<graph::Tensor> inputs = {graph::Tensor(graph::ElementType::f32, {1, 3, 18, 17})};
    const auto ran = prepared.executable->run(inputs, prepared.outputs);
    ASSERT_FALSE(ran.ok());
    EXPECT_EQ(ran.error().code, ErrorCode::mismatch);
}

TEST(Executable, ConsumedWeightsAreLetGo) {
    Random random(6);
    const Graph graph = branched_network(random);
    const auto device = test_device(1);
    Prepared kept = prepare(*device, graph, {});
    const auto inputs = random_inputs(graph, random);
    ASSERT_TRUE(kept.executable->run(inputs, kept.outputs).ok());
    Graph consumed = graph;
    const auto executable = device->prepare_consuming(consumed, kept.plan);
    ASSERT_TRUE(executable.ok()) << executable.error().text();
    std::vector<graph::Tensor> outputs = {graph::Tensor(graph::ElementType::f32, kept.outputs[0].dims())};
    ASSERT_TRUE((*executable)->run(inputs, outputs).ok());
    EXPECT_TRUE(outputs[0].same_bytes(kept.outputs[0]));
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const auto id = static_cast<ValueId>(i);
        if (graph.constant(id) == nullptr || graph.constant(id)->count() < 2) continue;
        EXPECT_EQ(consumed.constant(id)->bytes(), nullptr) << graph.value(id).name;
        EXPECT_EQ(consumed.constant(id)->dims(), graph.constant(id)->dims());
        EXPECT_NE(graph.constant(id)->bytes(), nullptr);
    }
}

// No step writes them, nor need there be any.
TEST(Executable, OutputsMayBeConstants) {
    for (const bool steps : {true, false}) {
        Random random(5);
        Graph graph;
        const ValueId x = graph.add_input("x", f32({4, 3}));
        const graph::Tensor table = random_tensor(random, {2, 5});
        const ValueId c = graph.add_constant("c", table);
        graph.set_outputs(steps ? std::vector{c, graph.add("Relu", {x}), c} : std::vector{c});
        ASSERT_TRUE(infer_types(graph).ok());
        auto device = make_cpu_device();
        ASSERT_TRUE(device.ok());
        auto assignment = assign(**device, graph, single_node_regions(graph),
                                 [](const auto&, const auto&) { return std::size_t{0}; });
        ASSERT_TRUE(assignment.ok());
        const auto plan = plan::make_plan(graph, *std::move(assignment));
        ASSERT_TRUE(plan.ok()) << plan.error().text();
        auto executable = (*device)->prepare_consuming(graph, *plan);
        ASSERT_TRUE(executable.ok());
        std::vector<graph::Tensor> outputs;
        for (const plan::BufferId id : plan->outputs)
            outputs.emplace_back(graph::ElementType::f32, plan->buffers[id].dims);
        const std::vector<graph::Tensor> inputs = {random_tensor(random, {4, 3})};
        ASSERT_TRUE((*executable)->run(inputs, outputs).ok());
        EXPECT_TRUE(outputs.front().same_bytes(table));
        EXPECT_TRUE(outputs.back().same_bytes(table));
    }
}

TEST(Executable, RefusesUnknownKernels) {
    Random random(5);
    const Graph graph = branched_network(random);
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    prepared.plan.steps.front().choice.kernel = "dnnl:conv:direct:of_tomorrow";
    const auto again = device->prepare(graph, prepared.plan);
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.error().code, ErrorCode::unsupported);
}

// Outputs that nobody reads, the first one or all of them: every operator offers the reference, none crashes.
TEST(Executable, NodesWhoseOutputsNobodyReads) {
    const auto device = test_device();
    for (const std::string_view op :
         {"Relu", "Conv", "MaxPool", "AveragePool", "GlobalAveragePool", "MatMul", "Softmax", "Add", "Concat",
          "Pad", "Gather", "Reshape", "Transpose", "Split", "Slice", "Dropout", "LayerNormalization"}) {
        for (const bool second : {false, true}) {
            Graph graph;
            const ValueId x = graph.add_input("x", f32({1, 16, 8, 8}));
            graph::Node node;
            node.op = op;
            node.inputs = {x};
            const auto constant = [&](std::vector<std::int64_t> values) {
                const auto n = static_cast<std::int64_t>(values.size());
                node.inputs.push_back(graph.add_constant("c", graph::Tensor::i64({n}, values)));
            };
            Random random(3);
            if (op == "Conv")
                node.inputs.push_back(graph.add_constant("w", random_tensor(random, {16, 16, 3, 3})));
            if (op == "MatMul") node.inputs.push_back(graph.add_constant("w", random_tensor(random, {8, 8})));
            if (op == "LayerNormalization")
                node.inputs.push_back(graph.add_constant("w", random_tensor(random, {8})));
            if (op == "Add" || op == "Concat") node.inputs.push_back(x);
            if (op == "Concat") node.attributes["axis"] = std::int64_t{1};
            if (op.ends_with("Pool")) node.attributes["kernel_shape"] = std::vector<std::int64_t>{2, 2};
            if (op == "Pad") constant({0, 0, 0, 0, 0, 0, 1, 1});
            if (op == "Gather") constant({1, 0});
            if (op == "Reshape") constant({16, 64});
            if (op == "Slice") constant({0, 1}), constant({1, 3});
            const bool more = op == "MaxPool" || op == "Dropout" || op == "Split";
            if (second && !more) continue;
            if (op == "Split")
                node.attributes["num_outputs"] = std::int64_t{2}, node.attributes["axis"] = std::int64_t{1};
            const graph::NodeId id = graph.add_node(node, more ? 2 : 1);
            if (second) graph.set_outputs({graph.node(id).outputs[1]});
            ASSERT_TRUE(infer_types(graph).ok()) << op;
            const auto region = plan::make_region(graph, graph::uses(graph), {id});
            const auto choices = device->choices(graph, region);
            ASSERT_TRUE(choices.ok()) << op << choices.error().text();
            ASSERT_EQ(choices->size(), 1U) << op;
            EXPECT_EQ(choices->front().kernel, "reference");
            if (second && op != "Dropout") {
                const std::vector<graph::Tensor> inputs = {random_tensor(random, {1, 16, 8, 8})};
                const auto run = run_greedily(*device, graph, inputs);
                ASSERT_TRUE(run.ok()) << op << run.error().text();
                EXPECT_TRUE(run->outputs[0].same_bytes(evaluate(graph, inputs)->front())) << op;
            }
        }
    }
}

}  // namespace
}  // namespace viridian::execute
