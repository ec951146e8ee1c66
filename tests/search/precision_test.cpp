// Precision as one more dimension of the assignment: casts are paid for, shared, and avoided if they
// cost too much; guards hold whatever a kernel would save.
#include <gtest/gtest.h>

#include "random_network.hpp"
#include "viridian/plan/precision.hpp"

namespace viridian::search {
namespace {

using graph::ElementType;
using graph::NodeId;
using graph::ValueId;

// A network in which every node may run in f32 or bf16, at its own price each.
struct Mixed {
    tests::Network net;

    Mixed() {
        net.formats = {{plan::plain(4), ElementType::f32, {}}, {plan::plain(4), ElementType::bf16, {}}};
        set_casts(0.1);
    }
    void set_casts(double seconds) {
        net.conversions[{text(net.formats[0]), text(net.formats[1])}] = tests::price(seconds, 0);
        net.conversions[{text(net.formats[1]), text(net.formats[0])}] = tests::price(seconds, 0);
    }
    static graph::TensorType type() { return {ElementType::f32, graph::shape_of({1, 16, 4, 4})}; }
    ValueId add(std::string op, std::vector<ValueId> inputs) {
        const ValueId value = net.graph.add(std::move(op), std::move(inputs));
        net.graph.set_type(value, type());
        return value;
    }
    // Prices by node, in order: f32, bf16.
    void finish(std::vector<ValueId> outputs, const std::vector<std::pair<double, double>>& seconds) {
        net.graph.set_outputs(std::move(outputs));
        const graph::Uses uses = graph::uses(net.graph);
        for (const NodeId id : net.graph.nodes()) {
            net.regions.push_back(plan::make_region(net.graph, uses, {id}));
            for (const std::size_t label : {0, 1}) {
                plan::Choice choice;
                choice.kernel = label == 0 ? "f32" : "bf16";
                choice.inputs.assign(net.regions.back().inputs.size(), net.formats[label]);
                choice.outputs.assign(1, net.formats[label]);
                const auto& pair = seconds[net.regions.size() - 1];
                net.choices[{id}].push_back({choice, tests::price(label == 0 ? pair.first : pair.second, 0)});
            }
        }
    }
    [[nodiscard]] plan::Assignment solve(const AssignOptions& options = {}) const {
        auto found = tests::assigned(net, *parse_objective("time"), options);
        EXPECT_TRUE(found.ok()) << found.error().text();
        return *std::move(found);
    }
    static std::size_t in_bf16(const plan::Assignment& assignment) {
        std::size_t count = 0;
        for (const auto& assigned : assignment.regions) count += assigned.choice.kernel == "bf16" ? 1 : 0;
        return count;
    }
};

// Products gain from bf16, what stands between them loses a little.
Mixed alternating() {
    Mixed mixed;
    ValueId value = mixed.net.graph.add_input("x", Mixed::type());
    std::vector<std::pair<double, double>> seconds;
    for (int i = 0; i < 6; ++i) {
        value = mixed.add(i % 2 == 0 ? "MatMul" : "Sum", {value});
        seconds.emplace_back(1.0, i % 2 == 0 ? 0.5 : 1.2);
    }
    mixed.finish({value}, seconds);
    return mixed;
}

TEST(Precision, DearerCastsAreFewer) {
    Mixed mixed = alternating();
    std::size_t before = 100;
    std::vector<std::size_t> casts;
    for (const double seconds : {0.01, 0.12, 0.6}) {
        mixed.set_casts(seconds);
        const plan::Assignment found = mixed.solve();
        casts.push_back(found.conversions.size());
        EXPECT_LE(casts.back(), before);
        before = casts.back();
        EXPECT_EQ(found.gap(), 0);
    }
    // Cheap: around every product. Dear: in and out of the whole chain. Dearer than all it saves: none.
    EXPECT_EQ(casts, (std::vector<std::size_t>{6, 2, 0}));
}

// Each product alone would lose (two casts cost more than it saves); together they win.
TEST(Precision, LosersAloneAreWinnersTogether) {
    Mixed mixed;
    ValueId value = mixed.net.graph.add_input("x", Mixed::type());
    for (int i = 0; i < 4; ++i) value = mixed.add("MatMul", {value});
    mixed.set_casts(0.4);
    mixed.finish({value}, std::vector<std::pair<double, double>>(4, {1.0, 0.5}));
    EXPECT_EQ(Mixed::in_bf16(mixed.solve()), 4U);
}

TEST(Precision, ACastIsPaidOnceHoweverManyReadIt) {
    Mixed mixed;
    const ValueId x = mixed.net.graph.add_input("x", Mixed::type());
    std::vector<ValueId> outputs;
    std::vector<std::pair<double, double>> seconds;
    for (int i = 0; i < 3; ++i) outputs.push_back(mixed.add("MatMul", {x}));
    const ValueId sum = mixed.add("Sum", outputs);
    mixed.set_casts(0.6);
    seconds.assign(3, {1.0, 0.5});
    seconds.emplace_back(1.0, 1.0);
    mixed.finish({sum}, seconds);
    const plan::Assignment found = mixed.solve();
    EXPECT_EQ(Mixed::in_bf16(found), 4U) << "three halves saved for one cast in and one out";
    EXPECT_EQ(found.conversions.size(), 2U);
}

TEST(Precision, DeniedAndForbiddenNodesStayInF32) {
    Mixed mixed;
    const ValueId x = mixed.net.graph.add_input("x", Mixed::type());
    const ValueId first = mixed.add("MatMul", {x});
    const ValueId denied = mixed.add("Exp", {first});
    const ValueId last = mixed.add("MatMul", {denied});
    mixed.finish({last}, std::vector<std::pair<double, double>>(3, {10.0, 0.1}));
    EXPECT_EQ(Mixed::in_bf16(mixed.solve()), 2U);
    AssignOptions options;
    options.keep_f32 = {mixed.net.graph.nodes()[0]};
    const plan::Assignment found = mixed.solve(options);
    EXPECT_EQ(Mixed::in_bf16(found), 1U);
    for (const auto& assigned : found.regions)
        EXPECT_EQ(assigned.choice.kernel == "bf16", assigned.region.nodes[0] == mixed.net.graph.nodes()[2]);
}

}  // namespace
}  // namespace viridian::search
