// Activation functions: element by element, with parameters. At a kink the slope is the one that PyTorch
// takes; the condition in the equation says which one that is.
#include <numbers>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// Draws the value of an attribute. The first choice is its default, which is left out.
double draw_setting(Instance& i, Attributes& attributes, const char* key,
                    std::initializer_list<double> choices) {
    const double value = i.pick(choices);
    if (value != *choices.begin()) attributes[key] = value;
    return value;
}

void activate(Instance& i, graph::KnownOperator op, const Attributes& attributes,
              std::vector<double> kinks = {}) {
    const Domain domain = {.low = -4, .high = 4, .kinks = std::move(kinks)};
    i.apply(op, {i.input(i.extents(i.extent(0, 4)), domain)}, attributes);
}

// One operator, so that one kernel reads g and y once, in whatever layout they have.
Terms relu(Site& s) {
    return s.b.call(op::ReluGrad, {s.g(), s.y()}, {},
                    [](Builder&, const Terms& in) -> Terms { return {where(in[1] > 0, in[0], 0)}; });
}

Terms leaky_relu(Site& s) { return {where(s.x() > 0, s.g(), s.g() * s.real("alpha", 0.01))}; }

Terms p_relu(Site& s) {
    const Term positive = s.x(0) > 0;
    Term dx, slope;
    if (s.wants(0)) dx = reduce_to(where(positive, s.g(), s.g() * s.x(1)), s.x(0));
    if (s.wants(1)) slope = reduce_to(where(positive, s.b.number(0, s.g()), s.g() * s.x(0)), s.x(1));
    return {dx, slope};
}

Terms elu(Site& s) { return {s.g() * where(s.x() > 0, s.b.number(1, s.g()), s.y() + s.real("alpha", 1))}; }

Terms celu(Site& s) {
    return {s.g() * where(s.x() > 0, s.b.number(1, s.g()), s.y() / s.real("alpha", 1) + 1)};
}

Terms selu(Site& s) {
    const double alpha = s.real("alpha", 1.67326319217681884765625);
    const double gamma = s.real("gamma", 1.05070102214813232421875);
    return {s.g() * where(s.x() > 0, s.b.number(gamma, s.g()), s.y() + alpha * gamma)};
}

Terms hard_sigmoid(Site& s) { return {where(both(s.y() > 0, s.y() < 1), s.g() * s.real("alpha", 0.2), 0)}; }

void hard_sigmoid_instance(Instance& i) {
    Attributes a;
    const double alpha = draw_setting(i, a, "alpha", {0.2, 0.5, -0.4});
    const double beta = draw_setting(i, a, "beta", {0.5, 0.2});
    activate(i, op::HardSigmoid, a, {-beta / alpha, (1 - beta) / alpha});
}

// d/dx x·Φ(x) = Φ(x) + x·φ(x), with the normal distribution Φ and its density φ.
Term gelu_slope(Term x) {
    const Term below = (apply(op::Erf, x * (1 / std::numbers::sqrt2)) + 1) * 0.5;
    const Term density = exp(square(x) * -0.5) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    return below + x * density;
}

// d/dx x/2·(1 + tanh u) with u = c·(x + 0.044715·x³).
Term tanh_gelu_slope(Term x) {
    const double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    const Term x2 = square(x);
    const Term t = apply(op::Tanh, x * (x2 * (0.044715 * c) + c));
    const Term du = x2 * (3 * 0.044715 * c) + c;
    return ((t + 1) + x * ((1 - square(t)) * du)) * 0.5;
}

Terms gelu(Site& s) {
    const bool tanh = s.node().get("approximate", std::string("none")) == "tanh";
    return s.b.call(op::GeluGrad, {s.g(), s.x()},
                    tanh ? Attributes{{"approximate", std::string("tanh")}} : Attributes(),
                    [tanh](Builder&, const Terms& in) -> Terms {
                        return {in[0] * (tanh ? tanh_gelu_slope(in[1]) : gelu_slope(in[1]))};
                    });
}

Terms softsign(Site& s) { return {s.g() / square(apply(op::Abs, s.x()) + 1)}; }

Terms hard_swish(Site& s) {
    const Term middle = s.g() * (s.x() * (1.0 / 3) + 0.5);
    return {where(s.x() > -3, where(s.x() < 3, middle, s.g()), 0)};
}

Terms mish(Site& s) {
    const Term t = apply(op::Tanh, apply(op::Softplus, s.x()));
    return {s.g() * (t + s.x() * ((1 - square(t)) * apply(op::Sigmoid, s.x())))};
}

Terms swish(Site& s) {
    const double alpha = s.real("alpha", 1);
    const Term sigmoid = apply(op::Sigmoid, s.x() * alpha);
    return {s.g() * (sigmoid + (s.y() * alpha) * (1 - sigmoid))};
}

Terms shrink(Site& s) { return {where(apply(op::Abs, s.x()) > s.real("lambd", 0.5), s.g(), 0)}; }

void shrink_instance(Instance& i) {
    Attributes a;
    const double lambda = draw_setting(i, a, "lambd", {0.5, 1, 1.5});
    draw_setting(i, a, "bias", {0, 0.5, 1.5});
    activate(i, op::Shrink, a, {-lambda, lambda});
}

}  // namespace

std::vector<Rule> activation_rules() {
    using enum Rule::Form;
    // The instance of an operator whose attribute is `alpha`, with a kink at 0.
    const auto with_alpha = [](graph::KnownOperator op, std::initializer_list<double> choices) {
        return [op, choices = std::vector<double>(choices)](Instance& i) {
            Attributes a;
            draw_setting(i, a, "alpha", {choices[0], choices[1], choices[2]});
            activate(i, op, a, {0});
        };
    };
    const auto plain = [](graph::KnownOperator op, std::vector<double> kinks) {
        return [op, kinks = std::move(kinks)](Instance& i) { activate(i, op, {}, kinks); };
    };
    return {
        {op::Relu, "dx = g where y > 0, 0 elsewhere", piecewise, relu, plain(op::Relu, {0})},
        {op::LeakyRelu, "dx = g where x > 0, α·g elsewhere", piecewise, leaky_relu,
         with_alpha(op::LeakyRelu, {0.01, 0.3, -0.5})},
        {op::PRelu, "dx = g where x > 0, slope·g elsewhere; dslope = x·g where x <= 0", piecewise, p_relu,
         [](Instance& i) {
             const Dims dims = i.extents(i.extent(1, 4));
             i.apply(op::PRelu, {i.input(dims, {.kinks = {0}}), i.input(i.broadcast_of(dims))});
         }},
        {op::Elu, "dx = g where x > 0, g · (y + α) elsewhere", piecewise, elu,
         with_alpha(op::Elu, {1, 0.5, 1.5})},
        {op::Celu, "dx = g where x > 0, g · (y/α + 1) elsewhere", piecewise, celu,
         with_alpha(op::Celu, {1, 0.5, 1.5})},
        {op::Selu, "dx = γ·g where x > 0, g · (y + γ·α) elsewhere", piecewise, selu,
         [](Instance& i) {
             Attributes a;
             draw_setting(i, a, "alpha", {1.67326319217681884765625, 0.5});
             draw_setting(i, a, "gamma", {1.05070102214813232421875, 2});
             activate(i, op::Selu, a, {0});
         }},
        {op::HardSigmoid, "dx = α·g where 0 < y < 1, 0 elsewhere", piecewise, hard_sigmoid,
         hard_sigmoid_instance},
        {op::Gelu, "dx = g · (Φ(x) + x·φ(x)), or with Φ's approximation by tanh", smooth, gelu,
         [](Instance& i) {
             activate(i, op::Gelu, {{"approximate", i.pick<std::string>({"none", "tanh"})}});
         }},
        {op::Softplus, "dx = g · sigmoid(x)", smooth,
         [](Site& s) -> Terms { return {s.g() * apply(op::Sigmoid, s.x())}; }, plain(op::Softplus, {})},
        {op::Softsign, "dx = g / (1 + |x|)²", piecewise, softsign, plain(op::Softsign, {0})},
        {op::HardSwish, "dx = g · (x/3 + 1/2) where -3 < x < 3, g above, 0 below", piecewise, hard_swish,
         plain(op::HardSwish, {-3, 3})},
        {op::Mish, "dx = g · (t + x · (1 - t²) · sigmoid(x)), t = tanh(softplus(x))", smooth, mish,
         plain(op::Mish, {})},
        {op::Swish, "dx = g · (s + α·y · (1 - s)), s = sigmoid(α·x)", smooth, swish,
         with_alpha(op::Swish, {1, 0.5, 1.7})},
        {op::ThresholdedRelu, "dx = g where x > α, 0 elsewhere", piecewise,
         [](Site& s) -> Terms { return {where(s.x() > s.real("alpha", 1), s.g(), 0)}; },
         [](Instance& i) {
             Attributes a;
             const double alpha = draw_setting(i, a, "alpha", {1, 0, 2.5});
             activate(i, op::ThresholdedRelu, a, {alpha});
         }},
        {op::Shrink, "dx = g where |x| > λ, 0 elsewhere", piecewise, shrink, shrink_instance},
    };
}

}  // namespace viridian::gradient
