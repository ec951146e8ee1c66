// Training steps of the zoo's networks on kernels of the processor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/cpu_device.hpp"
#include "tests/support/greedy.hpp"
#include "tests/train/relative_error.hpp"
#include "viridian/base/random.hpp"
#include "viridian/gradient/evaluation.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::train {
namespace {

using execute::device_with;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

// Operators of the graph that no kernel but the reference's runs: one of them may take most of the time.
std::set<std::string> without_kernel(execute::Device& device, const Graph& graph) {
    std::set<std::string> slow;
    const auto assignment = assign(device, graph, execute::single_node_regions(graph), {});
    EXPECT_TRUE(assignment.ok()) << assignment.error().text();
    if (!assignment.ok()) return slow;
    for (const plan::AssignedRegion& region : assignment->regions)
        if (region.choice.kernel == "reference" && !region.region.outputs.empty())  // somebody reads it
            slow.insert(std::string(graph.node(region.region.nodes[0]).op.name()));
    return slow;
}

TEST(StepsOfTheZoo, NeedNoReferenceKernel) {
    const auto device = device_with(2);
    for (const zoo::Network& network : zoo::networks()) {
        SCOPED_TRACE(network.name);
        zoo::Options options{.batch = 2, .training = true};
        if (network.transformer && !network.single_layer) options.layers = 1;
        auto forward = zoo::build(network.name, options);
        ASSERT_TRUE(forward.ok()) << forward.error().text();
        gradient::StepOptions step_options;
        if (network.single_layer || network.name.starts_with("dcgan"))  // the outputs are not class scores
            step_options.loss.kind = gradient::LossKind::mean_squared_error;
        const auto step = gradient::training_step(*forward, step_options);
        ASSERT_TRUE(step.ok()) << step.error().text();
        EXPECT_THAT(without_kernel(*device, step->graph), testing::IsEmpty());
        const auto evaluation = gradient::evaluation_of(*forward, *step, step_options.loss);
        ASSERT_TRUE(evaluation.ok()) << evaluation.error().text();
        EXPECT_THAT(without_kernel(*device, evaluation->graph), testing::IsEmpty()) << "in its evaluation";
    }
}

// What a run of the step takes: first values of states, a small rate, random numbers and labels.
std::vector<Tensor> random_given(const Graph& graph) {
    Random random(6);
    std::vector<Tensor> given;
    for (const ValueId id : run_inputs(graph)) {
        const graph::Value& value = graph.value(id);
        if (const Tensor* first = graph.first_value(id)) {
            given.push_back(*first);
            continue;
        }
        Tensor tensor(value.type.element, value.type.dims());
        for (std::int64_t i = 0; i < tensor.count(); ++i) {
            if (tensor.type() == ElementType::f32)
                tensor.mutable_values<float>()[static_cast<std::size_t>(i)] =
                    static_cast<float>(tensor.rank() == 0 ? 0.001 : random.uniform(-1, 1));
            else if (tensor.type() == ElementType::i64)
                tensor.mutable_values<std::int64_t>()[static_cast<std::size_t>(i)] = random.between(0, 9);
        }
        given.push_back(std::move(tensor));
    }
    return given;
}

// Compares a run of the step, with these regions, with the reference's.
void expect_reference(execute::Device& device, const Graph& graph, std::vector<plan::Region> regions,
                      const execute::Pick& pick) {
    const std::vector<Tensor> given = random_given(graph);
    const auto expected = graph::evaluate(graph, given);
    ASSERT_TRUE(expected.ok()) << expected.error().text();
    auto assignment = assign(device, graph, std::move(regions), pick);
    ASSERT_TRUE(assignment.ok()) << assignment.error().text();
    const auto plan = plan::make_plan(graph, *std::move(assignment));
    ASSERT_TRUE(plan.ok()) << plan.error().text();
    auto executable = device.prepare(graph, *plan);
    ASSERT_TRUE(executable.ok()) << executable.error().text();
    const auto results = run_from(**executable, graph, given);
    ASSERT_TRUE(results.ok()) << results.error().text();
    for (std::size_t i = 0; i < results->size(); ++i)
        EXPECT_LE(relative_error((*results)[i], (*expected)[i]), 1e-3)
            << graph.value(run_outputs(graph)[i]).name;
}

// A whole step of the small networks of the zoo, with the kernels that are offered first.
TEST(StepsOfTheZoo, OfSmallNetworksAreThoseOfTheReference) {
    for (const char* name : {"mlp", "small_cnn", "small_resnet", "small_transformer"}) {
        SCOPED_TRACE(name);
        auto forward = zoo::build(name, {.batch = 4, .training = true});
        ASSERT_TRUE(forward.ok()) << forward.error().text();
        gradient::StepOptions options;
        options.gradient_outputs = true;
        const auto step = gradient::training_step(*forward, options);
        ASSERT_TRUE(step.ok()) << step.error().text();
        const auto device = device_with(2);
        expect_reference(*device, step->graph, execute::single_node_regions(step->graph), {});
    }
}

std::size_t fused_choice(const std::vector<plan::Choice>& choices) {
    const auto fused = std::ranges::find(choices, "simd:fused", &plan::Choice::kernel);
    return static_cast<std::size_t>(fused - choices.begin());
}

// The regions that one kernel of rows computes, and the other nodes alone.
std::vector<plan::Region> fused_cover(execute::Device& device, const Graph& graph, std::size_t& fused) {
    const auto candidates = plan::candidate_regions(graph);
    EXPECT_TRUE(candidates.ok());
    std::set<graph::NodeId> covered;
    std::vector<plan::Region> cover;
    for (auto region = candidates->rbegin(); region != candidates->rend(); ++region) {
        if (std::ranges::any_of(region->nodes, [&](graph::NodeId id) { return covered.contains(id); }))
            continue;
        if (region->nodes.size() > 1) {
            const auto choices = device.choices(graph, *region);
            EXPECT_TRUE(choices.ok());
            if (fused_choice(*choices) == choices->size()) continue;
            ++fused;
        }
        covered.insert(region->nodes.begin(), region->nodes.end());
        cover.push_back(*region);
    }
    return cover;
}

TEST(StepsOfTheZoo, InFusedRowsAreThoseOfTheReference) {
    for (const char* name : {"encoder_layer", "small_transformer"}) {
        SCOPED_TRACE(name);
        const bool layer = std::string_view(name) == "encoder_layer";
        zoo::Options size{.batch = 3, .training = true};
        if (layer) size.sequence = 20, size.hidden = 64;
        auto forward = zoo::build(name, size);
        ASSERT_TRUE(forward.ok()) << forward.error().text();
        gradient::StepOptions options;
        options.gradient_outputs = true;
        if (layer) options.loss.kind = gradient::LossKind::mean_squared_error;
        const auto step = gradient::training_step(*forward, options);
        ASSERT_TRUE(step.ok()) << step.error().text();
        for (const int threads : {1, 3}) {
            const auto device = device_with(threads);
            std::size_t fused = 0;
            std::vector<plan::Region> cover = fused_cover(*device, step->graph, fused);
            EXPECT_GE(fused, layer ? 8U : 2U);
            expect_reference(*device, step->graph, std::move(cover),
                             [](const plan::Region&, const std::vector<plan::Choice>& choices) {
                                 const std::size_t found = fused_choice(choices);
                                 return found == choices.size() ? 0 : found;
                             });
        }
    }
}

}  // namespace
}  // namespace viridian::train
