// Normalisations by the statistics of the example itself. With n the normalised input, r the inverse
// deviation and h = g · scale, all of them have dx = r · (h - mean h - n · mean(h · n)), in which the first
// mean is missing where no mean was subtracted (Ba, Kiros and Hinton, "Layer Normalization", 2016).
#include <numeric>

#include "viridian/gradient/rules/families.hpp"
#include "viridian/gradient/rules/statistics.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// The numbers from `first` to `last` without `last`.
Dims axes_between(std::int64_t first, std::int64_t last) {
    Dims axes(static_cast<std::size_t>(last - first));
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

// dx from h, the normalised input and the inverse deviation, over `axes`.
Term through_statistics(Term h, Term normal, Term inverse, const Dims& axes, bool centred) {
    const Term along = normal * mean(h * normal, axes);
    return inverse * ((centred ? h - mean(h, axes) : h) - along);
}

Term inverse_deviation(Term squares, double epsilon) { return 1.0 / sqrt(squares + epsilon); }

// --- LayerNormalization: its optional outputs are the mean and the inverse deviation.

// Gradients that arrive at the mean and at the inverse deviation: dr = -r³ · (x - mean) / count.
Term layer_statistics_gradient(Site& s, Term average, Term inverse, const Dims& axes) {
    const Dims dims = s.dims(s.x());
    double count = 1;
    for (const std::int64_t axis : axes) count *= static_cast<double>(dims[static_cast<std::size_t>(axis)]);
    const ElementType work = statistics_type(s.b.element(s.x()));
    Term total;
    if (s.g(1)) total = expand(cast(s.g(1), work) / count, dims);
    if (s.g(2)) {
        const Term distance = cast(s.x(), work) - cast(average, work), r = cast(inverse, work);
        const Term part = distance * (cast(s.g(2), work) * (square(r) * r) / -count);
        total = total ? total + part : part;
    }
    return total ? cast(total, s.b.element(s.x())) : Term();
}

struct LayerParts {
    Term g, normal, inverse;
};
LayerParts layer_parts(Term g, Term x, Term average, Term inverse) {
    const ElementType work = statistics_type(x.builder->element(x));
    const Term r = cast(inverse, work);
    return {cast(g, work), (cast(x, work) - cast(average, work)) * r, r};
}

Terms layer_rule(Site& s) {
    const std::int64_t rank = s.rank(s.x()), axis = Site::axis(s.integer("axis", -1), rank);
    const Dims axes = axes_between(axis, rank);
    const Term average = s.output(1, "mean"), inverse = s.output(2, "inverse_deviation");
    const Attributes attributes = {{"axis", axis}};
    Term dx = layer_statistics_gradient(s, average, inverse, axes);
    if (!s.g()) return {dx};
    if (s.wants(0)) {
        const Term through =
            s.b.call(op::LayerNormalizationGradInput, {s.g(), s.x(0), s.x(1), average, inverse}, attributes,
                     [=](Builder& b, const Terms& in) -> Terms {
                         const LayerParts parts = layer_parts(in[0], in[1], in[3], in[4]);
                         const Term h = parts.g * cast(in[2], b.element(parts.g));
                         return {cast(through_statistics(h, parts.normal, parts.inverse, axes, true),
                                      b.element(in[1]))};
                     })[0];
        dx = dx ? dx + through : through;
    }
    if (!s.wants(1) && !s.wants(2)) return {dx};
    const Term scale = s.x(1), bias = s.x(2);
    const Dims scale_dims = s.dims(scale), bias_dims = bias ? s.dims(bias) : Dims();
    const Terms parameters =
        s.b.call(op::LayerNormalizationGradScale, {s.g(), s.x(0), average, inverse}, attributes,
                 [&](Builder& b, const Terms& in) -> Terms {
                     const LayerParts parts = layer_parts(in[0], in[1], in[2], in[3]);
                     const ElementType element = b.element(in[1]);
                     Terms made = {cast(reduce_to(parts.g * parts.normal, scale_dims), element)};
                     if (bias) made.push_back(cast(reduce_to(parts.g, bias_dims), element));
                     return made;
                 });
    return {dx, parameters[0], bias ? parameters[1] : Term()};
}

// --- RMSNormalization

Terms rms_rule(Site& s) {
    const std::int64_t rank = s.rank(s.x()), axis = Site::axis(s.integer("axis", -1), rank);
    const Dims axes = axes_between(axis, rank), scale_dims = s.dims(s.x(1));
    const double epsilon = s.real("epsilon", 1e-5);
    return s.b.call(op::RMSNormalizationGrad, {s.g(), s.x(0), s.x(1)}, {{"axis", axis}, {"epsilon", epsilon}},
                    [=](Builder& b, const Terms& in) -> Terms {
                        const ElementType element = b.element(in[1]), work = statistics_type(element);
                        const Term g = cast(in[0], work), x = cast(in[1], work);
                        const Term inverse = inverse_deviation(mean(square(x), axes), epsilon);
                        const Term normal = x * inverse;
                        const Term dx =
                            through_statistics(g * cast(in[2], work), normal, inverse, axes, false);
                        return {cast(dx, element), cast(reduce_to(g * normal, scale_dims), element)};
                    });
}

// --- GroupNormalization and InstanceNormalization, whose groups are the channels

Terms group_meaning(Builder& b, const Terms& in, std::int64_t groups, double epsilon) {
    const Dims dims = b.dims(in[1]);
    const ElementType element = b.element(in[1]), work = statistics_type(element);
    Dims rows = {dims[0], groups, 1}, channel(dims.size(), 1), others = axes_between(1, b.rank(in[1]));
    for (std::size_t axis = 1; axis < dims.size(); ++axis) rows[2] *= dims[axis];
    rows[2] /= groups;
    channel[1] = dims[1];
    others[0] = 0;  // all axes but that of the channels
    const Term g = cast(in[0], work), x = reshape(cast(in[1], work), rows);
    const Term distance = x - mean(x, {2});
    const Term inverse = inverse_deviation(mean(square(distance), {2}), epsilon);
    const Term normal = distance * inverse;
    const Term h = reshape(g * reshape(cast(in[2], work), channel), rows);
    const Term dx = reshape(through_statistics(h, normal, inverse, {2}, true), dims);
    return {cast(dx, element), cast(sum(g * reshape(normal, dims), others, false), element),
            cast(sum(g, others, false), element)};
}

Terms group_rule(Site& s) {
    const std::int64_t channels = s.dims(s.x())[1];
    const std::int64_t groups =
        s.node().op == op::InstanceNormalization ? channels : s.integer("num_groups", 1);
    const double epsilon = s.real("epsilon", 1e-5);
    return s.b.call(op::GroupNormalizationGrad, {s.g(), s.x(0), s.x(1)},
                    {{"num_groups", groups}, {"epsilon", epsilon}},
                    [=](Builder& b, const Terms& in) { return group_meaning(b, in, groups, epsilon); });
}

// --- instances

// Rows of such numbers have a deviation far from 0.
const Domain spread_out = {.low = -2, .margin = 0.15, .distinct = true};

// Attributes of files are single numbers, so that these are written exactly.
Attributes some_epsilon(Instance& i) {
    if (i.extent(0, 3) == 0) return {};
    return {{"epsilon", i.pick({0x1p-17, 0.25, 0.75})}};
}

// Dims of which those behind `axis` have at least four elements together.
Dims row_dims(Instance& i, std::int64_t rank, std::int64_t axis) {
    Dims dims = i.extents(rank, 3);
    dims.back() = i.extent(4, 6);
    if (axis == 0 && rank > 1) dims[0] = 2;
    return dims;
}

void rows_instance(Instance& i, graph::KnownOperator op) {
    const std::int64_t rank = i.extent(1, 4), axis = i.extent(0, rank - 1);
    const Dims dims = row_dims(i, rank, axis);
    Attributes attributes = some_epsilon(i);
    if (axis != rank - 1 || i.coin()) attributes["axis"] = i.coin() ? axis : axis - rank;
    const Dims row(dims.begin() + axis, dims.end());
    const bool layer = op == op::LayerNormalization;
    Terms inputs = {i.input(dims, spread_out), i.input(i.extent(0, 3) == 0 ? i.broadcast_of(dims) : row)};
    if (layer && i.coin()) inputs.push_back(i.input(i.extent(0, 3) == 0 ? i.broadcast_of(dims) : row));
    if (layer && i.coin()) attributes["stash_type"] = std::int64_t{0};
    const auto outputs = static_cast<std::size_t>(layer && i.extent(0, 2) == 0 ? 3 : 1);
    const Terms made = i.b.add(op, inputs, attributes, outputs);
    const std::int64_t used = i.extent(0, 3);  // through which outputs gradients arrive
    for (std::size_t k = 0; k < outputs; ++k)
        if (outputs == 1 || used == 3 || static_cast<std::int64_t>(k) != used) i.output(made[k]);
}

void groups_instance(Instance& i, graph::KnownOperator op) {
    const std::int64_t groups = i.extent(1, 3), each = i.extent(1, 2);
    Dims dims = {i.extent(1, 3), groups * each, i.extent(4, 5)};
    if (i.coin()) dims.push_back(i.extent(1, 3));
    Attributes attributes = some_epsilon(i);
    if (op == op::GroupNormalization) attributes["num_groups"] = groups;
    i.apply(op, {i.input(dims, spread_out), i.input({dims[1]}), i.input({dims[1]})}, attributes);
}

}  // namespace

std::vector<Rule> normalization_rules() {
    using enum Rule::Form;
    return {
        {op::LayerNormalization, "dx = r · (h - mean h - n · mean(h · n)), dscale = Σ g · n, dbias = Σ g",
         smooth, layer_rule, [](Instance& i) { rows_instance(i, op::LayerNormalization); }},
        {op::RMSNormalization, "dx = r · (h - n · mean(h · n)), dscale = Σ g · n", smooth, rms_rule,
         [](Instance& i) { rows_instance(i, op::RMSNormalization); }},
        {op::InstanceNormalization, "dx = r · (h - mean h - n · mean(h · n)), dscale = Σ g · n, dbias = Σ g",
         smooth, group_rule, [](Instance& i) { groups_instance(i, op::InstanceNormalization); }},
        {op::GroupNormalization, "dx = r · (h - mean h - n · mean(h · n)), dscale = Σ g · n, dbias = Σ g",
         smooth, group_rule, [](Instance& i) { groups_instance(i, op::GroupNormalization); }},
    };
}

}  // namespace viridian::gradient
