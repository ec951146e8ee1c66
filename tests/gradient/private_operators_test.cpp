// Operators of the domain `viridian` that the gradients of convolutions, pools and normalisations are made
// of.
#include <gtest/gtest.h>

#include "viridian/gradient/check/check.hpp"
#include "viridian/gradient/differentiate.hpp"
#include "viridian/gradient/rules/families.hpp"
#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/onnx/onnx.hpp"

namespace viridian::gradient {
namespace {

using Arrays = std::vector<graph::Array<double>>;

const std::vector<Rule>& heavy_rules() {
    static const std::vector<Rule> all = [] {
        std::vector<Rule> rules;
        for (auto* family : {convolution_rules, pooling_rules, softmax_rules, normalization_rules,
                             local_normalization_rules, batch_norm_rules})
            for (Rule& rule : family()) rules.push_back(std::move(rule));
        return rules;
    }();
    return all;
}

int private_nodes(const Graph& graph) {
    int count = 0;
    for (const NodeId id : graph.nodes()) count += graph.node(id).op.domain() == "viridian" ? 1 : 0;
    return count;
}

// Random inputs of the question: its inputs from their domains, then its seeds.
Arrays random_inputs(const Question& question, std::uint64_t seed) {
    Random random(seed);
    Instance drawing(random);
    Arrays inputs;
    for (std::size_t i = 0; i < question.graph.inputs().size(); ++i) {
        const graph::TensorType& type = question.graph.value(question.graph.inputs()[i]).type;
        graph::Array<double>& array = inputs.emplace_back(type.element, type.dims());
        array.real = drawing.draw(array.count(), i < question.inputs ? question.domains[i] : Domain());
    }
    return inputs;
}

// A rule may change a forward node, as that of BatchNormalization does. What it computes must stay.
TEST(PrivateOperators, LeaveTheForwardOutputsAsTheyWere) {
    for (const Rule& rule : heavy_rules())
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            Random random(seed);
            Instance instance(random);
            rule.instance(instance);
            Graph before = instance.graph;
            before.set_outputs(instance.outputs());
            const Result<Question> question = ask(instance);
            ASSERT_TRUE(question.ok()) << question.error().text();
            EXPECT_TRUE(verify(question->graph).ok()) << rule.op.name();
            Arrays inputs = random_inputs(*question, seed);
            const auto after = evaluate(question->graph, inputs, graph::Rounding::none);
            inputs.resize(question->inputs);
            const auto was = evaluate(before, inputs, graph::Rounding::none);
            ASSERT_TRUE(after.ok() && was.ok()) << rule.op.name();
            for (std::size_t k = 0; k < was->size(); ++k)
                for (std::size_t i = 0; i < (*was)[k].real.size(); ++i)
                    EXPECT_NEAR((*was)[k].real[i], (*after)[k].real[i],
                                1e-12 * (1 + std::abs((*was)[k].real[i])))
                        << rule.op.name() << " seed " << seed;
        }
}

TEST(PrivateOperators, SurviveAFileAndGiveTheSame) {
    std::map<std::string, int, std::less<>> kept;
    for (const Rule& rule : heavy_rules())
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            const Result<Question> question = ask(rule, seed);
            ASSERT_TRUE(question.ok()) << question.error().text();
            if (private_nodes(question->graph) == 0) continue;
            const auto bytes = onnx::serialize(question->graph);
            ASSERT_TRUE(bytes.ok()) << rule.op.name() << ": " << bytes.error().text();
            const auto again = onnx::parse(*bytes, "again");
            ASSERT_TRUE(again.ok()) << rule.op.name() << ": " << again.error().text();
            EXPECT_EQ(private_nodes(*again), private_nodes(question->graph)) << rule.op.name();
            for (const NodeId id : again->nodes())
                if (again->node(id).op.domain() == "viridian") {
                    EXPECT_NE(again->node(id).op.row(), nullptr);
                    ++kept[std::string(again->node(id).op.name())];
                }
            std::vector<Tensor> inputs;
            for (const auto& array : random_inputs(*question, seed)) inputs.push_back(tensor_of(array));
            const auto was = evaluate(question->graph, inputs), is = evaluate(*again, inputs);
            ASSERT_TRUE(was.ok() && is.ok()) << rule.op.name();
            for (std::size_t k = 0; k < was->size(); ++k)
                EXPECT_TRUE((*was)[k].same_bytes((*is)[k])) << rule.op.name() << " seed " << seed;
        }
    for (const char* name : {"AveragePoolGrad", "BatchNormalizationGrad", "BatchNormalizationTraining",
                             "ConvGradInput", "ConvGradWeight", "GroupNormalizationGrad", "LRNGrad",
                             "LayerNormalizationGradInput", "LayerNormalizationGradScale", "LogSoftmaxGrad",
                             "MaxPoolGrad", "RMSNormalizationGrad", "SoftmaxGrad"})
        EXPECT_GT(kept[name], 0) << name;
}

// Networks in half precision have gradients too: each has the type of its value.
TEST(PrivateOperators, GiveGradientsOfTheTypesOfTheirValues) {
    int checked = 0;
    for (const ElementType element : {ElementType::f32, ElementType::bf16, ElementType::f16})
        for (const Rule& rule : heavy_rules())
            for (std::uint64_t seed = 1; seed <= 6; ++seed) {
                Random random(seed);
                Instance instance(random);
                rule.instance(instance);
                bool has_constants = false;
                for (std::size_t i = 0; i < instance.graph.value_count(); ++i) {
                    const graph::Value& value = instance.graph.value(static_cast<ValueId>(i));
                    has_constants = has_constants || (value.kind == graph::ValueKind::constant &&
                                                      value.type.element == ElementType::f64);
                }
                if (has_constants) continue;
                for (const ValueId input : instance.graph.inputs())
                    instance.graph.set_type(input, {element, instance.graph.value(input).type.shape});
                if (!infer_types(instance.graph).ok()) continue;
                std::vector<Seed> seeds;
                for (const ValueId output : instance.outputs())
                    seeds.push_back(
                        {output, instance.graph.add_input("u", instance.graph.value(output).type)});
                std::vector<ValueId> of = instance.graph.inputs();
                of.resize(instance.domains().size());
                const auto gradients = differentiate(instance.graph, of, seeds);
                ASSERT_TRUE(gradients.ok()) << rule.op.name() << ": " << gradients.error().text();
                for (std::size_t i = 0; i < of.size(); ++i) {
                    if ((*gradients)[i] == ValueId::none) continue;
                    EXPECT_EQ(text(instance.graph.value((*gradients)[i]).type),
                              text(instance.graph.value(of[i]).type))
                        << rule.op.name() << " input " << i;
                    ++checked;
                }
            }
    EXPECT_GT(checked, 300);
}

}  // namespace
}  // namespace viridian::gradient
