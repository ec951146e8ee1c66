// Losses of classes: scores are [N, C, d…], targets [N, d…], and the weight of an example is that of its
// class, 0 if its target is ignored.
#include <numeric>

#include "viridian/gradient/rules/families.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

// The settings of a loss.
struct LossForm {
    std::string reduction;
    bool ignores = false;
    std::int64_t ignored = 0;
};

LossForm loss_form(const Node& node) {
    return {.reduction = node.get("reduction", std::string("mean")),
            .ignores = node.has("ignore_index"),
            .ignored = node.integer("ignore_index", 0)};
}

// What the gradient of a loss is made of.
struct LossParts {
    Term hot;    // [N, C, d…]: 1 at the class of each example
    Term scale;  // [N, 1, d…], or a number: how much an example counts, times g
};

LossParts loss_parts(Term g, Term scores, Term targets, Term weights, const LossForm& form) {
    Builder& b = *g.builder;
    const Dims dims = b.dims(scores);
    const ElementType element = b.element(scores);
    Term at = cast(targets, ElementType::i64), counts;
    if (form.ignores) {
        counts = apply(op::Not, equal(at, b.number(static_cast<double>(form.ignored), at)));
        at = where(counts, at, 0);  // any class that exists
    }
    const float off_and_on[] = {0, 1};
    LossParts parts;
    parts.hot = b.add(
        op::OneHot,
        {at, b.constant(Tensor::scalar(dims[1])), cast(b.constant(Tensor::f32({2}, off_and_on)), element)},
        {{"axis", std::int64_t{1}}});
    Term weight;
    if (weights) weight = b.add(op::Gather, {weights, at});
    if (counts) weight = weight ? where(counts, weight, 0) : cast(counts, element);
    parts.scale = g;
    if (form.reduction == "mean") {
        Dims all(b.dims(at).size());
        std::iota(all.begin(), all.end(), 0);
        const double examples = static_cast<double>(*graph::element_count(b.dims(at)));
        parts.scale = weight ? g / sum(weight, all, false) : g / examples;
    }
    if (weight) parts.scale = parts.scale * weight;
    if (b.rank(parts.scale) > 0) {
        Dims apart = dims;
        apart[1] = 1;
        parts.scale = reshape(parts.scale, apart);
    }
    return parts;
}

Term loss_weights(Site& s) {
    if (s.wants(2)) s.refuse("gradients do not flow to the weights of its classes");
    return s.x(2);
}

Terms negative_log_likelihood_rule(Site& s) {
    const LossParts parts = loss_parts(s.g(), s.x(0), s.x(1), loss_weights(s), loss_form(s.node()));
    return {-(parts.scale * parts.hot)};
}

Terms cross_entropy_rule(Site& s) {
    const Term weights = loss_weights(s);
    Term dx;
    if (s.g(0)) {
        Terms inputs = {s.g(0), s.x(0), s.x(1)};
        if (weights) inputs.push_back(weights);
        dx = s.b.call(op::CrossEntropyGrad, inputs, s.node().attributes,
                      [form = loss_form(s.node())](Builder& b, const Terms& in) -> Terms {
                          const LossParts parts =
                              loss_parts(in[0], in[1], in[2], in.size() > 3 ? in[3] : Term(), form);
                          const Term p = b.add(op::Softmax, {in[1]}, {{"axis", std::int64_t{1}}});
                          return {parts.scale * (p - parts.hot)};
                      })[0];
    }
    if (s.g(1)) {  // of the log-probabilities
        const Term through = s.g(1) - exp(s.y(1)) * sum(s.g(1), {1});
        dx = dx ? dx + through : through;
    }
    return {dx};
}

// Scores, targets, and in half of the graphs weights; at least one target counts.
Terms loss_inputs(Instance& i, Attributes& attributes) {
    const std::int64_t classes = i.extent(1, 5);
    Dims dims = {i.extent(1, 4), classes};
    for (std::int64_t more = i.pick<std::int64_t>({0, 0, 1, 2}); more > 0; --more)
        dims.push_back(i.extent(1, 3));
    Dims examples = dims;
    examples.erase(examples.begin() + 1);
    if (i.extent(0, 3) > 0) attributes["reduction"] = i.pick<std::string>({"mean", "sum", "none"});
    Dims targets(static_cast<std::size_t>(*graph::element_count(examples)));
    for (std::int64_t& target : targets) target = i.extent(0, classes - 1);
    if (i.coin()) {
        const std::int64_t ignored = i.pick<std::int64_t>({-100, 0, classes});
        attributes["ignore_index"] = ignored;
        for (std::size_t k = 1; k < targets.size(); ++k)
            if (i.extent(0, 2) == 0) targets[k] = ignored;
        if (targets[0] == ignored && classes > 1) targets[0] = 1;
        if (targets[0] == ignored) attributes.erase("ignore_index");
    }
    for (std::int64_t& target : targets)  // what is not ignored is a class
        if (!attributes.contains("ignore_index") && (target < 0 || target >= classes)) target = 0;
    Terms inputs = {i.input(dims), i.b.constant(Tensor::i64(examples, targets))};
    if (i.coin()) inputs.push_back(i.constant({classes}, {.low = 0.5, .high = 2}));
    return inputs;
}

void cross_entropy_instance(Instance& i) {
    Attributes attributes;
    const Terms inputs = loss_inputs(i, attributes);
    const Terms outputs = i.b.add(op::SoftmaxCrossEntropyLoss, inputs, attributes, i.coin() ? 1U : 2U);
    const bool loss = outputs.size() == 1 || i.extent(0, 3) > 0;
    if (loss) i.output(outputs[0]);
    if (outputs.size() == 2 && (!loss || i.coin())) i.output(outputs[1]);
}

}  // namespace

std::vector<Rule> loss_rules() {
    using enum Rule::Form;
    return {
        {op::NegativeLogLikelihoodLoss, "dx = -g · w · h, with the weights w and classes h of the examples",
         smooth, negative_log_likelihood_rule,
         [](Instance& i) {
             Attributes attributes;
             const Terms inputs = loss_inputs(i, attributes);
             i.apply(op::NegativeLogLikelihoodLoss, inputs, attributes);
         }},
        {op::SoftmaxCrossEntropyLoss,
         "dx = g · w · (softmax(x) - h), and of the log-probabilities g - softmax(x) · Σ g", smooth,
         cross_entropy_rule, cross_entropy_instance},
    };
}

}  // namespace viridian::gradient
