// Arithmetic and selection with broadcasting: a gradient is summed over the axes along which its input was
// broadcast.
#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// Two inputs that broadcast both ways.
std::vector<Term> two_inputs(Instance& i, const Domain& a = {}, const Domain& b = {}) {
    const Dims whole = i.extents(i.extent(0, 4));
    return {i.input(i.broadcast_of(whole), a), i.input(i.broadcast_of(whole), b)};
}

auto binary_instance(graph::KnownOperator op, const Domain& a = {}, const Domain& b = {}) {
    return [=](Instance& i) { i.apply(op, two_inputs(i, a, b)); };
}

auto many_instance(graph::KnownOperator op, bool distinct) {
    return [=](Instance& i) {
        const Dims whole = i.extents(i.extent(1, 3));
        const std::int64_t count = i.extent(1, 4);
        Terms inputs;
        for (std::int64_t k = 0; k < count; ++k) {
            // Inputs that are drawn from grids a margin apart never come close to each other.
            const double low = -3 + 0.2 * static_cast<double>(k);
            inputs.push_back(
                i.input(i.broadcast_of(whole), {.low = low, .margin = 0.4, .distinct = distinct}));
        }
        if (distinct && i.coin()) inputs.push_back(inputs[0]);  // a tie that is smooth
        i.apply(op, inputs);
    };
}

// The gradient of every input of Sum or Mean.
Terms share(Site& s, double divisor) {
    Terms gradients;
    const Term g = divisor == 1 ? s.g() : s.g() / divisor;
    for (std::size_t i = 0; i < s.node().inputs.size(); ++i) gradients.push_back(reduce_to(g, s.x(i)));
    return gradients;
}

// The gradient of an extreme goes to the inputs that attain it, in equal parts.
Terms extreme(Site& s) {
    if (s.node().inputs.size() == 1) return {s.g()};
    const ElementType element = s.b.element(s.y());
    Terms attains;
    for (std::size_t i = 0; i < s.node().inputs.size(); ++i)
        attains.push_back(cast(equal(s.x(i), s.y()), element));
    const Term each = s.g() / s.b.add(op::Sum, attains);
    Terms gradients;
    for (std::size_t i = 0; i < attains.size(); ++i)
        gradients.push_back(reduce_to(each * attains[i], s.x(i)));
    return gradients;
}

Terms power(Site& s) {
    const Term x = s.x(0);
    const ElementType element = s.b.element(x);
    const Term exponent = cast(s.x(1), element);
    const Tensor* constant = s.b.constant(s.x(1));
    Term dx;
    if (s.wants(0)) {
        if (constant != nullptr && constant->count() == 1) {
            const double e = constant->number(0);
            if (e == 0) return {};
            dx = e == 1 ? s.g() : s.g() * (e == 2 ? x * 2 : s.b.add(op::Pow, {x, exponent - 1}) * e);
        } else {  // 0 · x^-1 is no number at x = 0, but the slope of x^0 is 0
            const Term zero = equal(exponent, s.b.number(0, exponent));
            const Term lower = where(zero, exponent, exponent - 1);
            dx = s.g() * (exponent * s.b.add(op::Pow, {x, lower}));
        }
        dx = reduce_to(dx, x);
    }
    if (!s.wants(1)) return {dx};
    const Term logarithm = where(x > 0, log(where(x > 0, x, 1)), 0);
    return {dx, reduce_to(s.g() * s.y() * logarithm, s.x(1))};
}

Terms clip(Site& s) {
    if (s.x(1) && s.x(2))
        return s.b.call(op::ClipGrad, {s.g(), s.x(0), s.x(1), s.x(2)}, {},
                        [](Builder& b, const Terms& in) -> Terms {
                            const Term above = b.add(op::GreaterOrEqual, {in[1], in[2]});
                            return {where(both(above, b.add(op::LessOrEqual, {in[1], in[3]})), in[0], 0)};
                        });
    Term within;
    if (s.x(1)) within = s.b.add(op::GreaterOrEqual, {s.x(0), s.x(1)});
    if (s.x(2)) {
        const Term below = s.b.add(op::LessOrEqual, {s.x(0), s.x(2)});
        within = within ? both(within, below) : below;
    }
    return {within ? where(within, s.g(), 0) : s.g()};
}

void clip_instance(Instance& i) {
    Terms inputs = {i.input(i.extents(3), {.kinks = {-1, 1.5}})};
    const auto bound = [&](double value) {
        return i.b.constant(Tensor::of<double>(ElementType::f64, {}, std::span(&value, 1)));
    };
    const std::int64_t which = i.extent(0, 2);
    inputs.push_back(which != 1 ? bound(-1) : Term{&i.b, ValueId::none});
    if (which != 0) inputs.push_back(bound(1.5));
    i.apply(op::Clip, inputs);
}

const Domain arithmetic_positive = {.low = 0.3, .high = 3};
const Domain arithmetic_not_zero = {.kinks = {0}, .margin = 0.3};

}  // namespace

std::vector<Rule> arithmetic_rules() {
    using enum Rule::Form;
    return {
        {op::Add, "da = g, db = g", multilinear,
         [](Site& s) -> Terms { return {reduce_to(s.g(), s.x(0)), reduce_to(s.g(), s.x(1))}; },
         binary_instance(op::Add)},
        {op::Sub, "da = g, db = -g", multilinear,
         [](Site& s) -> Terms {
             return {reduce_to(s.g(), s.x(0)), s.wants(1) ? -reduce_to(s.g(), s.x(1)) : Term()};
         },
         binary_instance(op::Sub)},
        {op::Mul, "da = g · b, db = g · a", multilinear,
         [](Site& s) -> Terms {
             return {s.wants(0) ? reduce_to(s.g() * s.x(1), s.x(0)) : Term(),
                     s.wants(1) ? reduce_to(s.g() * s.x(0), s.x(1)) : Term()};
         },
         binary_instance(op::Mul)},
        {op::Div, "da = g / b, db = -g · y / b", smooth,
         [](Site& s) -> Terms {
             const Term quotient = s.g() / s.x(1);
             return {reduce_to(quotient, s.x(0)), s.wants(1) ? -reduce_to(quotient * s.y(), s.x(1)) : Term()};
         },
         binary_instance(op::Div, {}, arithmetic_not_zero)},
        {op::Pow, "da = g · b · a^(b-1), db = g · y · ln a", smooth, power,
         [](Instance& i) {
             if (i.coin()) return void(i.apply(op::Pow, two_inputs(i, arithmetic_positive, {.low = -1})));
             const double exponent = i.pick({-1.0, 0.0, 0.5, 1.0, 2.0, 3.0});
             i.apply(op::Pow,
                     {i.input(i.extents(3), arithmetic_positive),
                      i.b.constant(Tensor::of<double>(ElementType::f64, {}, std::span(&exponent, 1)))});
         }},
        {op::Sum, "every input gets g", multilinear, [](Site& s) { return share(s, 1); },
         many_instance(op::Sum, false)},
        {op::Mean, "every input gets g / n", multilinear,
         [](Site& s) { return share(s, static_cast<double>(s.node().inputs.size())); },
         many_instance(op::Mean, false)},
        {op::Max, "the largest inputs share g", piecewise, extreme, many_instance(op::Max, true)},
        {op::Min, "the smallest inputs share g", piecewise, extreme, many_instance(op::Min, true)},
        {op::Where, "da = g where c, db = g elsewhere", multilinear,
         [](Site& s) -> Terms {
             const Term zero = s.b.number(0, s.g());
             return {Term(), s.wants(1) ? reduce_to(where(s.x(0), s.g(), zero), s.x(1)) : Term(),
                     s.wants(2) ? reduce_to(where(s.x(0), zero, s.g()), s.x(2)) : Term()};
         },
         [](Instance& i) {
             const Dims whole = i.extents(3);
             i.apply(op::Where, {i.truths(i.broadcast_of(whole)), i.input(i.broadcast_of(whole)),
                                 i.input(i.broadcast_of(whole))});
         }},
        {op::Clip, "dx = g where x is within the bounds", piecewise, clip, clip_instance},
    };
}

}  // namespace viridian::gradient
