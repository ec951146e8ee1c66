#include <algorithm>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

std::vector<Rule> collect() {
    std::vector<Rule> rules;
    for (std::vector<Rule> (*family)() :
         {unary_rules, arithmetic_rules, matrix_rules, convolution_rules, pooling_rules, softmax_rules,
          normalization_rules, local_normalization_rules, batch_norm_rules}) {
        std::vector<Rule> more = family();
        rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return rules;
}

// Operators without a rule, each with what is true of its gradient.
constexpr NoGradient without[] = {
    {"And", true, "it gives truth values"},
    {"ArgMax", true, "it gives indices"},
    {"ArgMin", true, "it gives indices"},
    {"BitShift", true, "it takes integers"},
    {"BitwiseAnd", true, "it takes integers"},
    {"BitwiseNot", true, "it takes integers"},
    {"BitwiseOr", true, "it takes integers"},
    {"BitwiseXor", true, "it takes integers"},
    {"Ceil", true, "its slope is 0 wherever it has one"},
    {"ConstantOfShape", true, "it reads a shape"},
    {"Equal", true, "it gives truth values"},
    {"EyeLike", true, "it reads a shape"},
    {"Floor", true, "its slope is 0 wherever it has one"},
    {"Greater", true, "it gives truth values"},
    {"GreaterOrEqual", true, "it gives truth values"},
    {"IsInf", true, "it gives truth values"},
    {"IsNaN", true, "it gives truth values"},
    {"Less", true, "it gives truth values"},
    {"LessOrEqual", true, "it gives truth values"},
    {"NonZero", true, "it gives indices"},
    {"Not", true, "it gives truth values"},
    {"OneHot", true, "it reads indices"},
    {"Or", true, "it gives truth values"},
    {"RandomNormalLike", true, "it reads a shape"},
    {"RandomUniformLike", true, "it reads a shape"},
    {"Range", true, "it gives positions"},
    {"Round", true, "its slope is 0 wherever it has one"},
    {"Shape", true, "it reads a shape"},
    {"Sign", true, "its slope is 0 wherever it has one"},
    {"Size", true, "it reads a shape"},
    {"Xor", true, "it gives truth values"},
    {"If", false, "the branch that runs is known only at run time"},
    {"Loop", false, "the number of iterations is known only at run time"},
    {"Scan", false, "gradients do not flow through its iterations yet"},
    {"LSTM", false, "gradients do not flow through recurrent layers yet"},
    {"GRU", false, "gradients do not flow through recurrent layers yet"},
    {"RNN", false, "gradients do not flow through recurrent layers yet"},
    {"QuantizeLinear", false, "its slope is 0, so nothing before it could learn"},
    {"DynamicQuantizeLinear", false, "its slope is 0, so nothing before it could learn"},
};

}  // namespace

const std::vector<Rule>& all_rules() {
    static const std::vector<Rule> rules = collect();
    return rules;
}

const Rule* find_rule(const graph::Operator& op) {
    const std::vector<Rule>& rules = all_rules();
    const auto found = std::ranges::find_if(rules, [&](const Rule& rule) { return op == rule.op; });
    return found == rules.end() ? nullptr : &*found;
}

const NoGradient* find_no_gradient(const graph::Operator& op) {
    if (!op.domain().empty()) return nullptr;
    const auto* found = std::ranges::find(without, op.name(), &NoGradient::op);
    return found == std::end(without) ? nullptr : found;
}

}  // namespace viridian::gradient
