// The papers' networks: what simplification and alternatives do to real topology.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "viridian/graph/infer.hpp"
#include "viridian/graph/verify.hpp"
#include "viridian/rewrite/certify/certify.hpp"
#include "viridian/rewrite/rewrite.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::rewrite {
namespace {

std::map<std::string, int> operators(const Graph& graph) {
    std::map<std::string, int> count;
    for (const NodeId id : graph.nodes()) ++count[std::string(graph.node(id).op.name())];
    return count;
}

TEST(Zoo, BatchNormFoldsInEveryConvolutionalNetwork) {
    for (const char* name : {"resnet18", "mobilenet_v2", "dcgan_generator", "dcgan_discriminator"}) {
        auto graph = zoo::build(name, {.keep_batch_norm = true});
        ASSERT_TRUE(graph.ok()) << name;
        ASSERT_TRUE(simplify(*graph).ok()) << name;
        EXPECT_TRUE(verify(*graph).ok()) << name;
        auto count = operators(*graph);
        EXPECT_EQ(count["BatchNormalization"], 0) << name;
        EXPECT_EQ(count["Mul"], 0) << name;
        EXPECT_EQ(count["Identity"], 0) << name;
    }
}

TEST(Zoo, TransformersAreRecognised) {
    for (const char* name : {"bert_base", "gpt2", "albert_base"}) {
        auto graph = zoo::build(name, {.sequence = 7, .layers = 2, .hidden = 128});
        ASSERT_TRUE(graph.ok()) << name << ": " << graph.error().text();
        const Graph before = *graph;
        ASSERT_TRUE(simplify(*graph).ok()) << name;
        auto count = operators(*graph);
        EXPECT_EQ(count["Gelu"], 2) << name;
        EXPECT_GE(count["LayerNormalization"], 4) << name;
        EXPECT_EQ(count["ReduceMean"] + count["Erf"] + count["Shape"], 0) << name;
        EXPECT_TRUE(compare(before, *graph, 1, 1e-5).ok()) << name;
    }
}

// Every alternative of a simplified network, simplified again, still computes the network; and the search
// finds the substitutions that the papers report there.
TEST(Zoo, AlternativesKeepTheOutputs) {
    auto bert = zoo::build("bert_base", {.sequence = 5, .layers = 1, .hidden = 128});
    ASSERT_TRUE(bert.ok());
    ASSERT_TRUE(simplify(*bert).ok());
    const auto found = alternatives(*bert, {.without = {}, .verify = true});
    ASSERT_TRUE(found.ok()) << found.error().text();
    std::map<std::string, int> by_rule;
    for (const Alternative& alternative : *found) {
        ++by_rule[alternative.application.rule];
        Graph graph = alternative.graph;
        ASSERT_TRUE(simplify(graph).ok()) << alternative.application.rule;
        const auto equal = compare(*bert, graph, 2, 1e-5);
        ASSERT_TRUE(equal.ok()) << alternative.application.rule << ": " << equal.error().text();
    }
    EXPECT_GE(by_rule["merge_matmuls"], 2) << "Q, K and V";
    EXPECT_EQ(by_rule["recognise_attention"], 1);
}

TEST(Zoo, SqueezenetMergesItsExpandConvolutions) {
    auto graph = zoo::build("squeezenet1_1");
    ASSERT_TRUE(graph.ok());
    ASSERT_TRUE(simplify(*graph).ok());
    auto found = alternatives(*graph);
    ASSERT_TRUE(found.ok());
    const auto enlarged = std::find_if(found->begin(), found->end(), [](const Alternative& alternative) {
        return alternative.application.rule == "enlarge_kernel";
    });
    ASSERT_NE(enlarged, found->end()) << "expand1x1 beside expand3x3";
    ASSERT_TRUE(simplify(enlarged->graph).ok());
    found = alternatives(enlarged->graph);
    ASSERT_TRUE(found.ok());
    const auto merged = std::find_if(found->begin(), found->end(), [](const Alternative& alternative) {
        return alternative.application.rule == "merge_convolutions";
    });
    ASSERT_NE(merged, found->end());
    ASSERT_TRUE(simplify(merged->graph).ok());
    EXPECT_EQ(operators(merged->graph)["Conv"], operators(*graph)["Conv"] - 1);
}

}  // namespace
}  // namespace viridian::rewrite
