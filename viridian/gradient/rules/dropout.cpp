// Dropout. The gradient needs the mask that the forward pass drew, so the node gets it as an output.
#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

Terms dropout_rule(Site& s) {
    if (!s.x(2)) return {s.g()};
    const Tensor* training = s.b.constant(s.x(2));
    if (training == nullptr) s.refuse("whether it is in training mode is known only at run time");
    if (training->number(0) == 0) return {s.g()};
    if (!s.g(0)) return {};
    const Tensor* constant = s.b.constant(s.x(1));
    const auto kept = [&] { return where(s.output(1, "mask"), s.g(0), 0); };
    if (!s.x(1)) return {kept() * 2};
    if (constant == nullptr) {  // a ratio of 1 keeps nothing, whatever it is divided by
        const Term share = 1 - cast(reshape(s.x(1), {}), s.b.element(s.g(0)));
        return {kept() / where(share > 0, share, 1)};
    }
    const double ratio = constant->number(0);
    if (ratio <= 0) return {s.g(0)};
    if (ratio >= 1) return {};
    return {kept() * (1 / (1 - ratio))};
}

void dropout_instance(Instance& i) {
    Terms inputs = {i.input(i.extents(i.extent(1, 3)))};
    const auto scalar = [&](double value) {
        return i.b.constant(Tensor::of<double>(ElementType::f64, {}, std::span(&value, 1)));
    };
    const Term none = {&i.b, ValueId::none};
    const std::uint8_t training = i.extent(0, 3) > 0 ? 1 : 0;
    const double ratio = i.pick({0.0, 0.25, 0.6, 1.0});
    switch (i.extent(0, 3)) {
        case 0:
            inputs.push_back(none);
            break;
        case 1:  // computed at run time
            inputs.push_back(i.b.add(op::Mul, {scalar(ratio), scalar(1)}));
            break;
        default:
            inputs.push_back(scalar(ratio));
    }
    if (i.extent(0, 5) > 0)
        inputs.push_back(
            i.b.constant(Tensor::of<std::uint8_t>(ElementType::boolean, {}, std::span(&training, 1))));
    i.output(i.b.add(op::Dropout, inputs, {{"seed", i.extent(1, 100)}}, i.coin() ? 1U : 2U)[0]);
}

}  // namespace

std::vector<Rule> dropout_rules() {
    return {{op::Dropout, "dx = g · mask / (1 - ratio) in training mode, g otherwise", Rule::Form::smooth,
             dropout_rule, dropout_instance}};
}

}  // namespace viridian::gradient
