#include "viridian/prove/check_regions.hpp"

#include "tests/execute/every_choice.hpp"
#include "tests/support/fixed_prices.hpp"

namespace viridian::prove {
namespace {

using namespace execute;  // the kernels that the tests are about

// A kernel that overwrites its residual is tried on a copy of it.
TEST(CheckRegions, OverwrittenInputsAreCopied) {
    Random random(1);
    graph::Graph graph;
    const auto x = graph.add_input("x", f32({12, 40}));
    const auto residual = graph.add("Relu", {x});
    const auto matrix = graph.add_constant("w", random_tensor(random, {40, 40}));
    const auto product = graph.add("MatMul", {x, matrix});
    graph.set_outputs({graph.add("Add", {product, residual})});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = test_device();
    const auto nodes = graph.nodes();
    const auto uses = graph::uses(graph);
    const std::vector<plan::Region> regions = {plan::make_region(graph, uses, {nodes[0]}),
                                               plan::make_region(graph, uses, {nodes[1], nodes[2]})};
    std::size_t tried = 0;
    for (std::size_t c = 0;; ++c) {
        bool beyond = false;
        auto assignment =
            assign(*device, graph, regions, [&](const plan::Region& region, const auto& choices) {
                if (region.nodes.size() == 1) return std::size_t{0};
                beyond = c >= choices.size();
                if (!beyond && choices[c].aliasing == plan::Aliasing::overwrite) ++tried;
                return beyond ? 0 : c;
            });
        ASSERT_TRUE(assignment.ok());
        if (beyond) break;
        const auto plan = plan::make_plan(graph, *std::move(assignment));
        ASSERT_TRUE(plan.ok());
        const auto inputs = random_inputs(graph, random);
        const auto before = inputs[0].content_hash();
        const auto checks = check_regions(*device, graph, *plan, std::span(&inputs, 1));
        ASSERT_TRUE(checks.ok()) << checks.error().text();
        ASSERT_EQ(checks->size(), 2U);
        for (const RegionCheck& check : *checks) EXPECT_LE(check.error, 1e-6) << check.kernel;
        EXPECT_EQ(inputs[0].content_hash(), before);
    }
    EXPECT_GE(tried, 1U);
}

// Of two products on the same kernel, the wrong one is named.
TEST(CheckRegions, AWrongKernelIsFoundWhereItIsWrong) {
    Random random(2);
    graph::Graph graph;
    const auto x = graph.add_input("x", f32({4, 40}));
    const auto first =
        graph.add("MatMul", {x, graph.add_constant("v", random_tensor(random, {40, 24}))}, {}, "right");
    graph.set_outputs({graph.add("MatMul", {first, graph.add_constant("w", random_tensor(random, {24, 16}))},
                                 {}, "wrong")});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto nodes = graph.nodes();
    const auto uses = graph::uses(graph);
    const std::vector<plan::Region> regions = {plan::make_region(graph, uses, {nodes[0]}),
                                               plan::make_region(graph, uses, {nodes[1]})};
    execute::FixedPrices device(test_device());
    auto assignment =
        assign(device, graph, regions, [](const plan::Region&, const auto&) { return std::size_t{0}; });
    ASSERT_TRUE(assignment.ok());
    const std::string signature = plan::signature(graph, regions[1]);
    const std::string choice = assignment->regions[1].choice.key();
    device.wrong = [&](const std::string& where, const plan::Choice&) { return where == signature; };
    const auto plan = plan::make_plan(graph, *std::move(assignment));
    ASSERT_TRUE(plan.ok());
    const auto inputs = random_inputs(graph, random);
    const auto checks = check_regions(device, graph, *plan, std::span(&inputs, 1));
    ASSERT_TRUE(checks.ok()) << checks.error().text();
    ASSERT_EQ(checks->size(), 2U);
    EXPECT_EQ((*checks)[0].node, "right");
    EXPECT_LE((*checks)[0].error, 1e-6);
    EXPECT_EQ((*checks)[1].node, "wrong");
    EXPECT_GT((*checks)[1].error, 1e-3);
    EXPECT_EQ((*checks)[1].signature, signature);
    EXPECT_EQ((*checks)[1].choice, choice);
}

// The processor's kernels. After each run `spoil` changes the outputs.
class SpoiledDevice final : public execute::ForwardingDevice {
  public:
    using Spoil =
        std::function<void(std::span<const graph::Tensor> inputs, std::span<graph::Tensor> outputs)>;
    SpoiledDevice(std::unique_ptr<execute::Device> right, Spoil spoil)
        : execute::ForwardingDevice(std::move(right)), spoil_(std::move(spoil)) {}
    Result<std::unique_ptr<execute::Executable>> prepare(const graph::Graph& graph,
                                                         const plan::Plan& plan) override {
        VIRIDIAN_TRY(auto right, execute::ForwardingDevice::prepare(graph, plan));
        return std::unique_ptr<execute::Executable>(std::make_unique<Spoiled>(std::move(right), spoil_));
    }

  private:
    class Spoiled final : public execute::Executable {
      public:
        Spoiled(std::unique_ptr<execute::Executable> right, Spoil spoil)
            : right_(std::move(right)), spoil_(std::move(spoil)) {}
        Result<void> run(std::span<const graph::Tensor> inputs, std::span<graph::Tensor> outputs) override {
            VIRIDIAN_TRY(right_->run(inputs, outputs));
            spoil_(inputs, outputs);
            return {};
        }
        void record(trace::Recorder* recorder) override { right_->record(recorder); }
        Bytes memory() const override { return right_->memory(); }

      private:
        std::unique_ptr<execute::Executable> right_;
        Spoil spoil_;
    };
    Spoil spoil_;
};

// At a small rate an update changes a weight little, whatever it is. w' = w - 1e-4 g, by 5 % too much.
TEST(CheckRegions, UpdatesAreComparedByWhatTheyChange) {
    Random random(3);
    graph::Graph graph;
    const auto gradient = graph.add_input("gradient", f32({32}));
    const auto weight = graph.add_constant("w", random_tensor(random, {32}));
    graph.make_state(weight, graph::StateRole::parameter);
    const auto rate = graph.add_constant("rate", graph::Tensor::scalar(1e-4F));
    const auto change = graph.add("Mul", {gradient, rate});
    graph.set_after(weight, graph.add("Sub", {weight, change}));
    graph.set_outputs({change});
    ASSERT_TRUE(infer_types(graph).ok());
    const std::vector<std::vector<graph::Tensor>> inputs = {
        {random_tensor(random, {32}), random_tensor(random, {32})}};
    for (const float factor : {1.0F, 1.05F}) {
        SpoiledDevice device(test_device(), [&](const auto& given, const auto& outputs) {
            if (given.size() != 2) return;  // the product
            const auto before = given[0].template values<float>();
            const auto after = outputs[0].template mutable_values<float>();
            for (std::size_t i = 0; i < after.size(); ++i)
                after[i] = before[i] + factor * (after[i] - before[i]);
        });
        auto assignment = assign(device, graph, single_node_regions(graph),
                                 [](const plan::Region&, const auto&) { return std::size_t{0}; });
        ASSERT_TRUE(assignment.ok());
        const auto plan = plan::make_plan(graph, *std::move(assignment));
        ASSERT_TRUE(plan.ok());
        const auto checks = check_regions(device, graph, *plan, inputs);
        ASSERT_TRUE(checks.ok()) << checks.error().text();
        ASSERT_EQ(checks->size(), 2U);
        EXPECT_LE((*checks)[0].error, 1e-6);
        EXPECT_NEAR((*checks)[1].error, factor - 1, 5e-3);
    }
}

// Two products of equal signature: weights of the first are ones, so that the second reads sums.
TEST(CheckRegions, LooksAtEveryStepAndEverySet) {
    graph::Graph graph;
    const auto x = graph.add_input("x", f32({2, 8}));
    const auto ones = [&] {
        return graph.add_constant("w", graph::Tensor::f32({8, 8}, std::vector<float>(64, 1)));
    };
    const auto first = graph.add("MatMul", {x, ones()}, {}, "first");
    graph.set_outputs({graph.add("MatMul", {first, ones()}, {}, "second")});
    ASSERT_TRUE(infer_types(graph).ok());
    SpoiledDevice device(test_device(), [](const auto& given, const auto& outputs) {
        if (given[0].template values<float>()[0] > 10) outputs[0].template mutable_values<float>()[0] += 100;
    });
    auto assignment = assign(device, graph, single_node_regions(graph),
                             [](const plan::Region&, const auto&) { return std::size_t{0}; });
    ASSERT_TRUE(assignment.ok());
    const auto plan = plan::make_plan(graph, *std::move(assignment));
    ASSERT_TRUE(plan.ok());
    const auto worst = [&](const std::vector<float>& sets) {
        std::vector<std::vector<graph::Tensor>> inputs;
        for (const float value : sets)
            inputs.push_back({graph::Tensor::f32({2, 8}, std::vector<float>(16, value))});
        const auto checks = check_regions(device, graph, *plan, inputs);
        EXPECT_TRUE(checks.ok() && checks->size() == 1) << "one kernel, two steps";
        return checks->front();
    };
    EXPECT_LE(worst({1, 1}).error, 1e-6);
    EXPECT_GT(worst({2}).error, 1e-3) << "only the second step reads more than 10: eight twos";
    EXPECT_EQ(worst({2}).node, "second");
    EXPECT_GT(worst({1, 20}).error, 1e-3) << "only in the second set";
}

}  // namespace
}  // namespace viridian::prove
