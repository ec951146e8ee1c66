// BatchNormalization: Y = (X − mean) / sqrt(var + ε) · scale + bias per channel. With training_mode the mean
// and (population) variance are those of the batch, and outputs 1, 2 are the running ones: running = input ·
// momentum + batch · (1 − momentum).
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_batch_normalization(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(expect_rank(inference, 0, 1));
    const auto& x = inference.shape(0);
    Dimension channels;
    if (x && x->size() > 1) channels = (*x)[1];
    if (x && x->size() == 1) channels = Dimension(1);
    for (std::size_t i = 1; i < 5; ++i) VIRIDIAN_TRY(expect_shape(inference, i, {channels}));
    inference.set(0, inference.element(0), x);
    inference.set(1, inference.element(3), Shape{channels});
    inference.set(2, inference.element(4), Shape{channels});
    return {};
}

constexpr auto batch_normalization = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const double epsilon = call.node.get("epsilon", 1e-5);
    const double momentum = call.node.get("momentum", 0.9);
    const bool training = call.node.integer("training_mode", 0) != 0;
    const std::int64_t images = x.dims[0];
    const std::int64_t channels = x.rank() > 1 ? x.dims[1] : 1;
    const std::int64_t plane = x.rank() > 1 ? product(std::span(x.dims).subspan(2)) : 1;
    const auto number = [&](std::size_t input, std::int64_t c) {
        return static_cast<double>(call.input(input)->real[static_cast<std::size_t>(c)]);
    };
    for (std::int64_t c = 0; c < channels; ++c) {
        const auto each = [&](auto f) {
            for (std::int64_t n = 0; n < images; ++n)
                for (std::int64_t i = 0; i < plane; ++i)
                    f(static_cast<std::size_t>((n * channels + c) * plane + i));
        };
        double mean = number(3, c);
        double variance = number(4, c);
        if (training) {
            const auto count = static_cast<double>(images * plane);
            double sum = 0;
            each([&](std::size_t i) { sum += static_cast<double>(x.real[i]); });
            const double batch_mean = sum / count;
            double squares = 0;
            each([&](std::size_t i) {
                const double distance = static_cast<double>(x.real[i]) - batch_mean;
                squares += distance * distance;
            });
            const double batch_variance = squares / count;
            const auto update = [&](std::size_t output, double running, double batch) {
                if (output < call.outputs.size())
                    call.outputs[output].real[static_cast<std::size_t>(c)] =
                        static_cast<Scalar>(running * momentum + batch * (1 - momentum));
            };
            update(1, mean, batch_mean);
            update(2, variance, batch_variance);
            mean = batch_mean;
            variance = batch_variance;
        } else if (call.outputs.size() > 1) {
            call.outputs[1].real[static_cast<std::size_t>(c)] = static_cast<Scalar>(mean);
            if (call.outputs.size() > 2)
                call.outputs[2].real[static_cast<std::size_t>(c)] = static_cast<Scalar>(variance);
        }
        const double scale = number(1, c) / std::sqrt(variance + epsilon);
        const double bias = number(2, c);
        each([&](std::size_t i) {
            call.outputs[0].real[i] =
                static_cast<Scalar>((static_cast<double>(x.real[i]) - mean) * scale + bias);
        });
    }
    return {};
};

// Two per element with given statistics; five where the batch's own are taken.
Flop batch_normalization_flop(const Operation& operation) {
    const bool training = operation.node.integer("training_mode", 0) != 0;
    return Flop((training ? 7 : 2) * count_of(operation.outputs[0]));
}

// The statistics of a training batch reduce everything but the channels.
IterationSpace batch_normalization_space(const Operation& operation) {
    const bool training = operation.node.integer("training_mode", 0) != 0;
    IterationSpace space;
    for (const std::int64_t dimension : operation.inputs[0].dims())
        space.push_back({dimension, training && space.size() != 1});
    return space;
}

}  // namespace

std::span<const OperatorRow> batch_normalization_operators() {
    static constexpr OperatorRow rows[] = {
        normalization_row("BatchNormalization", {5, 5}, infer_batch_normalization,
                          real_kernel(batch_normalization),
                          {.outputs = {1, 3},
                           .precision = precision::f32_statistics,
                           .samples = Samples::apart,
                           .flop = batch_normalization_flop,
                           .iteration_space = batch_normalization_space}),
    };
    return rows;
}

}  // namespace viridian::graph
