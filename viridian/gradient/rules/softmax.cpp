// Softmax and LogSoftmax along one axis.
#include "viridian/gradient/rules/families.hpp"
#include "viridian/gradient/rules/statistics.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// Both gradients are functions of g and y.
Terms softmax_rule(Site& s, graph::KnownOperator op, Term (*dx)(Term g, Term y, const Dims& axis)) {
    const std::int64_t axis = Site::axis(s.integer("axis", -1), s.rank(s.x()));
    return s.b.call(op, {s.g(), s.y()}, {{"axis", axis}}, [=](Builder& b, const Terms& in) -> Terms {
        const ElementType element = b.element(in[1]), work = statistics_type(element);
        return {cast(dx(cast(in[0], work), cast(in[1], work), {axis}), element)};
    });
}

auto softmax_instance(graph::KnownOperator op) {
    return [=](Instance& i) {
        const std::int64_t rank = i.extent(1, 4);
        Attributes attributes;
        if (i.extent(0, 3) != 0) attributes["axis"] = i.extent(-rank, rank - 1);
        i.apply(op, {i.input(i.extents(rank))}, attributes);
    };
}

}  // namespace

std::vector<Rule> softmax_rules() {
    using enum Rule::Form;
    return {
        {op::Softmax, "dx = y · (g - Σ g · y)", smooth,
         [](Site& s) {
             return softmax_rule(s, op::SoftmaxGrad, [](Term g, Term y, const Dims& axis) {
                 const Term product = g * y;
                 return product - y * sum(product, axis);
             });
         },
         softmax_instance(op::Softmax)},
        {op::LogSoftmax, "dx = g - exp(y) · Σ g", smooth,
         [](Site& s) {
             return softmax_rule(s, op::LogSoftmaxGrad,
                                 [](Term g, Term y, const Dims& axis) { return g - exp(y) * sum(g, axis); });
         },
         softmax_instance(op::LogSoftmax)},
    };
}

}  // namespace viridian::gradient
