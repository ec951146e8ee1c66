#include <algorithm>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

std::vector<Rule> collect() {
    std::vector<Rule> rules;
    constexpr std::vector<Rule> (*families[])() = {
        unary_rules,      arithmetic_rules, matrix_rules,        convolution_rules,
        pooling_rules,    softmax_rules,    normalization_rules, local_normalization_rules,
        batch_norm_rules, activation_rules, movement_rules,      padding_rules,
        gather_rules,     reduction_rules,  loss_rules,          dropout_rules,
        rotary_rules};
    for (const auto family : families) {
        std::vector<Rule> more = family();
        rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    return rules;
}

// Operators without a rule, each with what is true of its gradient.
constexpr std::string_view truth_values = "it gives truth values", gives_indices = "it gives indices",
                           integers_only = "it takes integers", shape_only = "it reads a shape",
                           drawn = "it draws numbers", no_slope = "its slope is 0 wherever it has one",
                           nothing_learns = "its slope is 0, so nothing before it could learn";
constexpr NoGradient without[] = {
    {"And", true, truth_values},
    {"ArgMax", true, gives_indices},
    {"ArgMin", true, gives_indices},
    {"Bernoulli", true, drawn},
    {"BitShift", true, integers_only},
    {"BitwiseAnd", true, integers_only},
    {"BitwiseNot", true, integers_only},
    {"BitwiseOr", true, integers_only},
    {"BitwiseXor", true, integers_only},
    {"BlackmanWindow", true, "it reads a size"},
    {"Ceil", true, no_slope},
    {"Constant", true, "it reads nothing"},
    {"ConstantOfShape", true, shape_only},
    {"ConvInteger", true, integers_only},
    {"Equal", true, truth_values},
    {"EyeLike", true, shape_only},
    {"Floor", true, no_slope},
    {"Greater", true, truth_values},
    {"GreaterOrEqual", true, truth_values},
    {"HammingWindow", true, "it reads a size"},
    {"HannWindow", true, "it reads a size"},
    {"Hardmax", true, no_slope},
    {"IsInf", true, truth_values},
    {"IsNaN", true, truth_values},
    {"Less", true, truth_values},
    {"LessOrEqual", true, truth_values},
    {"MatMulInteger", true, integers_only},
    {"MelWeightMatrix", true, "it reads sizes and frequencies"},
    {"Multinomial", true, drawn},
    {"NonMaxSuppression", true, gives_indices},
    {"NonZero", true, gives_indices},
    {"Not", true, truth_values},
    {"Or", true, truth_values},
    {"RandomNormal", true, drawn},
    {"RandomNormalLike", true, shape_only},
    {"RandomUniform", true, drawn},
    {"RandomUniformLike", true, shape_only},
    {"Range", true, "it gives positions"},
    {"Round", true, no_slope},
    {"Shape", true, shape_only},
    {"Sign", true, no_slope},
    {"Size", true, shape_only},
    {"Xor", true, truth_values},
    {"AffineGrid", false, "gradients do not flow to its transformation yet"},
    {"Attention", false,
     "gradients flow through attention only where it is written as MatMul, Softmax and MatMul"},
    {"BitCast", false, "the bits of a number have no slope"},
    {"CausalConvWithState", false, "gradients do not flow through recurrent layers yet"},
    {"Col2Im", false, "gradients do not flow through folded columns yet"},
    {"Compress", false, "how much it keeps is known only at run time"},
    {"CumProd", false, "gradients do not flow through cumulative products yet"},
    {"DFT", false, "gradients do not flow through Fourier transforms yet"},
    {"DeformConv", false, "gradients do not flow through windows with offsets yet"},
    {"DequantizeLinear", false, "gradients do not flow to its scales yet"},
    {"Det", false, "gradients do not flow through determinants yet"},
    {"DynamicQuantizeLinear", false, nothing_learns},
    {"GRU", false, "gradients do not flow through recurrent layers yet"},
    {"GridSample", false, "gradients do not flow through sampled positions yet"},
    {"If", false, "the branch that runs is known only at run time"},
    {"LSTM", false, "gradients do not flow through recurrent layers yet"},
    {"LinearAttention", false, "gradients do not flow through recurrent layers yet"},
    {"Loop", false, "the number of iterations is known only at run time"},
    {"MaxRoiPool", false, "gradients do not flow through regions of interest yet"},
    {"MaxUnpool", false, "gradients do not flow through unpooling yet"},
    {"Mod", false, "gradients do not flow through remainders yet"},
    {"QLinearConv", false, "gradients do not flow to its scales"},
    {"QLinearMatMul", false, "gradients do not flow to its scales"},
    {"QuantizeLinear", false, nothing_learns},
    {"RNN", false, "gradients do not flow through recurrent layers yet"},
    {"Resize", false, "gradients do not flow through interpolation yet"},
    {"RoiAlign", false, "gradients do not flow through regions of interest yet"},
    {"STFT", false, "gradients do not flow through Fourier transforms yet"},
    {"Scan", false, "gradients do not flow through its iterations yet"},
    {"Scatter", false, "ScatterElements replaced it"},
    {"TensorScatter", false, "gradients do not flow through key and value caches"},
    {"Unique", false, "which elements are equal is known only at run time"},
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
