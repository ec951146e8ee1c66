#include "viridian/gradient/optimizer.hpp"

#include <algorithm>
#include <numeric>

namespace viridian::gradient {
namespace {

constexpr std::pair<OptimizerKind, std::string_view> optimizer_names[] = {
    {OptimizerKind::none, "none"},   {OptimizerKind::sgd, "sgd"},   {OptimizerKind::adam, "adam"},
    {OptimizerKind::adamw, "adamw"}, {OptimizerKind::lamb, "lamb"}, {OptimizerKind::rmsprop, "rmsprop"},
};

constexpr graph::KnownOperator private_operator(OptimizerKind kind) {
    switch (kind) {
        case OptimizerKind::adam:
            return graph::KnownOperator("Adam", "viridian");
        case OptimizerKind::adamw:
            return graph::KnownOperator("AdamW", "viridian");
        case OptimizerKind::lamb:
            return graph::KnownOperator("Lamb", "viridian");
        case OptimizerKind::rmsprop:
            return graph::KnownOperator("RmsProp", "viridian");
        default:
            return graph::KnownOperator("Sgd", "viridian");
    }
}

// What an optimiser's equations are written with.
struct Inputs {
    Term w, g, rate, count;  // count: steps before this one
    std::vector<Term> m;
    double decay;
};
using Outputs = std::vector<Term>;  // the parameter, then the moments

Outputs sgd(const OptimizerOptions& o, const Inputs& in) {
    const Term g = in.decay == 0 ? in.g : in.g + in.w * in.decay;
    if (o.momentum == 0) return {in.w - in.rate * g};
    const Term velocity = in.m[0] * o.momentum + g;
    return {in.w - in.rate * (o.nesterov ? g + velocity * o.momentum : velocity), velocity};
}

// The first and second moment. An update is scale · first / deviation, where scale = 1/(1 - β₁ᵗ) is a single
// number, and deviation = √(second/(1 - β₂ᵗ)) + ε. Both correct the bias of the moments toward their initial
// zeros.
struct Moments {
    Term first, second, scale, deviation;
};
Moments moments(const OptimizerOptions& o, const Inputs& in, Term g) {
    // 1 - βᵗ in double: in single precision it would lose most of its digits in the first steps.
    const Term t = cast(in.count, ElementType::f64) + 1;
    const Term first = in.m[0] * o.beta1 + g * (1 - o.beta1);
    const Term second = in.m[1] * o.beta2 + square(g) * (1 - o.beta2);
    Builder& b = *g.builder;
    // A tensor is multiplied by the reciprocal of 1 - βᵗ, because dividing every element takes longer.
    const auto correction = [&](double beta) {
        return cast(1 / (1 - b.add(op::Pow, {b.number(beta, t), t})), b.element(g));
    };
    return {first, second, correction(o.beta1), sqrt(second * correction(o.beta2)) + o.epsilon};
}

Outputs adam(const OptimizerOptions& o, const Inputs& in) {
    const Moments m = moments(o, in, in.decay == 0 ? in.g : in.g + in.w * in.decay);
    return {in.w - in.rate * m.scale * m.first / m.deviation, m.first, m.second};
}

Outputs adamw(const OptimizerOptions& o, const Inputs& in) {
    const Moments m = moments(o, in, in.g);
    const Term kept = in.decay == 0 ? in.w : in.w - in.w * (in.rate * in.decay);
    return {kept - in.rate * m.scale * m.first / m.deviation, m.first, m.second};
}

Term length(Term x) {
    Dims axes(x.builder->dims(x).size());
    std::iota(axes.begin(), axes.end(), 0);
    return sqrt(sum(square(x), axes, false));
}

Outputs lamb(const OptimizerOptions& o, const Inputs& in) {
    const Moments m = moments(o, in, in.g);
    Term direction = m.scale * m.first / m.deviation;
    if (in.decay != 0) direction = direction + in.w * in.decay;
    const Term own = length(in.w), step = length(direction);
    const Term trust = where(both(own > 0, step > 0), own / where(step > 0, step, 1), 1);
    return {in.w - in.rate * trust * direction, m.first, m.second};
}

Outputs rmsprop(const OptimizerOptions& o, const Inputs& in) {
    const Term g = in.decay == 0 ? in.g : in.g + in.w * in.decay;
    const Term square_mean = in.m[0] * o.alpha + square(g) * (1 - o.alpha);
    const Term step = g / (sqrt(square_mean) + o.epsilon);
    if (o.momentum == 0) return {in.w - in.rate * step, square_mean};
    const Term velocity = in.m[1] * o.momentum + step;
    return {in.w - in.rate * velocity, square_mean, velocity};
}

Outputs equations(const OptimizerOptions& o, const Inputs& in) {
    switch (o.kind) {
        case OptimizerKind::adam:
            return adam(o, in);
        case OptimizerKind::adamw:
            return adamw(o, in);
        case OptimizerKind::lamb:
            return lamb(o, in);
        case OptimizerKind::rmsprop:
            return rmsprop(o, in);
        default:
            return sgd(o, in);
    }
}

}  // namespace

std::string_view name_of(OptimizerKind kind) {
    return std::ranges::find(optimizer_names, kind, &std::pair<OptimizerKind, std::string_view>::first)
        ->second;
}

Result<OptimizerKind> parse_optimizer(std::string_view name) {
    std::vector<std::string_view> all;
    for (const auto& [kind, text] : optimizer_names) {
        if (text == name) return kind;
        all.push_back(text);
    }
    return fail(ErrorCode::invalid_argument, fmt::format("choose one of {}", fmt::join(all, ", ")),
                "there is no optimiser `{}`", name);
}

std::vector<std::string> moments_of(const OptimizerOptions& options) {
    const std::size_t extra = options.momentum == 0 ? 0 : 1;
    std::size_t count = 2;
    if (options.kind == OptimizerKind::none) count = 0;
    if (options.kind == OptimizerKind::sgd) count = extra;
    if (options.kind == OptimizerKind::rmsprop) count = 1 + extra;
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("moment{}", i));
    return names;
}

Update add_update(const OptimizerOptions& options, double decay, Term parameter, Term gradient,
                  const std::vector<Term>& moments, Term rate, Term count, Term factor) {
    std::vector<Term> inputs = {parameter, gradient, rate, count, factor};
    inputs.insert(inputs.end(), moments.begin(), moments.end());
    Attributes attributes = {{"decay", decay}, {"epsilon", options.epsilon}};
    if (options.kind == OptimizerKind::sgd || options.kind == OptimizerKind::rmsprop)
        attributes["momentum"] = options.momentum;
    if (options.kind == OptimizerKind::sgd) attributes["nesterov"] = std::int64_t{options.nesterov};
    if (options.kind == OptimizerKind::rmsprop) attributes["alpha"] = options.alpha;
    if (moments_of(options).size() == 2 && options.kind != OptimizerKind::rmsprop) {
        attributes["beta1"] = options.beta1;
        attributes["beta2"] = options.beta2;
    }
    Builder& b = *parameter.builder;
    const std::vector<Term> made = b.call(private_operator(options.kind), inputs, attributes,
                                          [&](Builder&, const std::vector<Term>& in) {
                                              return equations(options, {.w = in[0],
                                                                         .g = in[1] * in[4],
                                                                         .rate = in[2],
                                                                         .count = in[3],
                                                                         .m = {in.begin() + 5, in.end()},
                                                                         .decay = decay});
                                          });
    return {made[0], {made.begin() + 1, made.end()}};
}

}  // namespace viridian::gradient
