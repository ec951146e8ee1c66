// Activation functions, by their formulas in the ONNX operator documents.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "viridian/graph/operators/elementwise.hpp"
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

constexpr OperatorRow rows[] = {
    unary_row("Relu", NumericSafety::clear, relu),
    unary_row("Sigmoid", NumericSafety::infer, [](double x) { return sigmoid(x); }),
    unary_row("Tanh", NumericSafety::infer, [](double x) { return std::tanh(x); }),
    unary_row("Gelu", NumericSafety::infer, Gelu{}),
    unary_row("Softplus", NumericSafety::infer, [](double x) { return softplus(x); }),
    unary_row("Softsign", NumericSafety::infer, [](double x) { return x / (1 + std::abs(x)); }),
    unary_row("Elu", NumericSafety::infer, Elu{}),
    unary_row("Selu", NumericSafety::infer, Selu{}),
    unary_row("Celu", NumericSafety::infer, Celu{}),
    unary_row("HardSigmoid", NumericSafety::infer, HardSigmoid{}),
    unary_row("HardSwish", NumericSafety::infer, hard_swish),
    unary_row("Mish", NumericSafety::infer, [](double x) { return x * std::tanh(softplus(x)); }),
    unary_row("LeakyRelu", NumericSafety::infer, LeakyRelu{}),
    unary_row("ThresholdedRelu", NumericSafety::clear, ThresholdedRelu{}),
    unary_row("Shrink", NumericSafety::infer, Shrink{}),
    unary_row("Swish", NumericSafety::infer, Swish{}),
};

}  // namespace

std::span<const OperatorRow> activation_operators() { return rows; }

}  // namespace viridian::graph
