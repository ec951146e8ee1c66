// Kernels of the processor for the operators of training steps, against the reference kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "tests/support/cpu_device.hpp"
#include "tests/support/greedy.hpp"
#include "tests/train/relative_error.hpp"
#include "viridian/gradient/check/instance.hpp"
#include "viridian/gradient/differentiate.hpp"
#include "viridian/gradient/optimizer.hpp"
#include "viridian/gradient/rule.hpp"
#include "viridian/gradient/step.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/training/dropout_mask.hpp"
#include "viridian/plan/precision.hpp"

namespace viridian::train {
namespace {

using execute::device_with;
using graph::Dims;
using graph::ElementType;
using graph::Graph;
using graph::Tensor;
using graph::ValueId;

// The instance in f32: its inputs and constants.
bool narrow(Graph& graph) {
    for (const ValueId input : graph.inputs())
        graph.set_type(input, {ElementType::f32, graph.value(input).type.shape});
    for (std::size_t i = 0; i < graph.value_count(); ++i) {
        const auto id = static_cast<ValueId>(i);
        const Tensor* constant = graph.constant(id);
        if (constant == nullptr || constant->type() != ElementType::f64) continue;
        std::vector<float> values;
        for (std::int64_t k = 0; k < constant->count(); ++k)
            values.push_back(static_cast<float>(constant->number(k)));
        graph.make_constant(id, Tensor::f32(constant->dims(), values));
    }
    return infer_types(graph).ok();
}

struct Question {
    Graph graph;
    std::vector<Tensor> inputs;
};

// Makes inputs of the labels and indices that instances have as constants, as in the step of a network.
std::map<ValueId, Tensor> give_indices(Graph& graph) {
    std::map<ValueId, Tensor> given;
    for (const graph::NodeId id : graph.nodes()) {
        graph::Node node = graph.node(id);
        if (node.op != graph::op::Gather && node.op != graph::op::SoftmaxCrossEntropyLoss &&
            node.op != graph::op::NegativeLogLikelihoodLoss)
            continue;
        const Tensor* constant = graph.constant(node.inputs[1]);
        if (constant == nullptr) continue;
        const Tensor tensor = *constant;
        node.inputs[1] = graph.add_input("indices", tensor.tensor_type());
        given[node.inputs[1]] = tensor;
        graph.set_node(id, node);
    }
    return given;
}

// The gradients of a random instance of a rule in f32, and inputs for them; nothing if it needs f64.
std::optional<Question> question_of(const gradient::Rule& rule, std::uint64_t seed) {
    Random random(seed);
    gradient::Instance instance(random);
    rule.instance(instance);
    Graph& graph = instance.graph;
    if (!narrow(graph)) return std::nullopt;
    const std::size_t own = graph.inputs().size();
    const std::map<ValueId, Tensor> given = give_indices(graph);
    std::vector<gradient::Seed> seeds;
    for (const ValueId output : instance.outputs())
        seeds.push_back({output, graph.add_input("u", graph.value(output).type)});
    const std::vector<ValueId> of(graph.inputs().begin(),
                                  graph.inputs().begin() + static_cast<std::ptrdiff_t>(own));
    const auto gradients = differentiate(graph, of, seeds);
    if (!gradients.ok()) return std::nullopt;
    std::vector<ValueId> outputs = instance.outputs();
    for (const ValueId id : *gradients)
        if (id != ValueId::none) outputs.push_back(id);
    graph.set_outputs(std::move(outputs));
    remove_dead_nodes(graph);
    if (!infer_types(graph).ok()) return std::nullopt;
    Question question{graph, {}};
    for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
        if (const auto found = given.find(graph.inputs()[i]); found != given.end()) {
            question.inputs.push_back(found->second);
            continue;
        }
        const graph::TensorType& type = graph.value(graph.inputs()[i]).type;
        const auto count = graph::element_count(type.dims());
        const std::vector<double> drawn =
            instance.draw(*count, i < own ? instance.domains()[i] : gradient::Domain());
        question.inputs.push_back(Tensor::f32(type.dims(), std::vector<float>(drawn.begin(), drawn.end())));
    }
    return question;
}

// Every kernel that is offered is picked in one of the rounds.
TEST(TrainingKernels, GiveTheGradientsOfTheReference) {
    std::map<std::string, std::set<std::string>> kernels;  // operators, by kernel without its variant
    const auto device = device_with(2);
    int compared = 0;
    for (const gradient::Rule& rule : gradient::all_rules())
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
            const auto question = question_of(rule, seed);
            if (!question) continue;
            const auto expected = graph::evaluate(question->graph, question->inputs);
            ASSERT_TRUE(expected.ok()) << rule.op.name() << ": " << expected.error().text();
            for (std::size_t round = 0; round < 6; ++round) {
                const auto run = run_greedily(*device, question->graph, question->inputs,
                                              [&](const auto&, const std::vector<plan::Choice>& choices) {
                                                  return round % choices.size();
                                              });
                ASSERT_TRUE(run.ok()) << rule.op.name() << ": " << run.error().text();
                std::string used;
                for (const auto& [op, kernel] : run->kernels) {
                    kernels[kernel.substr(0, kernel.find(':', kernel.find(':') + 1))].insert(op);
                    used += fmt::format(" {}={}", op, kernel);
                }
                for (std::size_t i = 0; i < expected->size(); ++i) {
                    ASSERT_LE(relative_error(run->outputs[i], (*expected)[i]), 2e-4)
                        << rule.op.name() << " seed " << seed << " output " << i << used;
                    ++compared;
                }
            }
        }
    EXPECT_GT(compared, 2000);
    for (const auto& [kernel, op] : std::initializer_list<std::pair<const char*, const char*>>{
             {"dnnl:convgrad", "ConvGradInput"},
             {"dnnl:convgrad", "ConvGradWeight"},
             {"dnnl:conv", "Conv"},
             {"dnnl:matmul", "Gemm"},
             {"dnnl:matmul", "MatMul"},
             {"simd:fused", "LayerNormalization"},
             {"simd:fused", "LayerNormalizationGradInput"},
             {"simd:fused", "LayerNormalizationGradScale"},
             {"simd:fused", "SoftmaxGrad"},
             {"simd:batchnorm", "BatchNormalizationTraining"},
             {"simd:batchnorm", "BatchNormalizationGrad"},
             {"simd:crossentropy", "SoftmaxCrossEntropyLoss"},
             {"simd:crossentropy", "CrossEntropyGrad"},
             {"simd:maxpool", "MaxPool"},
             {"simd:maxpool", "MaxPoolGrad"},
             {"simd:gathergrad", "GatherGrad"},
             {"simd:fused", "GeluGrad"},
             {"simd:fused", "ReluGrad"},
             {"simd:fused", "ClipGrad"},
             {"composed", "AveragePoolGrad"},
             {"composed", "GroupNormalizationGrad"},
             {"composed", "RMSNormalizationGrad"}})
        EXPECT_THAT(kernels[kernel], testing::Contains(op)) << kernel;
}

// Picks in turn the choices that store in bf16 only ports that may be (plan::f32_nodes); if there are none,
// the first choice.
execute::Pick rounding(const Graph& graph, std::size_t round, std::set<std::string>& operators) {
    return [&graph, &operators, round, f32 = plan::f32_nodes(graph)](
               const plan::Region& region, const std::vector<plan::Choice>& choices) {
        std::vector<std::size_t> in_bf16;
        for (std::size_t c = 0; c < choices.size(); ++c)
            if (plan::rounds(graph, region, choices[c]) && !plan::rounds_at(graph, region, choices[c], f32))
                in_bf16.push_back(c);
        if (in_bf16.empty()) return std::size_t{0};
        operators.insert(std::string(graph.node(region.nodes[0]).op.name()));
        return in_bf16[round % in_bf16.size()];
    };
}

std::unique_ptr<execute::Device> bf16_device() {
    auto device = execute::make_cpu_device({.threads = 2, .pin = false, .allowances = {.bf16 = true}});
    EXPECT_TRUE(device.ok());
    return *std::move(device);
}

// The list leaves out operators whose gradient divides by a value that one rounding to bf16 can change a lot.
TEST(TrainingKernels, GiveTheGradientsOfTheReferenceInBf16) {
    std::set<std::string> operators;  // that stored in bf16
    const auto device = bf16_device();
    for (const char* name :
         {"LayerNormalization", "Softmax", "MatMul", "Gemm", "Where", "Relu", "Gelu", "Add"})
        for (const gradient::Rule& rule : gradient::all_rules())
            for (std::uint64_t seed = 1; rule.op.name() == name && seed <= 8; ++seed) {
                const auto question = question_of(rule, seed);
                if (!question) continue;
                const auto expected = graph::evaluate(question->graph, question->inputs);
                ASSERT_TRUE(expected.ok()) << name << ": " << expected.error().text();
                for (std::size_t round = 0; round < 6; ++round) {
                    const auto run = run_greedily(*device, question->graph, question->inputs,
                                                  rounding(question->graph, round, operators));
                    ASSERT_TRUE(run.ok()) << name << ": " << run.error().text();
                    for (std::size_t i = 0; i < expected->size(); ++i)
                        EXPECT_LE(relative_error(run->outputs[i], (*expected)[i]), 0.02)
                            << name << " seed " << seed << " output " << i << " round " << round;
                }
            }
    for (const char* op : {"LayerNormalization", "LayerNormalizationGradInput", "LayerNormalizationGradScale",
                           "SoftmaxGrad", "GeluGrad", "Where", "ReduceSum"})
        EXPECT_THAT(operators, testing::Contains(op));
}

// A plan from a file may say anything about workspaces.
TEST(TrainingKernels, TakeNoWorkspaceFromThePlan) {
    const auto device = device_with(2);
    for (const gradient::Rule& rule : gradient::all_rules())
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            const auto question = question_of(rule, seed);
            if (!question) continue;
            const Graph& graph = question->graph;
            auto assignment = assign(*device, graph, execute::single_node_regions(graph), {});
            ASSERT_TRUE(assignment.ok()) << assignment.error().text();
            for (plan::AssignedRegion& region : assignment->regions) region.choice.workspace = Bytes(0);
            const auto plan = plan::make_plan(graph, *std::move(assignment));
            ASSERT_TRUE(plan.ok()) << plan.error().text();
            const auto executable = device->prepare(graph, *plan);
            ASSERT_TRUE(executable.ok()) << executable.error().text();
            const auto expected = graph::evaluate(graph, question->inputs);
            const auto results = run_from(**executable, graph, question->inputs);
            ASSERT_TRUE(expected.ok() && results.ok()) << rule.op.name();
            for (std::size_t i = 0; i < results->size(); ++i)
                EXPECT_LE(relative_error((*results)[i], (*expected)[i]), 2e-4) << rule.op.name();
        }
}

// A file may give an operator of ours a body of its own, and then means that body.
TEST(TrainingKernels, OtherBodiesAreComputedAsTheyAre) {
    Graph graph;
    gradient::Builder b(graph);
    const graph::TensorType type{ElementType::f32, graph::shape_of({3, 40})};
    const gradient::Term g = b.value(graph.add_input("g", type)), y = b.value(graph.add_input("y", type));
    const std::vector<gradient::Term> made =
        b.call(gradient::op::SoftmaxGrad, {g, y}, {{"axis", std::int64_t{1}}},
               [](gradient::Builder&, const std::vector<gradient::Term>& in) {
                   return std::vector<gradient::Term>{in[0] - in[1] * sum(in[0], {1})};
               });
    graph.set_outputs({made[0].id});
    ASSERT_TRUE(infer_types(graph).ok());
    Random random(8);
    std::vector<Tensor> inputs;
    for (int i = 0; i < 2; ++i) {
        std::vector<float> values(120);
        for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
        inputs.push_back(Tensor::f32({3, 40}, values));
    }
    const auto expected = graph::evaluate(graph, inputs);
    ASSERT_TRUE(expected.ok()) << expected.error().text();
    const auto run = run_greedily(*device_with(2), graph, inputs);
    ASSERT_TRUE(run.ok()) << run.error().text();
    EXPECT_EQ(run->kernels[0].second, "composed");
    EXPECT_LE(relative_error(run->outputs[0], (*expected)[0]), 1e-5);
}

// A body that gives fewer numbers than the operator does: no kernel for the operator may write them.
TEST(TrainingKernels, SmallerResultsOfOtherBodiesAreNotWrittenBeyondTheirEnd) {
    Graph graph;
    gradient::Builder b(graph);
    const graph::TensorType type{ElementType::f32, graph::shape_of({3, 40})};
    const gradient::Term g = b.value(graph.add_input("g", type)), y = b.value(graph.add_input("y", type));
    const std::vector<gradient::Term> row =
        b.call(gradient::op::SoftmaxGrad, {g, y}, {{"axis", std::int64_t{1}}},
               [](gradient::Builder&, const std::vector<gradient::Term>& in) {
                   return std::vector<gradient::Term>{sum((in[0] - in[1]) * in[0] * in[1], {1})};
               });
    graph.set_outputs({row[0].id, (g + y).id});
    ASSERT_TRUE(infer_types(graph).ok());
    const auto device = device_with(2);
    const auto region = plan::make_region(graph, graph::uses(graph), graph.nodes());
    const auto choices = device->choices(graph, region);
    ASSERT_TRUE(choices.ok());
    EXPECT_TRUE(choices->empty());
}

struct Updated {
    Graph graph;
    std::vector<Tensor> inputs;
};

// One parameter of these dims with its moments as states, updated by a gradient that is an input.
Updated updated(const gradient::OptimizerOptions& options, const Dims& dims, Random& random) {
    Updated made;
    Graph& graph = made.graph;
    gradient::Builder b(graph);
    const auto draw = [&](double low, double high) {
        std::vector<float> values(static_cast<std::size_t>(*graph::element_count(dims)));
        for (float& value : values) value = static_cast<float>(random.uniform(low, high));
        return Tensor::f32(dims, values);
    };
    const graph::TensorType scalar{ElementType::f32, graph::Shape{}};
    const ValueId g = graph.add_input("g", {ElementType::f32, graph::shape_of(dims)});
    const ValueId rate = graph.add_input("rate", scalar), count = graph.add_input("count", scalar),
                  factor = graph.add_input("factor", scalar);
    const ValueId w = graph.add_state("w", draw(-1, 1));
    std::vector<gradient::Term> moments;
    for (const std::string& name : moments_of(options))
        moments.push_back(b.value(graph.add_state(name, draw(0, 1), graph::StateRole::moment, w)));
    const gradient::Update update = add_update(options, options.decay, b.value(w), b.value(g), moments,
                                               b.value(rate), b.value(count), b.value(factor));
    graph.set_after(w, update.parameter.id);
    for (std::size_t i = 0; i < moments.size(); ++i) graph.set_after(moments[i].id, update.moments[i].id);
    EXPECT_TRUE(infer_types(graph).ok());
    made.inputs = {draw(-1, 1), Tensor::scalar(0.01F), Tensor::scalar(3.0F), Tensor::scalar(0.7F)};
    return made;
}

// The fused update is the body, bit for bit, and writes into the states.
TEST(TrainingKernels, OptimisersUpdateInPlaceAndGiveTheBytesOfTheirBodies) {
    Random random(3);
    std::vector<gradient::OptimizerOptions> all;
    for (const double decay : {0.0, 0.1}) {
        using enum gradient::OptimizerKind;
        for (const double momentum : {0.0, 0.9})
            for (const bool nesterov : {false, true})
                all.push_back({.kind = sgd, .momentum = momentum, .nesterov = nesterov, .decay = decay});
        all.push_back({.kind = adam, .decay = decay});
        all.push_back({.kind = adamw, .decay = decay});
        all.push_back({.kind = rmsprop, .decay = decay});
        all.push_back({.kind = rmsprop, .momentum = 0.5, .decay = decay});
    }
    for (const gradient::OptimizerOptions& options : all)
        for (const Dims& dims : {Dims{7}, Dims{33, 1025}, Dims{1}})
            for (const int threads : {1, 2}) {
                const Updated update = updated(options, dims, random);
                const auto device = device_with(threads);
                auto assignment =
                    assign(*device, update.graph, execute::single_node_regions(update.graph), {});
                ASSERT_TRUE(assignment.ok()) << assignment.error().text();
                EXPECT_EQ(assignment->regions[0].choice.kernel, "simd:fused") << name_of(options.kind);
                const auto plan = plan::make_plan(update.graph, *std::move(assignment));
                ASSERT_TRUE(plan.ok()) << plan.error().text();
                auto executable = device->prepare(update.graph, *plan);
                ASSERT_TRUE(executable.ok()) << executable.error().text();
                std::vector<Tensor> states;
                for (const graph::State& state : update.graph.states())
                    states.push_back(*update.graph.first_value(state.before));
                for (int step = 0; step < 3; ++step) {
                    std::vector<Tensor> given = update.inputs;
                    given.insert(given.end(), states.begin(), states.end());
                    const auto expected = graph::evaluate(update.graph, given);
                    ASSERT_TRUE(expected.ok()) << expected.error().text();
                    states = *expected;
                    const auto ran = (*executable)->run(update.inputs, {});
                    ASSERT_TRUE(ran.ok()) << ran.error().text();
                    for (std::size_t i = 0; i < states.size(); ++i)
                        EXPECT_TRUE((*executable)->state(i)->same_bytes(states[i]))
                            << name_of(options.kind) << " state " << i << " step " << step;
                }
                EXPECT_EQ((*executable)->copied_into_states(), Bytes(0)) << name_of(options.kind);
            }
}

TEST(TrainingKernels, MasksHaveTheBitsOfTheReference) {
    Random random(4);
    for (const Dims& dims : {Dims{}, Dims{1}, Dims{3, 5}, Dims{2, 4099}, Dims{5, 3, 1367}, Dims{1, 70001}})
        for (const double ratio : {0.0, 0.1, 0.5, 1.0}) {
            Graph graph;
            const graph::TensorType number{ElementType::i64, graph::Shape{}};
            std::vector<ValueId> inputs;
            for (const char* name : {"seed", "step", "first_sample"})
                inputs.push_back(graph.add_input(name, number));
            inputs.push_back(random.chance(0.5)
                                 ? graph.add_input("ratio", {ElementType::f32, graph::Shape{}})
                                 : graph.add_constant("ratio", Tensor::scalar(static_cast<float>(ratio))));
            inputs.push_back(
                graph.add_constant("shape", Tensor::i64({static_cast<std::int64_t>(dims.size())}, dims)));
            graph.set_outputs({graph.add(graph::op::DropoutMask, inputs, {{"stream", std::int64_t{7}}})});
            ASSERT_TRUE(infer_types(graph).ok());
            std::vector<Tensor> given = {Tensor::scalar(std::int64_t{-(std::int64_t{1} << 40) - 5}),
                                         Tensor::scalar(std::int64_t{12}),
                                         Tensor::scalar(std::int64_t{(std::int64_t{1} << 32) - 1})};
            if (graph.inputs().size() == 4) given.push_back(Tensor::scalar(static_cast<float>(ratio)));
            const auto expected = graph::evaluate(graph, given);
            ASSERT_TRUE(expected.ok()) << expected.error().text();
            for (const int threads : {1, 2}) {
                const auto device = device_with(threads);
                const auto run = run_greedily(*device, graph, given);
                ASSERT_TRUE(run.ok()) << run.error().text();
                EXPECT_EQ(run->kernels[0].second, "simd:dropout");
                EXPECT_TRUE(run->outputs[0].same_bytes((*expected)[0]))
                    << fmt::format("{}", fmt::join(dims, "x")) << " ratio " << ratio;
            }
        }
}

}  // namespace
}  // namespace viridian::train
