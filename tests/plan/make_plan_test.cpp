#include "viridian/plan/plan.hpp"

#include "viridian/base/json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "viridian/base/random.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"

namespace viridian::plan {
namespace {

using graph::Dims;
using graph::Graph;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;

// --- a tiny executor: every kernel is the reference kernel, reading and writing buffers in their formats

class Machine {
  public:
    Machine(const Graph& graph, const Plan& plan)
        : graph_(graph),
          plan_(plan),
          arena_(static_cast<std::size_t>(plan.arena_bytes) / 4),
          states_(static_cast<std::size_t>(plan.state_bytes) / 4) {
        std::fill(arena_.begin(), arena_.end(), -777.0F);
        for (const Buffer& buffer : plan.buffers)
            external_.emplace_back(buffer.external ? static_cast<std::size_t>(buffer.bytes) / 4 : 0);
    }

    void write(BufferId id, const std::vector<float>& values) {
        float* memory = place(id);
        for_each(id, [&](std::size_t i, std::int64_t offset) { memory[offset] = values[i]; });
    }
    std::vector<float> read(BufferId id) {
        const float* memory = place(id);
        std::vector<float> values(count(id));
        for_each(id, [&](std::size_t i, std::int64_t offset) { values[i] = memory[offset]; });
        return values;
    }
    void run() {
        for (const Step& step : plan_.steps) {
            if (step.kind == Step::Kind::conversion) {
                write(step.outputs[0], read(step.inputs[0]));
                continue;
            }
            Graph region = graph_;  // the region alone: its inputs become constants
            for (std::size_t i = 0; i < step.inputs.size(); ++i)
                region.make_constant(step.region.inputs[i],
                                     Tensor::f32(plan_.buffers[step.inputs[i]].dims, read(step.inputs[i])));
            region.set_outputs(step.region.outputs);
            for (const graph::State& state : std::vector(region.states()))
                region.set_after(state.before, state.before);
            remove_dead_nodes(region);
            std::vector<Tensor> rest;
            for (const ValueId input : run_inputs(region))
                rest.emplace_back(graph::ElementType::f32, region.value(input).type.dims());
            const auto outputs = evaluate(region, rest);
            ASSERT_TRUE(outputs.ok()) << outputs.error().text();
            for (std::size_t i = 0; i < step.outputs.size(); ++i) {
                const auto values = (*outputs)[i].values<float>();
                write(step.outputs[i], {values.begin(), values.end()});
            }
        }
    }

  private:
    std::size_t count(BufferId id) const {
        std::size_t n = 1;
        for (const std::int64_t d : plan_.buffers[id].dims) n *= static_cast<std::size_t>(d);
        return n;
    }
    float* place(BufferId id) {
        std::int64_t offset = 0;
        while (plan_.buffers[id].view_of) {
            offset += plan_.buffers[id].view_offset;
            id = *plan_.buffers[id].view_of;
        }
        const Buffer& root = plan_.buffers[id];
        std::vector<float>& memory = root.persistent ? states_ : arena_;
        return (root.external ? external_[id].data() : memory.data() + root.arena_offset / 4) + offset / 4;
    }
    template <class F>
    void for_each(BufferId id, F f) {
        const Buffer& buffer = plan_.buffers[id];
        Layout layout = buffer.format.layout;
        layout.offset = 0;  // already in view_offset
        for (std::size_t i = 0; i < count(id); ++i) {
            Dims position(buffer.dims.size());
            std::size_t rest = i;
            for (std::size_t d = position.size(); d-- > 0;) {
                position[d] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(buffer.dims[d]));
                rest /= static_cast<std::size_t>(buffer.dims[d]);
            }
            f(i, element_offset(layout, buffer.dims, position));
        }
    }

    const Graph& graph_;
    const Plan& plan_;
    std::vector<float> arena_, states_;
    std::vector<std::vector<float>> external_;
};

// --- random graphs of [1, c, 3, 2] tensors, and random assignments for them

Graph random_graph(Random& random, int states = 0) {
    Graph graph;
    std::vector<ValueId> values;
    for (int i = 0; i < states; ++i)
        values.push_back(
            graph.add_state("s", {graph::ElementType::f32, graph::Shape{1, random.between(1, 2) * 4, 3, 2}}));
    for (int i = 0; i < 2; ++i)
        values.push_back(
            graph.add_input("x", {graph::ElementType::f32, graph::Shape{1, random.between(1, 3) * 4, 3, 2}}));
    const auto pick = [&] { return values[random.below(values.size())]; };
    for (int i = 0; i < 14; ++i) {
        const ValueId a = pick();
        const ValueId b = pick();
        ValueId made = ValueId::none;
        switch (random.below(5)) {
            case 0:
                made = graph.add("Relu", {a});
                break;
            case 1:
                made = graph.add("Neg", {a});
                break;
            case 2:
                made = graph.value(a).type == graph.value(b).type ? graph.add("Add", {a, b})
                                                                  : graph.add("Relu", {b});
                break;
            case 3:
                made = graph.add("Concat", {a, b}, {{"axis", std::int64_t{1}}});
                break;
            default:
                made = graph.add("Identity", {a});
                break;
        }
        EXPECT_TRUE(infer_types(graph).ok());
        values.push_back(made);
    }
    std::vector<ValueId> outputs = {values.back(), values[values.size() - 2], pick(), pick()};
    std::erase_if(outputs, [&](ValueId id) { return graph.producer(id) == nullptr; });
    graph.set_outputs(outputs);
    for (const graph::State& state : std::vector(graph.states())) {
        std::vector<ValueId> fitting = values;
        std::erase_if(fitting,
                      [&](ValueId id) { return graph.value(id).type != graph.value(state.before).type; });
        const ValueId other = fitting[random.below(fitting.size())];
        graph.set_after(state.before, random.chance(0.6) ? graph.add("Add", {state.before, other}) : other);
    }
    EXPECT_TRUE(infer_types(graph).ok());
    remove_dead_nodes(graph);
    return graph;
}

Format random_format(Random& random) {
    const Layout layouts[] = {plain(4), channels_last(4), channels_blocked(4, 4)};
    return {layouts[random.below(3)], graph::ElementType::f32, {}};
}

Price random_price(Random& random) {
    const Seconds seconds(random.uniform(1, 2));
    return {seconds, seconds, seconds, {Joules(1), Joules(1), Joules(1), {}}};
}

// Every kernel, and every conversion that the assignment has, has its price in the plan.
void expect_prices_kept(const Plan& plan) {
    std::multiset<double> given, kept;
    for (const AssignedRegion& assigned : plan.assignment.regions)
        if (assigned.choice.aliasing == Aliasing::none || assigned.choice.aliasing == Aliasing::overwrite)
            given.insert(assigned.price->seconds.value);
    for (const Step& step : plan.steps) {
        if (step.kind == Step::Kind::kernel) {
            ASSERT_TRUE(step.price.has_value());
            kept.insert(step.price->seconds.value);
        } else if (step.price) {
            const Buffer &from = plan.buffers[step.inputs[0]], &to = plan.buffers[step.outputs[0]];
            const auto& all = plan.assignment.conversions;
            const auto at = std::ranges::find(all, Conversion{to.value, from.format, to.format});
            ASSERT_NE(at, all.end());
            EXPECT_EQ(step.price->seconds, at->price->seconds);
        } else {  // a copy that no solver knows
            EXPECT_EQ(plan.buffers[step.inputs[0]].format, plan.buffers[step.outputs[0]].format);
        }
    }
    EXPECT_EQ(given, kept);
}

Assignment random_assignment(const Graph& graph, Random& random, int& special) {
    const auto uses = graph::uses(graph);
    const auto order = *topological_order(graph);
    std::set<NodeId> taken;
    Assignment assignment;
    for (const Region& candidate : *chain_regions(graph, 3))  // chains first, then what is left alone
        if (candidate.nodes.size() > 1 && random.chance(0.5) &&
            std::none_of(candidate.nodes.begin(), candidate.nodes.end(),
                         [&](NodeId id) { return taken.contains(id); })) {
            taken.insert(candidate.nodes.begin(), candidate.nodes.end());
            assignment.regions.push_back({candidate, {}});
        }
    for (const NodeId id : order)
        if (!taken.contains(id)) assignment.regions.push_back({make_region(graph, uses, {id}), {}});

    std::map<ValueId, Format> made;
    for (const ValueId input : run_inputs(graph)) made[input] = {plain(4), graph::ElementType::f32, {}};
    for (AssignedRegion& assigned : assignment.regions) {
        Choice& choice = assigned.choice;
        choice.kernel = "reference";
        const Region& region = assigned.region;
        const graph::Operator& op = graph.node(region.nodes[0]).op;
        for (std::size_t i = 0; i < region.inputs.size(); ++i) choice.inputs.push_back(random_format(random));
        for (std::size_t i = 0; i < region.outputs.size(); ++i)
            choice.outputs.push_back(random_format(random));
        if (region.nodes.size() == 1 && op == graph::op::Identity && random.chance(0.7)) {
            choice.aliasing = Aliasing::view;
            choice.outputs[0] = choice.inputs[0];
        } else if (region.nodes.size() == 1 && op == graph::op::Concat && random.chance(0.7)) {
            choice.aliasing = Aliasing::gather;
            if (choice.outputs[0].layout == channels_last(4)) choice.outputs[0].layout = plain(4);
            for (Format& format : choice.inputs) format = choice.outputs[0];
        } else if (region.outputs.size() == 1 && random.chance(0.7)) {
            for (std::size_t i = 0; i < region.inputs.size(); ++i)
                if (region.dies[i] &&
                    graph.value(region.inputs[i]).type == graph.value(region.outputs[0]).type) {
                    choice.aliasing = Aliasing::overwrite;
                    choice.overwritten = i;
                    choice.outputs[0] = choice.inputs[i];
                }
        }
        special += choice.aliasing != Aliasing::none ? 1 : 0;
        for (std::size_t i = 0; i < region.outputs.size(); ++i) made[region.outputs[i]] = choice.outputs[i];
        assigned.price = random_price(random);
    }
    const auto convert = [&](ValueId value, const Format& to) {
        const Conversion conversion{value, made[value], to, random_price(random)};
        if (made[value] != to && std::find(assignment.conversions.begin(), assignment.conversions.end(),
                                           conversion) == assignment.conversions.end())
            assignment.conversions.push_back(conversion);
    };
    for (const AssignedRegion& assigned : assignment.regions)
        for (std::size_t i = 0; i < assigned.region.inputs.size(); ++i)
            convert(assigned.region.inputs[i], assigned.choice.inputs[i]);
    for (const ValueId output : run_outputs(graph)) convert(output, {plain(4), graph::ElementType::f32, {}});
    return assignment;
}

TEST(MakePlan, AnyAssignmentComputesWhatTheGraphMeans) {
    Random random(5);
    int special = 0;
    for (int round = 0; round < 400; ++round) {
        const Graph graph = random_graph(random);
        if (graph.outputs().empty()) continue;
        const auto plan = make_plan(graph, random_assignment(graph, random, special));
        ASSERT_TRUE(plan.ok()) << plan.error().text();
        expect_prices_kept(*plan);

        std::vector<Tensor> inputs;
        Machine machine(graph, *plan);
        for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
            Tensor input(graph::ElementType::f32, graph.value(graph.inputs()[i]).type.dims());
            for (float& value : input.mutable_values<float>()) value = static_cast<float>(random.normal());
            machine.write(plan->inputs[i], {input.values<float>().begin(), input.values<float>().end()});
            inputs.push_back(std::move(input));
        }
        const auto expected = evaluate(graph, inputs);
        ASSERT_TRUE(expected.ok());
        machine.run();
        for (std::size_t i = 0; i < expected->size(); ++i) {
            const auto values = (*expected)[i].values<float>();
            ASSERT_EQ(machine.read(plan->outputs[i]), std::vector<float>(values.begin(), values.end()))
                << "round " << round;
        }

        Plan named = *plan;
        named.device = "cpu-1";
        named.library = "none";
        named.assignment.solver = "first";
        for (AssignedRegion& assigned : named.assignment.regions)
            assigned.choice.threads = static_cast<int>(random.below(3));
        const auto back = plan_from_json(graph, to_json(graph, named));
        ASSERT_TRUE(back.ok()) << back.error().text();
        EXPECT_EQ(to_json(graph, *back), to_json(graph, named));
        for (const Step& step : back->steps) EXPECT_FALSE(step.price.has_value());  // a file has none
    }
    EXPECT_GT(special, 500);
}

// Three runs: outputs and states are those of the reference, fed with its own states.
TEST(MakePlan, AnyAssignmentTakesTheStepsThatTheGraphMeans) {
    Random random(6);
    int special = 0, in_place = 0, copied = 0;
    for (int round = 0; round < 400; ++round) {
        const Graph graph = random_graph(random, static_cast<int>(random.between(1, 4)));
        const auto plan = make_plan(graph, random_assignment(graph, random, special));
        ASSERT_TRUE(plan.ok()) << round << ": " << plan.error().text();
        expect_prices_kept(*plan);
        for (const PlanState& state : plan->states) ++(state.in_place ? in_place : copied);
        Machine machine(graph, *plan);
        std::vector<BufferId> buffers = plan->inputs;
        for (const PlanState& state : plan->states) buffers.push_back(state.buffer);
        std::vector<Tensor> given;
        for (const ValueId id : run_inputs(graph)) {
            Tensor& tensor = given.emplace_back(graph::ElementType::f32, graph.value(id).type.dims());
            for (float& value : tensor.mutable_values<float>()) value = static_cast<float>(random.normal());
            machine.write(buffers[given.size() - 1],
                          {tensor.values<float>().begin(), tensor.values<float>().end()});
        }
        buffers = plan->outputs;
        for (const PlanState& state : plan->states) buffers.push_back(state.buffer);
        for (int run = 0; run < 3; ++run) {
            const auto expected = evaluate(graph, given);
            ASSERT_TRUE(expected.ok());
            machine.run();
            for (std::size_t i = 0; i < expected->size(); ++i) {
                const auto values = (*expected)[i].values<float>();
                ASSERT_EQ(machine.read(buffers[i]), std::vector<float>(values.begin(), values.end()))
                    << "round " << round << " run " << run << " result " << i;
            }
            for (std::size_t i = 0; i < plan->states.size(); ++i)
                given[graph.inputs().size() + i] = (*expected)[graph.outputs().size() + i];
        }
        Plan named = *plan;
        named.library = named.device = "none";
        named.assignment.solver = "first";
        named.threads = 1;
        const auto back = plan_from_json(graph, to_json(graph, named));
        ASSERT_TRUE(back.ok()) << back.error().text();
        EXPECT_EQ(to_json(graph, *back), to_json(graph, named));
    }
    EXPECT_GT(special, 500);
    EXPECT_GT(in_place, 100);
    EXPECT_GT(copied, 100);
}

TEST(Choice, ThreadsArePartOfItsKey) {
    Choice choice;
    choice.kernel = "kernel";
    const std::string on_all = choice.key();
    choice.threads = 12;
    EXPECT_NE(choice.key(), on_all);
    EXPECT_EQ(key_on_all_threads(choice.key()), on_all);
    EXPECT_EQ(key_on_all_threads(on_all), on_all);
    for (const int impossible : {-1, 0, 1025}) {
        Json json = to_json(choice);
        json["threads"] = impossible;
        EXPECT_FALSE(choice_from_json(json).ok()) << impossible;
    }
    EXPECT_EQ(choice_from_json(to_json(choice))->threads, 12);
}

TEST(Choice, SaysWhetherItStreams) {
    Choice choice;
    choice.kernel = "kernel";
    EXPECT_FALSE(choice_from_json(to_json(choice))->variant.streams);
    choice.variant.streams = true;
    Json json = to_json(choice);
    EXPECT_TRUE(choice_from_json(json)->variant.streams);
    json["streams"] = "yes";
    EXPECT_FALSE(choice_from_json(json).ok());
}

}  // namespace
}  // namespace viridian::plan
