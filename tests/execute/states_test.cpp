// Executables keep states between runs.
#include <cstring>
#include <numeric>

#include "tests/execute/networks.hpp"
#include "tests/support/training_step.hpp"
#include "viridian/execute/resting.hpp"
#include "viridian/trace/record/recorder.hpp"

namespace viridian::execute {
namespace {

using graph::Dims;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

// What evaluate() gives, with the states fed back, against what the executable keeps.
void expect_same_steps(Executable& executable, const Graph& graph, const std::vector<Tensor>& inputs,
                       int steps, double allowed) {
    std::vector<Tensor> states = tests::first_values(graph);
    auto outputs = output_tensors(graph);
    ASSERT_TRUE(outputs.ok());
    for (int step = 0; step < steps; ++step) {
        std::vector<Tensor> given = inputs;
        given.insert(given.end(), states.begin(), states.end());
        const auto expected = graph::evaluate(graph, given);
        ASSERT_TRUE(expected.ok()) << expected.error().text();
        const auto ran = executable.run(inputs, *outputs);
        ASSERT_TRUE(ran.ok()) << ran.error().text();
        const std::size_t own = graph.outputs().size();
        for (std::size_t i = 0; i < own; ++i)
            ASSERT_LE(distance((*outputs)[i], (*expected)[i]), allowed) << "output " << i << " step " << step;
        states.assign(expected->begin() + static_cast<std::ptrdiff_t>(own), expected->end());
        for (std::size_t i = 0; i < states.size(); ++i) {
            const auto state = executable.state(i);
            ASSERT_TRUE(state.ok());
            ASSERT_LE(distance(*state, states[i]), allowed)
                << graph.value(graph.states()[i].before).name << " step " << step;
        }
    }
}

TEST(ExecuteStates, TwentyStepsAreThoseOfTheReferenceAndCopyNothing) {
    const Graph step = tests::training_step();
    for (const int threads : {1, 2}) {
        const auto device = test_device(threads);
        Prepared prepared = prepare(*device, step, {});
        ASSERT_EQ(prepared.executable->state_count(), 5U);
        expect_same_steps(*prepared.executable, step, tests::step_inputs(1), 20, 1e-4);
        EXPECT_EQ(prepared.executable->copied_into_states(), Bytes(0));
        EXPECT_EQ(prepared.executable->state(4)->integer(0), 20);
    }
}

TEST(ExecuteStates, EveryPickOfKernelsTakesTheSameSteps) {
    Random random(5);
    const Graph step = tests::training_step({4, 33, 17, 5});
    const auto device = test_device(2);
    for (int round = 0; round < 20; ++round) {
        Prepared prepared = prepare(*device, step, random_pick(random));
        expect_same_steps(*prepared.executable, step, tests::step_inputs(2, {4, 33, 17, 5}), 3, 1e-4);
    }
}

TEST(ExecuteStates, StatesCanBeReadSetAndReachedAsBytes) {
    const Graph step = tests::training_step();
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, step, {});
    Executable& executable = *prepared.executable;
    const std::vector<Tensor> inputs = tests::step_inputs(3);
    std::vector<Tensor> given = inputs;
    for (const Tensor& first : tests::first_values(step)) given.push_back(first);
    const auto once = run_from(executable, step, given);
    ASSERT_TRUE(once.ok()) << once.error().text();
    ASSERT_EQ(once->size(), 6U);
    ASSERT_TRUE(executable.run(inputs, prepared.outputs).ok());
    const auto again = run_from(executable, step, given);
    ASSERT_TRUE(again.ok());
    for (std::size_t i = 0; i < 6; ++i) EXPECT_TRUE((*again)[i].same_bytes((*once)[i])) << i;

    const auto memory = executable.state_memory(1);
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(memory->name, "b1");
    EXPECT_EQ(memory->dims, (Dims{11}));
    EXPECT_EQ(memory->format, (plan::Format{plan::plain(1), graph::ElementType::f32, {}}));
    ASSERT_EQ(memory->bytes.size(), 44U);
    EXPECT_EQ(std::memcmp(memory->bytes.data(), executable.state(1)->bytes(), 44), 0);
    std::fill(memory->bytes.begin(), memory->bytes.end(), std::byte{0});
    EXPECT_EQ(executable.state(1)->number(7), 0);

    EXPECT_NE(executable.set_state(1, Tensor::scalar(1.0F)).error().message.find("the state `b1` is f32[11]"),
              std::string::npos);
    EXPECT_EQ(executable.state(5).error().code, ErrorCode::missing_entry);
    EXPECT_EQ(executable.set_state(9, Tensor()).error().code, ErrorCode::missing_entry);
    EXPECT_EQ(executable.state_memory(9).error().code, ErrorCode::missing_entry);
    EXPECT_EQ(run_from(executable, step, inputs).error().code, ErrorCode::mismatch);
}

TEST(ExecuteStates, AStateWithoutFirstValueHasToBeGiven) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32({3}));
    const ValueId sum = graph.add_state("sum", f32({3}), graph::StateRole::accumulator);
    const ValueId after = graph.add("Add", {sum, x}, {}, "after");
    graph.set_after(sum, after);
    graph.set_outputs({graph.add("Neg", {x})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    const std::vector<Tensor> inputs = {Tensor::f32({3}, std::vector<float>{1, 2, 3})};
    const auto ran = prepared.executable->run(inputs, prepared.outputs);
    ASSERT_FALSE(ran.ok());
    EXPECT_EQ(ran.error().message, "the state `sum` has no first value");
    EXPECT_FALSE(prepared.executable->state(0).ok());
    ASSERT_TRUE(prepared.executable->set_state(0, inputs[0]).ok());
    ASSERT_TRUE(prepared.executable->run(inputs, prepared.outputs).ok());
    EXPECT_EQ(prepared.executable->state(0)->number(2), 6);
}

// Swapped, constant, shared and given new values: copied at the end of a run, and counted.
TEST(ExecuteStates, WhatIsNotWrittenInPlaceIsCopiedAndCounted) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32({4}));
    std::vector<ValueId> s;
    for (int i = 0; i < 7; ++i)
        s.push_back(
            graph.add_state(fmt::format("s{}", i),
                            Tensor::f32({4}, std::vector<float>{1.0F * static_cast<float>(i), 2, 3, -1})));
    graph.set_after(s[0], s[1]);
    graph.set_after(s[1], s[0]);
    graph.set_after(s[2], s[2]);
    graph.set_after(s[3], graph.add_constant("c", Tensor::f32({4}, std::vector<float>{7, 8, 9, 10})));
    const ValueId y = graph.add("Add", {s[4], x});
    graph.set_after(s[4], y);
    graph.set_after(s[5], y);
    graph.set_after(s[6], x);
    graph.set_outputs({y, graph.add("Mul", {s[3], s[0]})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    expect_same_steps(*prepared.executable, graph, {Tensor::f32({4}, std::vector<float>{1, 2, 3, 4})}, 4, 0);
    EXPECT_EQ(prepared.executable->copied_into_states(), Bytes(4 * 16 * 5)) << "s0 s1 s3 s5 s6";
}

TEST(ExecuteStates, RestingFreesMemoryUntilTheStatesAreSet) {
    Graph graph;
    const ValueId x = graph.add_input("x", f32({1000}));
    const ValueId s = graph.add_state("s", Tensor(graph::ElementType::f32, {1000}));
    const ValueId y = graph.add("Add", {s, x});
    graph.set_after(s, y);
    graph.set_outputs({graph.add("Neg", {y})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    Executable& executable = *prepared.executable;
    const Bytes before = executable.memory();
    const std::vector<Tensor> ones = {Tensor::f32({1000}, std::vector<float>(1000, 1))};
    std::vector<Tensor> outputs = output_tensors(graph).value();
    ASSERT_TRUE(executable.run(ones, outputs).ok());
    const Tensor kept = executable.state(0).value();
    rest(executable);
    EXPECT_LE(executable.memory().value + 4000, before.value);
    EXPECT_EQ(executable.state(0).error().code, ErrorCode::missing_entry);
    EXPECT_EQ(executable.run(ones, outputs).error().code, ErrorCode::missing_entry);
    ASSERT_TRUE(executable.set_state(0, kept).ok());
    ASSERT_TRUE(executable.run(ones, outputs).ok());
    EXPECT_EQ(executable.memory(), before);
    EXPECT_EQ(executable.state(0)->number(999), 2);
    EXPECT_EQ(outputs[0].number(999), -2);
}

// Two graphs with a state `s` in common: one adds to it, the other doubles it. `own` belongs to the first.
TEST(ExecuteStates, TwoExecutablesShareStatesWithoutCopies) {
    const auto make = [](bool doubles) {
        Graph graph;
        const ValueId x = graph.add_input("x", f32({1000}));
        const auto ones = Tensor::f32({1000}, std::vector<float>(1000, 1));
        const ValueId s = graph.add_state("s", doubles ? ones : Tensor(graph::ElementType::f32, {1000}));
        graph.set_after(s, graph.add("Add", {s, doubles ? s : x}));
        if (!doubles) {
            const ValueId own = graph.add_state("own", ones);
            graph.set_after(own, graph.add("Add", {own, x}));
        }
        graph.set_outputs({graph.add("Neg", {x})});
        EXPECT_TRUE(infer_types(graph).ok());
        return graph;
    };
    const auto device = test_device(1);
    Prepared adds = prepare(*device, make(false), {}), doubles = prepare(*device, make(true), {});
    const std::vector<Tensor> twos = {Tensor::f32({1000}, std::vector<float>(1000, 2))};
    const auto run = [&](Prepared& one) { ASSERT_TRUE(one.executable->run(twos, one.outputs).ok()); };
    run(adds);
    const Bytes alone = adds.executable->memory();
    ASSERT_TRUE(share_states(*adds.executable, *doubles.executable).ok());
    EXPECT_EQ(adds.executable->state(0)->number(999), 1) << "the value of the owner";
    EXPECT_EQ(adds.executable->state(1)->number(999), 3) << "the other states stay as they are";
    run(adds);
    EXPECT_LE(adds.executable->memory().value + 4000, alone.value) << "memory that is shared counts once";
    run(doubles);
    EXPECT_EQ(adds.executable->state(0)->number(999), 6) << "(1 + 2) * 2";
    EXPECT_EQ(doubles.executable->state(0)->number(0), 6);
    EXPECT_EQ(state_view(*adds.executable, 0)->bytes(), state_view(*doubles.executable, 0)->bytes());
    rest(*doubles.executable);
    run(adds);
    EXPECT_EQ(adds.executable->state(0)->number(999), 8) << "the memory lives as long as one needs it";
    EXPECT_EQ(adds.executable->state(1)->number(999), 7);
    EXPECT_EQ(doubles.executable->run(twos, doubles.outputs).error().code, ErrorCode::missing_entry);
    ASSERT_TRUE(share_states(*doubles.executable, *adds.executable).ok());
    run(doubles);
    EXPECT_EQ(adds.executable->state(0)->number(999), 16);
}

TEST(ExecuteStates, ARunFromEmptyTensorsGoesOnFromTheStates) {
    const Graph step = tests::training_step();
    const auto device = test_device(1);
    Prepared copied = prepare(*device, step, {}), viewed = prepare(*device, step, {});
    std::vector<Tensor> given = tests::step_inputs(1);
    for (const Tensor& first : tests::first_values(step)) given.push_back(first);
    const auto expected = run_from(*copied.executable, step, given);
    ASSERT_TRUE(expected.ok()) << expected.error().text();
    for (std::size_t i = step.inputs().size(); i < given.size(); ++i) given[i] = Tensor();
    const auto made = run_from(*viewed.executable, step, given, NewStates::views);
    ASSERT_TRUE(made.ok()) << made.error().text();
    ASSERT_EQ(made->size(), expected->size());
    for (std::size_t i = 0; i < made->size(); ++i) EXPECT_TRUE((*made)[i].same_bytes((*expected)[i])) << i;
    const std::size_t last = made->size() - 1;
    EXPECT_EQ((*made)[last].bytes(), state_view(*viewed.executable, step.states().size() - 1)->bytes());
}

// A sum whose third term is the state, of integers: the kernel folds term by term.
TEST(ExecuteStates, KernelsThatFoldDoNotReadWhatTheyWrote) {
    Graph graph;
    const auto type = [](const Dims& dims) {
        return graph::TensorType{graph::ElementType::i64, graph::shape_of(dims)};
    };
    const ValueId x = graph.add_input("x", type({3000}));
    Tensor first(graph::ElementType::i64, {3000});
    std::iota(first.mutable_values<std::int64_t>().begin(), first.mutable_values<std::int64_t>().end(), 1);
    const ValueId count = graph.add_state("count", first, graph::StateRole::counter);
    graph.set_after(count, graph.add("Max", {x, x, count, count}));
    graph.set_outputs({graph.add("Neg", {x})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = test_device(2);
    Tensor given(graph::ElementType::i64, {3000});
    for (std::int64_t& value : given.mutable_values<std::int64_t>()) value = 1500;
    Prepared prepared = prepare(*device, graph, {});
    EXPECT_TRUE(prepared.plan.states[0].in_place);
    expect_same_steps(*prepared.executable, graph, {given}, 2, 0);
}

// A step of two states of `count` elements, a parameter and its moment, which a private operator updates.
// `equations` makes their new values in its body from the parameter, the moment and a gradient.
template <class Equations>
Graph step_of_two_states(std::int64_t count, const Equations& equations) {
    Graph body;
    const ValueId w = body.add_input("w", f32({count})), v = body.add_input("v", f32({count}));
    const ValueId g = body.add_input("g", f32({count}));
    body.set_outputs(equations(body, w, v, g));
    Graph graph;
    const auto first = [&](float value) {
        return Tensor::f32({count}, std::vector<float>(static_cast<std::size_t>(count), value));
    };
    const ValueId x = graph.add_input("x", f32({count}));
    const ValueId weight = graph.add_state("weight", first(3));
    const ValueId moment = graph.add_state("moment", first(1), graph::StateRole::moment, weight);
    graph::Node node;
    node.op = graph::Operator("Momentum", "viridian");
    node.name = "update";
    node.inputs = {weight, moment, graph.add("Mul", {x, weight})};
    node.bodies = {std::make_shared<const Graph>(std::move(body))};
    const graph::NodeId update = graph.add_node(std::move(node), 2);
    graph.set_after(weight, graph.node(update).outputs[0]);
    graph.set_after(moment, graph.node(update).outputs[1]);
    graph.set_outputs({graph.add("Neg", {weight})});
    EXPECT_TRUE(infer_types(graph).ok());
    return graph;
}

void expect_updates_in_place(const Graph& graph, std::int64_t count) {
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, graph, {});
    EXPECT_TRUE(prepared.plan.states[0].in_place && prepared.plan.states[1].in_place);
    const Tensor x = Tensor::f32({count}, std::vector<float>(static_cast<std::size_t>(count), 0.25F));
    expect_same_steps(*prepared.executable, graph, {x}, 4, 1e-6);
    EXPECT_EQ(prepared.executable->copied_into_states(), Bytes(0));
}

TEST(ExecuteStates, APrivateOptimiserUpdatesTwoStatesInPlace) {
    const Graph graph = step_of_two_states(6, [](Graph& body, ValueId w, ValueId v, ValueId g) {
        const ValueId decay = body.add_constant("decay", Tensor::scalar(0.5F));
        const ValueId velocity = body.add("Add", {body.add("Mul", {v, decay}), g});
        return std::vector<ValueId>{body.add("Sub", {w, velocity}), velocity};
    });
    expect_updates_in_place(graph, 6);
}

// The new value of the parameter is made before its old value is read for the last time. It then waits until
// the piece is done, while that of the moment is stored at once.
TEST(ExecuteStates, AnOptimiserReadsAStateAfterItMadeTheNewValue) {
    const Graph graph = step_of_two_states(3000, [](Graph& body, ValueId w, ValueId v, ValueId g) {
        const ValueId made = body.add("Sub", {w, g});
        const ValueId again = body.add("Mul", {w, v});
        return std::vector<ValueId>{made, body.add("Tanh", {again})};
    });
    expect_updates_in_place(graph, 3000);
}

TEST(ExecuteStates, ARecordedRunSaysThePassOfEveryStep) {
    const Graph step = tests::training_step();
    const auto device = test_device(1);
    Prepared prepared = prepare(*device, step, {});
    trace::Recorder recorder(1, 64);
    prepared.executable->record(&recorder);
    ASSERT_TRUE(prepared.executable->run(tests::step_inputs(1), prepared.outputs).ok());
    prepared.executable->record(nullptr);
    const auto events = recorder.finish();
    std::map<std::string, std::string> passes, paths;
    for (;;) {
        const auto batch = events->next();
        ASSERT_TRUE(batch.ok());
        if (batch->empty()) break;
        for (const trace::Event& event : *batch) {
            const std::string name(recorder.about().names[event.name]);
            passes[name] = name_of(event.pass);
            paths[name] = recorder.about().qualified(event.path);
        }
    }
    EXPECT_EQ(passes["linear1"], "forward");
    EXPECT_EQ(passes["dhidden"], "backward");
    EXPECT_EQ(passes["dW1"], "weight");
    EXPECT_EQ(passes["W1.new"], "update");
    EXPECT_EQ(paths["dhidden"], "linear2") << "the layer whose gradient it is";
    EXPECT_EQ(paths["linear2"], "linear2");
}

}  // namespace
}  // namespace viridian::execute
