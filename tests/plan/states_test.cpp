// How states lie in plans: updated in place where that is possible, copied where not, and never overwritten
// before the last reader.
#include "viridian/plan/states.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/training_step.hpp"
#include "viridian/base/json.hpp"

namespace viridian::plan {
namespace {

using graph::Dims;
using graph::Graph;
using graph::NodeId;
using graph::Tensor;
using graph::ValueId;

// One region per node, every port plain.
Assignment plain_assignment(const Graph& graph) {
    const graph::Uses uses = graph::uses(graph);
    Assignment assignment;
    assignment.solver = "first";
    for (const NodeId id : graph.nodes()) {
        Region region = make_region(graph, uses, {id});
        Choice choice;
        choice.kernel = "reference";
        const auto format = [&](ValueId value) {
            return Format{plain(graph.value(value).type.dims().size()), graph.value(value).type.element, {}};
        };
        for (const ValueId input : region.inputs) choice.inputs.push_back(format(input));
        for (const ValueId output : region.outputs) choice.outputs.push_back(format(output));
        assignment.regions.push_back({std::move(region), std::move(choice)});
    }
    return assignment;
}

Plan plan_of(const Graph& graph) {
    auto plan = make_plan(graph, plain_assignment(graph));
    EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.error().text());
    return plan.ok() ? *std::move(plan) : Plan();
}

std::vector<bool> in_place(const Plan& plan) {
    std::vector<bool> list;
    for (const PlanState& state : plan.states) list.push_back(state.in_place);
    return list;
}

int conversions(const Plan& plan) {
    return static_cast<int>(std::ranges::count(plan.steps, Step::Kind::conversion, &Step::kind));
}

std::size_t step_of(const Graph& graph, const Plan& plan, std::string_view node) {
    for (std::size_t s = 0; s < plan.steps.size(); ++s)
        if (plan.steps[s].kind == Step::Kind::kernel &&
            graph.node(plan.steps[s].region.nodes.front()).name == node)
            return s;
    ADD_FAILURE() << "no step at " << node;
    return 0;
}

class Small {
  public:
    Graph graph;
    graph::TensorType type{graph::ElementType::f32, graph::shape_of({4})};
    ValueId x = graph.add_input("x", type);

    ValueId state(const std::string& name) {
        return graph.add_state(name, Tensor::f32({4}, std::vector<float>{1, 2, 3, 4}));
    }
    ValueId add(graph::Operator op, std::vector<ValueId> inputs, std::string name) {
        return graph.add(std::move(op), std::move(inputs), {}, std::move(name));
    }
    Graph done(std::vector<ValueId> outputs) {
        graph.set_outputs(std::move(outputs));
        EXPECT_TRUE(infer_types(graph).ok());
        return graph;
    }
};

TEST(PlanStates, ATrainingStepIsUpdatedInPlaceWithoutACopy) {
    const Graph step = tests::training_step();
    const Plan plan = plan_of(step);
    EXPECT_EQ(in_place(plan), std::vector<bool>(5, true));
    EXPECT_EQ(conversions(plan), 0);
    EXPECT_EQ(plan.inputs.size(), 3U);
    EXPECT_EQ(plan.outputs.size(), 1U);
    std::int64_t bytes = 0;
    for (const PlanState& state : plan.states) {
        const Buffer& buffer = plan.buffers[state.buffer];
        EXPECT_TRUE(buffer.persistent && !buffer.external && !buffer.view_of);
        EXPECT_EQ(buffer.arena_offset, bytes);
        bytes += (buffer.bytes + 63) / 64 * 64;
    }
    EXPECT_EQ(plan.state_bytes, bytes);
    EXPECT_LT(step_of(step, plan, "dhidden"), step_of(step, plan, "W2.new")) << "reads the old W2";
}

// The gradient that reads W2 comes after the update, as the numbers of the nodes would have it.
TEST(PlanStates, EveryReaderComesBeforeTheUpdate) {
    Small s;
    const ValueId w = s.state("w");
    s.graph.set_after(w, s.add(graph::op::Add, {w, s.x}, "update"));
    const ValueId late = s.add(graph::op::Mul, {w, s.x}, "late");
    const Graph graph = s.done({late});
    const Plan plan = plan_of(graph);
    EXPECT_EQ(in_place(plan), std::vector<bool>{true});
    EXPECT_LT(step_of(graph, plan, "late"), step_of(graph, plan, "update"));
}

TEST(PlanStates, APlanWhoseOrderIsWrongIsRefused) {
    const Graph step = tests::training_step();
    const Plan plan = plan_of(step);
    EXPECT_TRUE(check_states(step, plan).ok());
    Plan wrong = plan;
    const auto update = wrong.steps.begin() + static_cast<std::ptrdiff_t>(step_of(step, plan, "W2.new"));
    const auto reader = wrong.steps.begin() + static_cast<std::ptrdiff_t>(step_of(step, plan, "dhidden"));
    std::rotate(reader, update, update + 1);
    const auto checked = check_states(step, wrong);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().code, ErrorCode::mismatch);
    EXPECT_EQ(
        checked.error().message,
        "the step at `dhidden` reads `W2` from the memory of the state `W2`, which then holds `W2.new`");

    // Every exchange of two neighbours: refused exactly where it puts an update before a reader, or a reader
    // of a new value before its update.
    int refused = 0;
    for (std::size_t at = 0; at + 1 < plan.steps.size(); ++at) {
        Plan other = plan;
        std::swap(other.steps[at], other.steps[at + 1]);
        bool right = true;
        for (const PlanState& state : plan.states) {
            bool updated = false;
            for (const Step& one : other.steps) {
                for (const ValueId input : one.region.inputs)
                    right =
                        right && !(input == state.before && updated) && !(input == state.after && !updated);
                for (const ValueId output : one.region.outputs) updated = updated || output == state.after;
            }
        }
        EXPECT_EQ(check_states(step, other).ok(), right) << at;
        refused += right ? 0 : 1;
    }
    EXPECT_GT(refused, 0);

    Plan lost = plan;
    std::erase_if(lost.steps,
                  [&](const Step& one) { return step.node(one.region.nodes.front()).name == "b1.new"; });
    EXPECT_NE(check_states(step, lost).error().message.find("never writes the new value of the state `b1`"),
              std::string::npos);
    Plan stateless = plan;
    stateless.states.clear();
    EXPECT_NE(check_states(step, stateless).error().message.find("the plan has 0 states, the graph 5"),
              std::string::npos);
}

// A new value that a reader of the old one needs cannot be written in place.
TEST(PlanStates, WhereNoOrderWorksACopyGoesToTheState) {
    Small s;
    const ValueId w = s.state("w");
    const ValueId after = s.add(graph::op::Mul, {s.x, s.x}, "after");
    s.graph.set_after(w, after);
    const ValueId change = s.add(graph::op::Sub, {after, w}, "change");
    const Plan plan = plan_of(s.done({change}));
    EXPECT_EQ(in_place(plan), std::vector<bool>{false});
    ASSERT_EQ(conversions(plan), 1);
    EXPECT_EQ(plan.steps.back().kind, Step::Kind::conversion);
}

// a' = a + b and b' = b - a: only one of them can come last.
TEST(PlanStates, OfTwoStatesThatReadEachOtherOneGetsACopy) {
    Small s;
    const ValueId a = s.state("a"), b = s.state("b");
    s.graph.set_after(a, s.add(graph::op::Add, {a, b}, "sum"));
    s.graph.set_after(b, s.add(graph::op::Sub, {b, a}, "difference"));
    const Plan plan = plan_of(s.done({s.add(graph::op::Neg, {s.x}, "y")}));
    EXPECT_EQ(in_place(plan), (std::vector<bool>{true, false}));
    EXPECT_EQ(conversions(plan), 1);
}

TEST(PlanStates, KernelsThatAreNotElementWiseDoNotOverwriteWhatTheyRead) {
    Small s;
    const ValueId w = s.graph.add_state("w", Tensor(graph::ElementType::f32, {4, 4}));
    s.graph.set_after(w, s.add(graph::op::MatMul, {w, w}, "square"));
    const ValueId v = s.graph.add_state("v", Tensor(graph::ElementType::f32, {4, 4}));
    s.graph.set_after(v, s.add(graph::op::MatMul, {w, w}, "other"));  // does not read v
    const ValueId wide = s.add(graph::op::Add, {w, s.x}, "wide");
    const Plan plan = plan_of(s.done({wide}));
    EXPECT_EQ(in_place(plan), (std::vector<bool>{false, true}));
}

TEST(PlanStates, SwappedKeptSharedAndConstantValues) {
    Small s;
    const ValueId a = s.state("a"), b = s.state("b"), kept = s.state("kept"), fixed = s.state("fixed");
    const ValueId c = s.state("c"), d = s.state("d"), given = s.state("given");
    s.graph.set_after(a, b);
    s.graph.set_after(b, a);
    s.graph.set_after(kept, kept);
    s.graph.set_after(fixed, s.graph.add_constant("seven", Tensor::f32({4}, std::vector<float>{7, 7, 7, 7})));
    const ValueId y = s.add(graph::op::Add, {c, s.x}, "y");
    s.graph.set_after(c, y);
    s.graph.set_after(d, y);
    s.graph.set_after(given, s.x);
    const Graph graph = s.done({y});
    const Plan plan = plan_of(graph);
    EXPECT_EQ(in_place(plan), (std::vector<bool>{false, false, false, false, true, false, false}));
    EXPECT_TRUE(check_states(graph, plan).ok());
    // a and b by way of a third buffer each, d, given, and y for the caller
    EXPECT_EQ(conversions(plan), 4 + 1 + 1 + 1);
}

TEST(PlanStates, TheFileSaysWhatIsUpdatedInPlaceAndIsHeldToIt) {
    const Graph step = tests::training_step();
    Plan plan = plan_of(step);
    plan.device = "here";
    plan.library = "none";
    plan.threads = 1;
    plan.predicted_energy = {Joules(1), Joules(1), Joules(1), {Provenance::Kind::estimated, "test"}};
    const Json json = to_json(step, plan);
    ASSERT_EQ(json["states"].size(), 5U);
    EXPECT_EQ(json["states"][0], (Json{{"before", "W1"}, {"after", "W1.new"}, {"in_place", true}}));
    const auto again = plan_from_json(step, json);
    ASSERT_TRUE(again.ok()) << again.error().text();
    EXPECT_EQ(in_place(*again), in_place(plan));
    const auto said = [&](auto&& change) {
        Json other = json;
        change(other);
        const auto read = plan_from_json(step, other);
        return read.ok() ? std::string("read") : read.error().message;
    };
    EXPECT_NE(said([](Json& j) { j["states"][1]["in_place"] = false; }).find("says"), std::string::npos);
    EXPECT_NE(said([](Json& j) { j["states"][1]["after"] = "W1.new"; }).find("says"), std::string::npos);
    EXPECT_NE(said([](Json& j) { j.erase("states"); }).find("lacks the list of 5 `states`"),
              std::string::npos);
    EXPECT_NE(said([](Json& j) { j["states"] = 3; }).find("lacks the list of 5 `states`"), std::string::npos);
}

}  // namespace
}  // namespace viridian::plan
