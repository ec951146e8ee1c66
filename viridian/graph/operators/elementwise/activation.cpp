// Activation functions, by their formulas in the ONNX operator documents.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/elementwise/elementwise.hpp"
#include "viridian/graph/operators/families.hpp"

namespace viridian::graph {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

struct Elu {
    auto operator()(const Node& node) const {
        return [alpha = node.get("alpha", 1.0)](double x) { return x < 0 ? alpha * std::expm1(x) : x; };
    }
};
struct Selu {
    auto operator()(const Node& node) const {
        return [alpha = node.get("alpha", 1.67326319217681884765625),
                gamma = node.get("gamma", 1.05070102214813232421875)](double x) {
            return gamma * (x > 0 ? x : alpha * std::expm1(x));
        };
    }
};
struct Celu {
    auto operator()(const Node& node) const {
        return [alpha = node.get("alpha", 1.0)](double x) {
            if (x != x) return x;
            return std::max(0.0, x) + std::min(0.0, alpha * std::expm1(x / alpha));
        };
    }
};
struct LeakyRelu {
    auto operator()(const Node& node) const {
        return [alpha = node.get("alpha", 0.01)](double x) { return x < 0 ? alpha * x : x; };
    }
};
struct ThresholdedRelu {
    auto operator()(const Node& node) const {
        return [alpha = node.get("alpha", 1.0)](double x) { return x > alpha ? x : 0; };
    }
};
struct HardSigmoid {
    auto operator()(const Node& node) const {
        return [alpha = node.get("alpha", 0.2), beta = node.get("beta", 0.5)](double x) {
            return std::clamp(alpha * x + beta, 0.0, 1.0);
        };
    }
};
struct Swish {
    auto operator()(const Node& node) const {
        return [alpha = node.get("alpha", 1.0)](double x) { return x * sigmoid(alpha * x); };
    }
};
struct Shrink {
    auto operator()(const Node& node) const {
        return [lambda = node.get("lambd", 0.5), bias = node.get("bias", 0.0)](double x) {
            return x < -lambda ? x + bias : x > lambda ? x - bias : 0;
        };
    }
};
struct Gelu {
    auto operator()(const Node& node) const {
        return [tanh = node.get("approximate", std::string("none")) == "tanh"](double x) {
            if (tanh)
                return 0.5 * x *
                       (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
            return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
        };
    }
};

constexpr auto relu = [](auto x) -> decltype(x) { return x > 0 ? x : x == x ? 0 : x; };  // NaN stays
constexpr auto hard_swish = [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); };

constexpr OperatorFacts bf16_since_22 = {.sets = {.bf16 = 22}};

}  // namespace

std::span<const OperatorRow> activation_operators() {
    static constexpr OperatorRow rows[] = {
        unary_row("Relu", precision::only_moves, relu, {.non_decreasing = true}),
        unary_row("Sigmoid", precision::rounds_once, [](double x) { return sigmoid(x); },
                  {.non_decreasing = true}),
        unary_row("Tanh", precision::rounds_once, [](double x) { return std::tanh(x); },
                  {.non_decreasing = true}),
        unary_row("Gelu", precision::rounds_once, Gelu{}, {.sets = {.any = 20}}),
        unary_row(
            "Softplus", precision::rounds_once, [](double x) { return softplus(x); }, bf16_since_22),
        unary_row(
            "Softsign", precision::rounds_once, [](double x) { return x / (1 + std::abs(x)); },
            bf16_since_22),
        unary_row("Elu", precision::rounds_once, Elu{}, bf16_since_22),
        unary_row("Selu", precision::rounds_once, Selu{}, bf16_since_22),
        unary_row("Celu", precision::rounds_once, Celu{}, {.sets = {.bf16 = no_operator_set}}),
        unary_row("HardSigmoid", precision::rounds_once, HardSigmoid{}, bf16_since_22),
        unary_row("HardSwish", precision::rounds_once, hard_swish, bf16_since_22),
        unary_row("Mish", precision::rounds_once, [](double x) { return x * std::tanh(softplus(x)); },
                  {.sets = {.any = 18}}),
        unary_row("LeakyRelu", precision::rounds_once, LeakyRelu{}, {.non_decreasing = true}),
        unary_row("ThresholdedRelu", precision::only_moves, ThresholdedRelu{}, bf16_since_22),
        unary_row("Shrink", precision::unlisted, Shrink{}),
        unary_row("Swish", precision::rounds_once, Swish{}),
    };
    return rows;
}

}  // namespace viridian::graph
