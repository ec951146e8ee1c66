// LRN, LpNormalization and MeanVarianceNormalization: normalisations without learnt weights.
#include "viridian/gradient/rules/families.hpp"
#include "viridian/gradient/rules/statistics.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// --- LRN: y = x · s^-β with s = bias + α/size · Σ x² over the `size` channels around its own
// (Krizhevsky, Sutskever and Hinton 2012, section 3.3).

struct Response {
    std::int64_t size;
    double alpha, beta, bias;
};

// The mean over the channels c - before … c + after of each channel c, in which missing channels count as 0.
Term channel_means(Term x, std::int64_t before, std::int64_t after) {
    Builder& b = *x.builder;
    const Dims dims = b.dims(x);
    Dims planes = {dims[0], 1, dims[1], 1};
    for (std::size_t axis = 2; axis < dims.size(); ++axis) planes[3] *= dims[axis];
    const Term means = b.add(op::AveragePool, {reshape(x, planes)},
                             {{"kernel_shape", Dims{before + after + 1, 1}},
                              {"pads", Dims{before, 0, after, 0}},
                              {"count_include_pad", std::int64_t{1}}});
    return reshape(means, dims);
}

// dx = g · s^-β - 2αβ · x · (the mean over the channels that see this one of g · x · s^-(β+1))
Term response_gradient(Term g, Term x, const Response& r) {
    const std::int64_t before = (r.size - 1) / 2, after = r.size / 2;
    Builder& b = *x.builder;
    const Term s = channel_means(square(x), before, after) * r.alpha + r.bias;
    const Term direct = g * b.add(op::Pow, {s, b.number(-r.beta, s)});
    return direct - x * (channel_means(direct * x / s, after, before) * (2 * r.alpha * r.beta));
}

Terms lrn_rule(Site& s) {
    const Response r = {s.integer("size", 1), s.real("alpha", 1e-4), s.real("beta", 0.75), s.real("bias", 1)};
    return s.b.call(op::LRNGrad, {s.g(), s.x()},
                    {{"size", r.size}, {"alpha", r.alpha}, {"beta", r.beta}, {"bias", r.bias}},
                    [=](Builder& b, const Terms& in) -> Terms {
                        const ElementType element = b.element(in[1]), work = statistics_type(element);
                        return {cast(response_gradient(cast(in[0], work), cast(in[1], work), r), element)};
                    });
}

void lrn_instance(Instance& i) {
    Dims dims = i.extents(i.extent(2, 4), 3);
    dims[1] = i.extent(1, 6);
    Attributes attributes = {{"size", i.extent(1, 6)}, {"alpha", i.pick({0.125, 0.5, 2.0})}};
    if (i.coin()) attributes["beta"] = i.pick({0.5, 1.5});
    if (i.coin()) attributes["bias"] = i.pick({0.5, 2.0});
    i.apply(op::LRN, {i.input(dims)}, attributes);
}

// --- LpNormalization: y = x / ‖x‖ along an axis; a line of zeros stays, and has no gradient.

Terms lp_normalization_rule(Site& s) {
    const Dims axis = {Site::axis(s.integer("axis", -1), s.rank(s.x()))};
    const bool euclidean = s.integer("p", 2) == 2;
    const Term x = s.x();
    const Term norm = euclidean ? sqrt(sum(square(x), axis)) : sum(apply(op::Abs, x), axis);
    const Term direction = euclidean ? s.y() : apply(op::Sign, x);
    const Term dx = s.g() - direction * sum(s.g() * s.y(), axis);
    return {where(norm > 0, dx / norm, 0)};
}

void lp_normalization_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 4);
    Attributes attributes;
    if (i.coin()) attributes["axis"] = i.extent(-rank, rank - 1);
    if (i.coin()) attributes["p"] = i.extent(1, 2);
    i.apply(
        op::LpNormalization,
        {i.input(i.extents(rank), i.coin() ? Domain{.kinks = {0}, .margin = 0.3}
                                           : Domain{.low = -0.4, .high = 0.4, .kinks = {0}, .margin = 0.2})},
        attributes);
}

// --- MeanVarianceNormalization: y = c / d with c = x - mean, d = deviation + 1e-9

Terms mean_variance_rule(Site& s) {
    Dims axes;
    for (const std::int64_t axis : s.node().get("axes", Dims{0, 2, 3}))
        axes.push_back(Site::axis(axis, s.rank(s.x())));
    const Term g = s.g(), c = s.x() - mean(s.x(), axes);
    const Term deviation = sqrt(mean(square(c), axes));
    const Term d = deviation + 1e-9;
    const Term along = where(deviation > 0, mean(g * c, axes) / (deviation * square(d)), 0);
    return {(g - mean(g, axes)) / d - c * along};
}

void mean_variance_instance(Instance& i) {
    const std::int64_t rank = i.pick({4, 4, 2, 3});
    Dims dims = i.extents(rank, 3);
    Attributes attributes;
    if (rank != 4 || i.coin()) {
        const Dims order = i.permutation(rank);
        Dims axes(order.begin(), order.begin() + i.extent(1, rank));
        dims[static_cast<std::size_t>(axes[0])] = i.extent(4, 6);
        if (i.coin()) axes[0] -= rank;
        attributes["axes"] = axes;
    } else {
        dims[2] = i.extent(4, 6);
    }
    i.apply(op::MeanVarianceNormalization, {i.input(dims, {.low = -2, .margin = 0.15, .distinct = true})},
            attributes);
}

}  // namespace

std::vector<Rule> local_normalization_rules() {
    using enum Rule::Form;
    return {
        {op::LRN, "dx = g · s^-β - 2αβ/size · x · Σ g · x · s^-(β+1)", smooth, lrn_rule, lrn_instance},
        {op::LpNormalization, "dx = (g - direction · Σ g · y) / norm", smooth, lp_normalization_rule,
         lp_normalization_instance},
        {op::MeanVarianceNormalization, "dx = (g - mean g) / d - c · mean(g · c) / (deviation · d²)", smooth,
         mean_variance_rule, mean_variance_instance},
    };
}

}  // namespace viridian::gradient
