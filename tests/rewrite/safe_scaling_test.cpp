// Which constants rules may move, and which weights take them: the bounds of every type and role.
#include "viridian/rewrite/safe_scaling.hpp"

#include <gtest/gtest.h>

#include "viridian/rewrite/certify/random_graph.hpp"

namespace viridian::rewrite {
namespace {

// One graph of constants, and the editor that reads it.
class SafeScaling : public testing::Test {
  protected:
    ValueId number(double value, ElementType type = ElementType::f32) {
        RandomGraph g(random_, type);
        const ValueId made = g.filled({}, value);
        return graph_.add_constant("c", *g.graph.constant(made));
    }
    [[nodiscard]] bool safe(ValueId value, Role role) const {
        const graph::Uses uses = graph::uses(graph_);
        return is_safe_constant(Editor(graph_, uses), value, role);
    }
    [[nodiscard]] bool in_range(ValueId value, Role role) const {
        const graph::Uses uses = graph::uses(graph_);
        return keeps_range(Editor(graph_, uses), value, role);
    }
    [[nodiscard]] bool folds(double weight, double factor, Role role, ElementType type = ElementType::f32) {
        const ValueId w = number(weight, type), c = number(factor, type);
        const graph::Uses uses = graph::uses(graph_);
        return fold_keeps_normals(Editor(graph_, uses), w, c, role);
    }

    Random random_{1};
    Graph graph_;
};

TEST_F(SafeScaling, SecondOperandsHaveTheRoleOfTheirOperator) {
    const std::pair<const char*, Role> roles[] = {
        {"Add", Role::term}, {"Sub", Role::term}, {"Mul", Role::factor}, {"Div", Role::divisor}};
    for (const auto& [op, role] : roles) {
        Node node;
        node.op = op;
        EXPECT_EQ(role_of(node), role) << op;
    }
}

TEST_F(SafeScaling, FactorsDivisorsAndTermsHaveBounds) {
    EXPECT_TRUE(safe(number(-0x1p40), Role::factor));
    EXPECT_FALSE(safe(number(0x1p41), Role::factor));
    EXPECT_FALSE(safe(number(0x1p-41), Role::factor));
    EXPECT_TRUE(safe(number(0), Role::factor));
    EXPECT_FALSE(safe(number(0), Role::divisor));
    EXPECT_TRUE(safe(number(-2048), Role::term));
    EXPECT_FALSE(safe(number(2049), Role::term));
    EXPECT_TRUE(safe(number(0x1p-100), Role::term));
}

TEST_F(SafeScaling, SixteenBitsHaveNarrowerBounds) {
    EXPECT_TRUE(safe(number(128, ElementType::f16), Role::factor));
    EXPECT_FALSE(safe(number(256, ElementType::f16), Role::factor));
    EXPECT_TRUE(safe(number(8, ElementType::f16), Role::term));
    EXPECT_FALSE(safe(number(9, ElementType::f16), Role::term));
}

TEST_F(SafeScaling, IntegersAreNeverMovedButBoundNothing) {
    const ValueId two = number(2, ElementType::i64);
    EXPECT_FALSE(safe(two, Role::factor));
    EXPECT_TRUE(in_range(two, Role::factor));
}

TEST_F(SafeScaling, OnlyConstantsCanLeaveTheRange) {
    const ValueId x = graph_.add_input("x", {ElementType::f32, graph::shape_of({2})});
    EXPECT_TRUE(in_range(x, Role::factor));
    EXPECT_FALSE(safe(x, Role::factor)) << "it is no constant";
    EXPECT_FALSE(in_range(number(0x1p41), Role::factor));
}

TEST_F(SafeScaling, FoldedWeightsStayFiniteAndNormal) {
    EXPECT_TRUE(folds(0x1p-100, 0x1p-20, Role::factor));
    EXPECT_FALSE(folds(0x1p-100, 0x1p-30, Role::factor)) << "2^-130 is denormal";
    EXPECT_FALSE(folds(0x1p120, 0x1p10, Role::factor)) << "2^130 overflows";
    EXPECT_TRUE(folds(0x1p120, 0x1p10, Role::divisor));
    EXPECT_FALSE(folds(0x1p-120, 0x1p10, Role::divisor));
    EXPECT_TRUE(folds(0, 0x1p40, Role::factor));
    EXPECT_FALSE(folds(1, 0x1p41, Role::factor)) << "the factor itself is not safe";
    EXPECT_TRUE(folds(0x1p-10, 0x1p2, Role::factor, ElementType::f16));
    EXPECT_FALSE(folds(0x1p-10, 0x1p-7, Role::factor, ElementType::f16));
}

}  // namespace
}  // namespace viridian::rewrite
