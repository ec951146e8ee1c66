// What cannot be differentiated, and how it is said.
#include <gtest/gtest.h>

#include "viridian/gradient/differentiate.hpp"
#include "viridian/gradient/rule.hpp"
#include "viridian/graph/infer.hpp"
#include "viridian/graph/operators/row.hpp"

namespace viridian::gradient {
namespace {

// A graph of named nodes, and the error of its differentiation with respect to the first input.
class Network {
  public:
    ValueId input(const Dims& dims, ElementType element = ElementType::f32) {
        return graph_.add_input("x", {element, graph::shape_of(dims)});
    }
    ValueId add(const std::string& name, graph::Operator op, std::vector<ValueId> inputs,
                Attributes attributes = {}) {
        return graph_.add(std::move(op), std::move(inputs), std::move(attributes), name);
    }
    Graph& network() { return graph_; }

    std::string refusal(ValueId y) {
        if (const auto typed = infer_types(graph_); !typed.ok()) return typed.error().text();
        const ValueId of[] = {graph_.inputs()[0]};
        const Seed seeds[] = {{y, graph_.add_input("u", graph_.value(y).type)}};
        const auto gradients = differentiate(graph_, of, seeds);
        return gradients.ok() ? "none" : gradients.error().text();
    }

  private:
    Graph graph_;
};

TEST(Refusals, OneErrorListsEveryNode) {
    Network n;
    const ValueId x = n.input({2, 3, 3});
    const ValueId volume = n.add("volume", "Det", {x});
    const ValueId products =
        n.add("products", "CumProd", {x, n.network().add_constant("axis", Tensor::scalar(std::int64_t{1}))});
    const ValueId y = n.add("y", op::Add, {n.add("total", op::ReduceSum, {products}), volume});
    EXPECT_EQ(n.refusal(y),
              "2 nodes of the network cannot be differentiated: `products` (CumProd): gradients do not flow "
              "through cumulative products yet; `volume` (Det): gradients do not flow through determinants "
              "yet. leave these nodes out of the path to the loss, or freeze the parameters before them.");
}

// A node before one that is refused is found too, also behind nodes that have a rule and at a fork.
TEST(Refusals, OneErrorListsEveryNodeOfAChain) {
    Network n;
    const ValueId x = n.input({4});
    const ValueId axis = n.network().add_constant("axis", Tensor::scalar(std::int64_t{0}));
    const ValueId training = n.input({}, ElementType::boolean);
    const ValueId first = n.add("first", "CumProd", {n.add("half", op::Exp, {x}), axis});
    const ValueId second = n.add("second", op::Dropout, {first, ValueId::none, training});
    const ValueId third = n.add("third", "CumProd", {n.add("both", op::Add, {second, first}), axis});
    const std::string refusal = n.refusal(n.add("y", op::Exp, {third}));
    EXPECT_EQ(refusal,
              "3 nodes of the network cannot be differentiated: `third` (CumProd): gradients do not flow "
              "through cumulative products yet; `second` (Dropout): whether it is in training mode is known "
              "only at run time; `first` (CumProd): gradients do not flow through cumulative products yet. "
              "leave these nodes out of the path to the loss, or freeze the parameters before them.");
}

TEST(Refusals, ARuleMayRefuseWhatItsNodeSays) {
    Network n;
    const ValueId x = n.input({4});
    const ValueId training = n.input({}, ElementType::boolean);
    const ValueId y = n.add("drop", op::Dropout, {x, ValueId::none, training});
    EXPECT_EQ(n.refusal(y),
              "one node of the network cannot be differentiated: `drop` (Dropout): whether it is in training "
              "mode is known only at run time. leave these nodes out of the path to the loss, or freeze the "
              "parameters before them.");
}

TEST(Refusals, PlacesThatAreKnownAtRunTimeAreRefused) {
    Network n;
    const ValueId x = n.input({4});
    const ValueId starts = n.input({1}, ElementType::i64);
    const ValueId end = n.network().add_constant("end", Tensor::i64({1}, Dims{4}));
    const ValueId y = n.add("cut", op::Slice, {x, starts, end});
    const std::string refusal = n.refusal(y);
    EXPECT_NE(refusal.find("`cut` (Slice)"), std::string::npos) << refusal;
}

TEST(Refusals, AttentionWithoutABody) {
    Network n;
    const ValueId q = n.input({1, 2, 3, 4});
    EXPECT_EQ(
        n.refusal(n.add("attend", graph::Operator("Attention"), {q, q, q})),
        "one node of the network cannot be differentiated: `attend` (Attention): gradients flow through "
        "attention only where it is written as MatMul, Softmax and MatMul. leave these nodes out of the "
        "path to the loss, or freeze the parameters before them.");
}

TEST(Refusals, OperatorsOfOtherDomainsAreNamedWithTheirDomain) {
    Network n;
    const ValueId x = n.input({3});
    EXPECT_EQ(
        n.refusal(n.add("quick", graph::Operator("QuickGelu", "com.microsoft"), {x})),
        "one node of the network cannot be differentiated: `quick` (com.microsoft.QuickGelu): there is no "
        "gradient rule for it. leave these nodes out of the path to the loss, or freeze the parameters "
        "before them.");
}

TEST(Refusals, ANodeBesideThePathIsNotRefused) {
    Network n;
    const ValueId x = n.input({2, 2});
    n.add("volume", "Det", {x});
    EXPECT_EQ(n.refusal(n.add("y", op::Exp, {x})), "none");
}

// Every operator of ONNX has a rule, or says why it has none.
TEST(Refusals, EveryOperatorHasARuleOrAReason) {
    std::vector<std::string_view> open, both;
    for (const graph::OperatorRow* row : graph::all_operators()) {
        if (!row->domain.empty()) continue;
        const graph::Operator op(row->name);
        const bool rule = find_rule(op) != nullptr, reason = find_no_gradient(op) != nullptr;
        if (!rule && !reason) open.push_back(row->name);
        if (rule && reason) both.push_back(row->name);
    }
    EXPECT_TRUE(open.empty()) << fmt::format("without a rule or a reason: {}", fmt::join(open, " "));
    EXPECT_TRUE(both.empty()) << fmt::format("with both: {}", fmt::join(both, " "));
}

}  // namespace
}  // namespace viridian::gradient
