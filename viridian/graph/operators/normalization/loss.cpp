// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: −weight[target] · log p[target], per example,
// summed, or averaged by the weights. Scores are [N,C,d…], targets [N,d…]; targets equal to ignore_index do
// not count.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/lines.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_loss(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 0));
    VIRIDIAN_TRY(expect_integer(inference, 1, 1));
    VIRIDIAN_TRY(expect_floating(inference, 2, 2));
    VIRIDIAN_TRY(expect_rank(inference, 0, 2));
    const std::string reduction = inference.node().get("reduction", std::string("mean"));
    if (reduction != "mean" && reduction != "sum" && reduction != "none")
        return wrong_attribute("`reduction` of node `{}` is `{}`", inference.node().name, reduction);
    std::optional<Shape> out;
    if (reduction != "none") out = Shape{};
    if (const auto& scores = inference.shape(0)) {
        Shape targets = *scores;
        targets.erase(targets.begin() + 1);
        VIRIDIAN_TRY(expect_shape(inference, 1, targets));
        VIRIDIAN_TRY(expect_shape(inference, 2, {(*scores)[1]}));
        if (reduction == "none") out = std::move(targets);
    }
    inference.set(0, inference.element(0), std::move(out));
    inference.set(1, inference.element(0), inference.shape(0));
    return {};
}

// `log_probability(i, c)`: of class c for example i.
template <class CallType, class Function>
Result<void> reduce_loss(CallType& call, Function log_probability) {
    using Scalar = scalar_of<CallType>;
    const Array<Scalar>* weights = call.input(2);
    const std::vector<std::int64_t>& targets = call.input(1)->integer;
    const std::int64_t classes = call.input(0)->dims[1];
    const std::string reduction = call.node.get("reduction", std::string("mean"));
    const bool ignores = call.node.has("ignore_index");
    const std::int64_t ignored = call.node.integer("ignore_index", 0);
    double total = 0;
    double weight_sum = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        double loss = 0;
        if (!ignores || targets[i] != ignored) {
            if (targets[i] < 0 || targets[i] >= classes)
                return wrong_shape("a target of node `{}` is class {} of {}", call.node.name, targets[i],
                                   classes);
            const double weight =
                weights == nullptr ? 1
                                   : static_cast<double>(weights->real[static_cast<std::size_t>(targets[i])]);
            loss = -weight * log_probability(static_cast<std::int64_t>(i), targets[i]);
            weight_sum += weight;
        }
        if (reduction == "none") call.outputs[0].real[i] = static_cast<Scalar>(loss);
        total += loss;
    }
    if (reduction == "sum") call.outputs[0].real[0] = static_cast<Scalar>(total);
    if (reduction == "mean") call.outputs[0].real[0] = static_cast<Scalar>(total / weight_sum);
    return {};
}

constexpr auto negative_log_likelihood = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(prepare(call));
    const auto& x = *call.input(0);
    const Lines lines(x.dims, 1);
    return reduce_loss(
        call, [&](std::int64_t i, std::int64_t c) { return static_cast<double>(x.real[lines.at(i, c)]); });
};

constexpr auto cross_entropy = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Lines lines(x.dims, 1);
    std::vector<double> log_sums(static_cast<std::size_t>(lines.count));
    for (std::int64_t i = 0; i < lines.count; ++i) {
        double most = -HUGE_VAL;
        for (std::int64_t c = 0; c < lines.length; ++c)
            most = std::max(most, static_cast<double>(x.real[lines.at(i, c)]));
        double sum = 0;
        for (std::int64_t c = 0; c < lines.length; ++c)
            sum += std::exp(static_cast<double>(x.real[lines.at(i, c)]) - most);
        log_sums[static_cast<std::size_t>(i)] = most + std::log(sum);
    }
    const auto log_probability = [&](std::int64_t i, std::int64_t c) {
        return static_cast<double>(x.real[lines.at(i, c)]) - log_sums[static_cast<std::size_t>(i)];
    };
    if (call.outputs.size() > 1)
        for (std::int64_t i = 0; i < lines.count; ++i)
            for (std::int64_t c = 0; c < lines.length; ++c)
                call.outputs[1].real[lines.at(i, c)] = static_cast<Scalar>(log_probability(i, c));
    return reduce_loss(call, log_probability);
};

Flop likelihood_flop(const Operation& operation) { return Flop(2 * count_of(operation.inputs[1])); }
Flop entropy_flop(const Operation& operation) { return Flop(5 * count_of(operation.inputs[0])); }

IterationSpace loss_space(const Operation& operation) {
    const bool reduces = operation.node.get("reduction", std::string("mean")) != "none";
    IterationSpace space;
    for (const std::int64_t dimension : operation.inputs[0].dims())
        space.push_back({dimension, reduces || space.size() == 1});
    return space;
}

}  // namespace

std::span<const OperatorRow> loss_operators() {
    static constexpr OperatorRow rows[] = {
        normalization_row(
            "NegativeLogLikelihoodLoss", {2, 3}, infer_loss, real_kernel(negative_log_likelihood),
            {.precision = precision::amplifies, .flop = likelihood_flop, .iteration_space = loss_space}),
        normalization_row("SoftmaxCrossEntropyLoss", {2, 3}, infer_loss, real_kernel(cross_entropy),
                          {.outputs = {1, 2},
                           .precision = precision::amplifies,
                           .flop = entropy_flop,
                           .iteration_space = loss_space}),
    };
    return rows;
}

}  // namespace viridian::graph
