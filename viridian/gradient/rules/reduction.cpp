// Reductions over axes, and the largest elements. The result of a reduction is brought back to x's rank
// first: Y and G are y and g with an extent of 1 where axes were reduced.
#include <algorithm>
#include <numeric>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// One reduction: the axes, and the tensors of the equations.
struct Reduction {
    Dims axes;
    Term x, y, g;
    std::int64_t count = 1;  // elements that become one
};

Reduction reduction_at(Site& s) {
    Reduction r{.axes = {}, .x = s.x(0), .y = {}, .g = {}};
    if (s.x(1)) r.axes = s.integers(1, "axes");
    Dims kept = s.dims(r.x);
    const auto rank = static_cast<std::int64_t>(kept.size());
    if (r.axes.empty() && s.integer("noop_with_empty_axes", 0) == 0)
        for (std::int64_t axis = 0; axis < rank; ++axis) r.axes.push_back(axis);
    for (std::int64_t& axis : r.axes) {
        axis = Site::axis(axis, rank);
        std::int64_t& extent = kept[static_cast<std::size_t>(axis)];
        r.count *= extent;
        extent = 1;
    }
    r.y = reshape(s.y(), kept);
    r.g = reshape(s.g(), kept);
    return r;
}

Terms reduce_sum(Site& s) {
    const Reduction r = reduction_at(s);
    return {expand(r.g, s.dims(r.x))};
}

Terms reduce_mean(Site& s) {
    const Reduction r = reduction_at(s);
    return {expand(r.g / static_cast<double>(r.count), s.dims(r.x))};
}

// The gradient of an extreme goes to the elements that attain it, in equal parts.
Terms reduce_extreme(Site& s) {
    const Reduction r = reduction_at(s);
    const Term attains = cast(equal(r.x, r.y), s.b.element(r.x));
    return {r.g / sum(attains, r.axes) * attains};
}

Terms reduce_l1(Site& s) {
    const Reduction r = reduction_at(s);
    return {r.g * apply(op::Sign, r.x)};
}

// x is 0 where y is 0, so that any divisor gives the slope 0 there.
Terms reduce_l2(Site& s) {
    const Reduction r = reduction_at(s);
    return {r.g / where(r.y > 0, r.y, 1) * r.x};
}

Terms reduce_log_sum_exp(Site& s) {
    const Reduction r = reduction_at(s);
    return {r.g * exp(r.x - r.y)};
}

Terms reduce_log_sum(Site& s) {
    const Reduction r = reduction_at(s);
    return {expand(r.g * exp(-r.y), s.dims(r.x))};
}

Terms reduce_sum_square(Site& s) {
    const Reduction r = reduction_at(s);
    return {r.g * 2 * r.x};
}

// The slope is the product of the other elements: p/x if there is no zero among them, with p the product
// of all elements that are not zero; else 0.
Terms reduce_prod(Site& s) {
    const Reduction r = reduction_at(s);
    const Term zero = equal(r.x, s.b.number(0, r.x));
    const Term is_zero = cast(zero, s.b.element(r.x));
    const Term others = sum(is_zero, r.axes) - is_zero;  // how many others are zero
    const Term rest = where(zero, s.b.number(1, r.x), r.x);
    const Term product = r.axes.empty() ? rest : s.b.add(op::ReduceProd, {rest, s.b.integers(r.axes)});
    return {where(others > 0, s.b.number(0, r.g), r.g * (product / rest))};
}

// Calls `op` over random axes of x: all, some, or none; with or without them in the result.
void reduce(Instance& i, graph::KnownOperator op, Term x) {
    const std::int64_t rank = i.b.rank(x);
    Terms inputs = {x};
    Attributes attributes;
    if (i.coin()) attributes["keepdims"] = std::int64_t{i.coin()};
    switch (i.extent(0, 4)) {
        case 0:  // all axes
            if (i.coin()) attributes["noop_with_empty_axes"] = std::int64_t{0};
            if (i.coin()) inputs.push_back(i.b.integers({}));
            break;
        case 1:
            attributes["noop_with_empty_axes"] = std::int64_t{1};
            if (i.coin()) inputs.push_back(i.b.integers({}));
            break;
        default:
            Dims axes = i.permutation(rank);
            axes.resize(static_cast<std::size_t>(i.extent(1, rank)));
            for (std::int64_t& axis : axes)
                if (i.coin()) axis -= rank;
            if (i.coin()) attributes["noop_with_empty_axes"] = std::int64_t{1};
            inputs.push_back(i.b.integers(axes));
    }
    i.apply(op, inputs, attributes);
}

auto reduce_instance(graph::KnownOperator op, Domain domain = {}) {
    return [op, domain = std::move(domain)](Instance& i) {
        reduce(i, op, i.input(i.extents(i.extent(1, 4), 4), domain));
    };
}

// Elements that differ, and now and then each twice: a tie that is smooth.
void reduce_distinct(Instance& i, graph::KnownOperator op) {
    const Dims dims = i.extents(i.extent(1, 3), 4);
    const Term x = i.input(dims, {.low = -3, .distinct = true});
    const auto rank = static_cast<std::int64_t>(dims.size());
    reduce(i, op, i.coin() ? x : concat({x, x}, i.extent(0, rank - 1)));
}

// Elements of which up to two are exactly zero.
void reduce_prod_instance(Instance& i) {
    const Dims dims = i.extents(i.extent(1, 3), 4);
    const Domain domain = {.low = -1.6, .high = 1.6, .kinks = {0}, .margin = 0.6};
    Term x = i.input(dims, domain);
    const std::int64_t axis = i.extent(0, static_cast<std::int64_t>(dims.size()) - 1);
    Dims one = dims;
    one[static_cast<std::size_t>(axis)] = 1;
    for (std::int64_t zeros = i.extent(0, 2); zeros > 0; --zeros)
        x = concat({x, i.input(one, {.low = 0, .high = 0})}, axis);
    reduce(i, op::ReduceProd, x);
}

Terms top_k(Site& s) {
    if (!s.g(0)) return {};
    const Term zeros = expand(s.b.number(0, s.g(0)), s.dims(s.x(0)));
    return {s.b.add(op::ScatterElements, {zeros, s.output(1, "places"), s.g(0)},
                    {{"axis", s.integer("axis", -1)}, {"reduction", std::string("add")}})};
}

void top_k_instance(Instance& i) {
    const std::int64_t rank = i.extent(1, 3), axis = i.extent(-rank, rank - 1);
    const Dims dims = i.extents(rank);
    Attributes attributes;
    if (axis != -1 || i.coin()) attributes["axis"] = axis;
    if (i.coin()) attributes["largest"] = std::int64_t{i.coin()};
    const std::int64_t k = i.extent(1, dims[static_cast<std::size_t>(Site::axis(axis, rank))]);
    i.output(i.b.add(op::TopK, {i.input(dims, {.low = -3, .distinct = true}), i.b.integers({k})}, attributes,
                     i.coin() ? 1U : 2U)[0]);
}

}  // namespace

std::vector<Rule> reduction_rules() {
    using enum Rule::Form;
    const Domain not_zero = {.kinks = {0}, .margin = 0.3}, positive = {.low = 0.3, .high = 2};
    return {
        {op::ReduceSum, "dx = G", multilinear, reduce_sum, reduce_instance(op::ReduceSum)},
        {op::ReduceMean, "dx = G / n", multilinear, reduce_mean, reduce_instance(op::ReduceMean)},
        {op::ReduceMax, "the largest elements share G", piecewise, reduce_extreme,
         [](Instance& i) { reduce_distinct(i, op::ReduceMax); }},
        {op::ReduceMin, "the smallest elements share G", piecewise, reduce_extreme,
         [](Instance& i) { reduce_distinct(i, op::ReduceMin); }},
        {op::ReduceL1, "dx = G · sign(x)", piecewise, reduce_l1, reduce_instance(op::ReduceL1, not_zero)},
        {op::ReduceL2, "dx = G · x / Y, 0 where Y = 0", smooth, reduce_l2,
         reduce_instance(op::ReduceL2, not_zero)},
        {op::ReduceLogSumExp, "dx = G · exp(x - Y)", smooth, reduce_log_sum_exp,
         reduce_instance(op::ReduceLogSumExp)},
        {op::ReduceLogSum, "dx = G · exp(-Y)", smooth, reduce_log_sum,
         reduce_instance(op::ReduceLogSum, positive)},
        {op::ReduceSumSquare, "dx = G · 2x", smooth, reduce_sum_square, reduce_instance(op::ReduceSumSquare)},
        {op::ReduceProd, "dx = G · the product of the other elements", smooth, reduce_prod,
         reduce_prod_instance},
        {op::TopK, "dx = g at the places of the elements, 0 elsewhere", piecewise, top_k, top_k_instance},
    };
}

}  // namespace viridian::gradient
