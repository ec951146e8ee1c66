// Sequence layers that carry a state: LinearAttention (Katharopoulos et al. 2020; gated and delta rules) and
// CausalConvWithState, the depth-wise convolution before it in Mamba-like networks. The equations are the
// operators' documents.
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Dimension divided(const Dimension& dimension, std::int64_t by) {
    return dimension.known() ? Dimension(dimension.value() / by) : Dimension();
}

// query [B,T,Hq·dk], key [B,T,H·dk], value [B,T,H·dv], past_state [B,H,dk,dv], decay [B,T,H·dk or H], beta
// [B,T,H or 1].
Result<void> infer_linear_attention(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    for (std::size_t i = 0; i < 3; ++i) VIRIDIAN_TRY(expect_rank(inference, i, 3, 3));
    const Node& node = inference.node();
    const std::int64_t q_heads = node.integer("q_num_heads", 0);
    const std::int64_t heads = node.integer("kv_num_heads", 0);
    if (heads < 1 || q_heads < heads || q_heads % heads != 0)
        return wrong_attribute("node `{}` has {} query heads for {} heads", node.name, q_heads, heads);
    const std::string rule = node.get("update_rule", std::string("gated_delta"));
    if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
        return wrong_attribute("`update_rule` of node `{}` is `{}`", node.name, rule);
    if ((rule.starts_with("gated") && !inference.has_input(4)) ||
        (rule.ends_with("delta") && !inference.has_input(5)))
        return wrong_attribute("node `{}` lacks the decay or beta that `{}` needs", node.name, rule);
    const auto& q = inference.shape(0);
    const auto& k = inference.shape(1);
    const auto& v = inference.shape(2);
    const Dimension batch = q ? (*q)[0] : Dimension();
    const Dimension steps = q ? (*q)[1] : Dimension();
    const Dimension dk = k ? divided((*k)[2], heads) : Dimension();
    const Dimension dv = v ? divided((*v)[2], heads) : Dimension();
    const auto times = [](const Dimension& d, std::int64_t n) {
        return d.known() ? Dimension(capped_product(d.value(), n)) : d;
    };
    VIRIDIAN_TRY(expect_shape(inference, 0, {batch, steps, times(dk, q_heads)}));
    VIRIDIAN_TRY(expect_shape(inference, 1, {batch, steps, times(dk, heads)}));
    VIRIDIAN_TRY(expect_shape(inference, 2, {batch, steps, times(dv, heads)}));
    VIRIDIAN_TRY(expect_shape(inference, 3, {batch, Dimension(heads), dk, dv}));
    const auto gate = [&](std::size_t i, const Dimension& wide) -> Result<void> {
        const auto& shape = inference.shape(i);
        VIRIDIAN_TRY(expect_shape(inference, i, {batch, steps, Dimension()}));
        if (shape && differ((*shape)[2], wide) && (*shape)[2].value() != heads)
            return wrong_shape("input {} of LinearAttention is {}", i, text(inference.input(i)));
        return {};
    };
    if (inference.has_input(4)) VIRIDIAN_TRY(gate(4, times(dk, heads)));
    if (inference.has_input(5)) VIRIDIAN_TRY(gate(5, Dimension(1)));
    inference.set(0, inference.element(0), Shape{batch, steps, times(dv, q_heads)});
    inference.set(1, inference.has_input(3) ? inference.element(3) : inference.element(0),
                  Shape{batch, Dimension(heads), dk, dv});
    return {};
}

constexpr auto linear_attention = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& q = *call.input(0);
    const Array<Scalar>& k = *call.input(1);
    const Array<Scalar>& v = *call.input(2);
    const Array<Scalar>* decay = call.input(4);
    const Array<Scalar>* beta = call.input(5);
    const std::string rule = call.node.get("update_rule", std::string("gated_delta"));
    const bool gated = rule.starts_with("gated");
    const bool delta = rule.ends_with("delta");
    const std::int64_t q_heads = call.node.integer("q_num_heads", 1);
    const std::int64_t heads = call.node.integer("kv_num_heads", 1);
    const std::int64_t steps = q.dims[1];
    const std::int64_t dk = k.dims[2] / heads;
    const std::int64_t dv = v.dims[2] / heads;
    double scale = call.node.get("scale", 0.0);
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(dk));
    const auto number = [](const Array<Scalar>& array, std::int64_t i) {
        return static_cast<double>(array.real[static_cast<std::size_t>(i)]);
    };
    for (std::int64_t b = 0; b < q.dims[0]; ++b)
        for (std::int64_t h = 0; h < heads; ++h) {
            std::vector<double> state(static_cast<std::size_t>(dk * dv));
            const std::int64_t first = (b * heads + h) * dk * dv;
            if (const Array<Scalar>* past = call.input(3))
                for (std::size_t i = 0; i < state.size(); ++i)
                    state[i] = number(*past, first + static_cast<std::int64_t>(i));
            const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
                return state[static_cast<std::size_t>(i * dv + j)];
            };
            for (std::int64_t t = 0; t < steps; ++t) {
                const std::int64_t token = b * steps + t;
                const std::int64_t key = (token * heads + h) * dk;
                if (gated) {
                    const std::int64_t width = decay->dims[2];
                    for (std::int64_t i = 0; i < dk; ++i) {
                        const std::int64_t gate = width == heads ? h : h * dk + i;
                        const double factor = std::exp(number(*decay, token * width + gate));
                        for (std::int64_t j = 0; j < dv; ++j) at(i, j) *= factor;
                    }
                }
                const double rate =
                    delta ? number(*beta, token * beta->dims[2] + (beta->dims[2] == 1 ? 0 : h)) : 1;
                for (std::int64_t j = 0; j < dv; ++j) {
                    double target = number(v, (token * heads + h) * dv + j);
                    if (delta)  // only what the state does not already recall
                        for (std::int64_t i = 0; i < dk; ++i) target -= at(i, j) * number(k, key + i);
                    for (std::int64_t i = 0; i < dk; ++i) at(i, j) += rate * number(k, key + i) * target;
                }
                for (std::int64_t g = h * (q_heads / heads); g < (h + 1) * (q_heads / heads); ++g)
                    for (std::int64_t j = 0; j < dv; ++j) {
                        double sum = 0;
                        for (std::int64_t i = 0; i < dk; ++i)
                            sum += number(q, (token * q_heads + g) * dk + i) * at(i, j);
                        call.outputs[0].real[static_cast<std::size_t>((token * q_heads + g) * dv + j)] =
                            static_cast<Scalar>(scale * sum);
                    }
            }
            if (call.outputs.size() > 1)
                for (std::size_t i = 0; i < state.size(); ++i)
                    call.outputs[1].real[static_cast<std::size_t>(first) + i] = static_cast<Scalar>(state[i]);
        }
    return {};
};

// The state's update and its reading, two each per entry.
Flop linear_attention_flop(const Operation& operation) {
    const Dims q = operation.inputs[0].dims();
    const std::int64_t heads = operation.node.integer("kv_num_heads", 1);
    const std::int64_t state = operation.inputs[1].dims()[2] / heads * operation.inputs[2].dims()[2];
    const bool delta = operation.node.get("update_rule", std::string("gated_delta")).ends_with("delta");
    const std::int64_t readers = operation.node.integer("q_num_heads", 1) / heads;
    return Flop(q[0] * q[1] * state * (2 + (delta ? 2 : 0) + 2 * readers));
}

Result<void> infer_causal_convolution(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(expect_rank(inference, 0, 3, 3));
    VIRIDIAN_TRY(expect_rank(inference, 1, 3, 3));
    const std::string activation = inference.node().get("activation", std::string("none"));
    if (activation != "none" && activation != "silu" && activation != "swish")
        return wrong_attribute("`activation` of node `{}` is `{}`", inference.node().name, activation);
    const auto& x = inference.shape(0);
    const auto& w = inference.shape(1);
    const Dimension channels = x ? (*x)[1] : Dimension();
    const Dimension taps = w ? (*w)[2] : Dimension();
    if (taps.known() && taps.value() < 1) return wrong_shape("CausalConvWithState has an empty kernel");
    const Shape state = {x ? (*x)[0] : Dimension(), channels,
                         taps.known() ? Dimension(taps.value() - 1) : Dimension()};
    VIRIDIAN_TRY(expect_shape(inference, 1, {channels, Dimension(1), taps}));
    VIRIDIAN_TRY(expect_shape(inference, 2, {channels}));
    VIRIDIAN_TRY(expect_shape(inference, 3, state));
    inference.set(0, inference.element(0), x);
    inference.set(1, inference.element(0), state);
    return {};
}

constexpr auto causal_convolution = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& w = *call.input(1);
    const Array<Scalar>* bias = call.input(2);
    const Array<Scalar>* past = call.input(3);
    const bool silu = call.node.get("activation", std::string("none")) != "none";
    const std::int64_t length = x.dims[2];
    const std::int64_t taps = w.dims[2];
    for (std::int64_t line = 0; line < x.dims[0] * x.dims[1]; ++line) {
        const std::int64_t channel = line % x.dims[1];
        // The state before the line, then the line.
        const auto number = [&](std::int64_t i) -> Scalar {
            if (i >= taps - 1) return x.real[static_cast<std::size_t>(line * length + i - (taps - 1))];
            return past == nullptr ? Scalar(0) : past->real[static_cast<std::size_t>(line * (taps - 1) + i)];
        };
        for (std::int64_t t = 0; t < length; ++t) {
            double sum =
                bias == nullptr ? 0 : static_cast<double>(bias->real[static_cast<std::size_t>(channel)]);
            for (std::int64_t k = 0; k < taps; ++k)
                sum += static_cast<double>(number(t + k)) *
                       static_cast<double>(w.real[static_cast<std::size_t>(channel * taps + k)]);
            if (silu) sum /= 1 + std::exp(-sum);
            call.outputs[0].real[static_cast<std::size_t>(line * length + t)] = static_cast<Scalar>(sum);
        }
        if (call.outputs.size() > 1)
            for (std::int64_t i = 0; i < taps - 1; ++i)
                call.outputs[1].real[static_cast<std::size_t>(line * (taps - 1) + i)] = number(length + i);
    }
    return {};
};

Flop causal_convolution_flop(const Operation& operation) {
    return Flop(2 * count_of(operation.outputs[0]) * operation.inputs[1].dims()[2]);
}

}  // namespace

std::span<const OperatorRow> state_space_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row("LinearAttention", {3, 6}, infer_linear_attention, real_kernel(linear_attention),
                        {.outputs = {1, 2}, .sets = {.any = 27}, .flop = linear_attention_flop}),
        contraction_row("CausalConvWithState", {2, 4}, infer_causal_convolution,
                        real_kernel(causal_convolution),
                        {.outputs = {1, 2}, .sets = {.any = 27}, .flop = causal_convolution_flop}),
    };
    return rows;
}

}  // namespace viridian::graph
