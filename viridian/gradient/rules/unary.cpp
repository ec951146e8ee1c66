// Functions of one number (ONNX operators of one input that work element by element, without parameters).
#include <numbers>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// A graph of the operator alone, on a tensor of up to four axes.
auto unary_instance(graph::KnownOperator op, Domain domain = {}) {
    return [=](Instance& i) { i.apply(op, {i.input(i.extents(i.extent(0, 4)), domain)}); };
}

Rule unary(graph::KnownOperator op, std::string_view equation, Terms (*apply)(Site&), Domain domain = {},
           Rule::Form form = Rule::Form::smooth) {
    return {.op = op,
            .equation = equation,
            .form = form,
            .apply = apply,
            .instance = unary_instance(op, std::move(domain))};
}

const Domain positive = {.low = 0.3, .high = 3};
const Domain inside_one = {.low = -0.8, .high = 0.8};
const Domain above_one = {.low = 1.3, .high = 3};
const Domain not_zero = {.kinks = {0}, .margin = 0.3};

}  // namespace

std::vector<Rule> unary_rules() {
    return {
        unary(
            op::Identity, "dx = g", [](Site& s) -> Terms { return {s.g()}; }, {}, Rule::Form::multilinear),
        unary(
            op::Neg, "dx = -g", [](Site& s) -> Terms { return {-s.g()}; }, {}, Rule::Form::multilinear),
        unary(
            op::Abs, "dx = g · sign(x)",
            [](Site& s) -> Terms { return {s.g() * viridian::gradient::apply(op::Sign, s.x())}; }, not_zero,
            Rule::Form::piecewise),
        unary(op::Exp, "dx = g · y", [](Site& s) -> Terms { return {s.g() * s.y()}; }),
        unary(
            op::Log, "dx = g / x", [](Site& s) -> Terms { return {s.g() / s.x()}; }, positive),
        unary(
            op::Sqrt, "dx = g / 2y", [](Site& s) -> Terms { return {s.g() / (2.0 * s.y())}; }, positive),
        unary(
            op::Reciprocal, "dx = -g · y²", [](Site& s) -> Terms { return {-(s.g() * square(s.y()))}; },
            positive),
        unary(
            op::Erf, "dx = g · 2/√π · exp(-x²)",
            [](Site& s) -> Terms { return {s.g() * (2 * std::numbers::inv_sqrtpi * exp(-square(s.x())))}; }),
        unary(op::Sin, "dx = g · cos x",
              [](Site& s) -> Terms { return {s.g() * viridian::gradient::apply(op::Cos, s.x())}; }),
        unary(op::Cos, "dx = -g · sin x",
              [](Site& s) -> Terms { return {-(s.g() * viridian::gradient::apply(op::Sin, s.x()))}; }),
        unary(
            op::Tan, "dx = g · (1 + y²)", [](Site& s) -> Terms { return {s.g() * (square(s.y()) + 1)}; },
            inside_one),
        unary(op::Sinh, "dx = g · cosh x",
              [](Site& s) -> Terms { return {s.g() * viridian::gradient::apply(op::Cosh, s.x())}; }),
        unary(op::Cosh, "dx = g · sinh x",
              [](Site& s) -> Terms { return {s.g() * viridian::gradient::apply(op::Sinh, s.x())}; }),
        unary(op::Tanh, "dx = g · (1 - y²)", [](Site& s) -> Terms { return {s.g() * (1 - square(s.y()))}; }),
        unary(
            op::Asin, "dx = g / √(1 - x²)",
            [](Site& s) -> Terms { return {s.g() / sqrt(1 - square(s.x()))}; }, inside_one),
        unary(
            op::Acos, "dx = -g / √(1 - x²)",
            [](Site& s) -> Terms { return {-(s.g() / sqrt(1 - square(s.x())))}; }, inside_one),
        unary(op::Atan, "dx = g / (1 + x²)", [](Site& s) -> Terms { return {s.g() / (square(s.x()) + 1)}; }),
        unary(op::Asinh, "dx = g / √(x² + 1)",
              [](Site& s) -> Terms { return {s.g() / sqrt(square(s.x()) + 1)}; }),
        unary(
            op::Acosh, "dx = g / √(x² - 1)",
            [](Site& s) -> Terms { return {s.g() / sqrt(square(s.x()) - 1)}; }, above_one),
        unary(
            op::Atanh, "dx = g / (1 - x²)", [](Site& s) -> Terms { return {s.g() / (1 - square(s.x()))}; },
            inside_one),
        unary(op::Sigmoid, "dx = g · y · (1 - y)",
              [](Site& s) -> Terms { return {s.g() * (s.y() * (1 - s.y()))}; }),
        {.op = op::Cast,
         .equation = "dx = g in x's type",
         .form = Rule::Form::multilinear,
         .apply = [](Site& s) -> Terms { return {cast(s.g(), s.b.element(s.x()))}; },
         .instance =
             [](Instance& i) {
                 i.apply(op::Cast, {i.input(i.extents(3))}, {{"to", graph::onnx_code_of(ElementType::f32)}});
             }},
    };
}

}  // namespace viridian::gradient
