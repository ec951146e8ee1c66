// BatchNormalizationTraining and its gradient on row-major tensors. Threads share the channels, so that the
// sums do not depend on their number.
#include <algorithm>
#include <cmath>

#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"
#include "viridian/execute/cpu/simd/training/gradients.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;

constexpr std::string_view batch_normalization_family_name = "simd:batchnorm";

struct BatchNormalization {
    bool gradient = false;
    std::int64_t images = 1, channels = 1, inner = 1;  // [images, channels, inner]
    double epsilon = 0, momentum = 0;

    [[nodiscard]] double count() const { return static_cast<double>(images * inner); }
    [[nodiscard]] std::int64_t at(std::int64_t image, std::int64_t channel) const {
        return (image * channels + channel) * inner;
    }
};

// Factors and divisors of 1 have no node.
bool is_batch_body(const Node& node) {
    using graph::op::Add, graph::op::Div, graph::op::Mul, graph::op::ReduceSum, graph::op::Sqrt,
        graph::op::Sub;
    if (node.op == graph::op::BatchNormalizationTraining)
        return body_consists_of(
            node, {{ReduceSum, 2, 2}, {Div, 1, 3}, {Sub, 1, 1}, {Mul, 3, 7}, {Add, 2, 4}, {Sqrt, 1, 1}});
    return body_consists_of(node, {{ReduceSum, 2, 2}, {Div, 0, 2}, {Sub, 3, 3}, {Mul, 5, 5}});
}

std::optional<BatchNormalization> batch_normalization(const Task& task) {
    const Node& node = task.node();
    const bool training = node.op == graph::op::BatchNormalizationTraining;
    if (task.region.nodes.size() != 1 || (!training && node.op != graph::op::BatchNormalizationGrad) ||
        node.inputs.size() != 5 || !is_batch_body(node) || !task.type(node.inputs[0]).known())
        return std::nullopt;
    const Dims dims = task.dims(node.inputs[0]);
    if (dims.size() < 2 || std::ranges::count(dims, 0) > 0) return std::nullopt;
    BatchNormalization made{
        !training, dims[0], dims[1], 1, node.get("epsilon", 1e-5), node.get("momentum", 0.9)};
    for (std::size_t axis = 2; axis < dims.size(); ++axis) made.inner *= dims[axis];
    const std::size_t whole =
        training ? 1 : 2;  // inputs of the shape of x; the others have a number a channel
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (!is_f32_of(task, node.inputs[i], i < whole ? dims : Dims{dims[1]})) return std::nullopt;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != ValueId::none &&
            !is_f32_of(task, node.outputs[i], i == 0 ? dims : Dims{dims[1]}))
            return std::nullopt;
    return made;
}

std::vector<plan::Choice> offers_batch_normalization(const Task& task) {
    if (!batch_normalization(task)) return {};
    return {task.plain_choice(std::string(batch_normalization_family_name))};
}

using BatchPorts = std::vector<Port>;
using BatchOutputs = std::vector<std::optional<std::size_t>>;

float* channel_output(const Pointers& pointers, const BatchOutputs& outputs, std::size_t i) {
    const auto& index = i < outputs.size() ? outputs[i] : std::nullopt;
    return index ? reinterpret_cast<float*>(pointers.outputs[*index]) : nullptr;
}

// Normalises one channel, and sets the statistics.
void normalize_channel(const BatchNormalization& w, const BatchPorts& in, const BatchOutputs& out,
                       const Pointers& pointers, std::int64_t c) {
    const float* const x = in[0].at(pointers);
    double total = 0;
    for (std::int64_t i = 0; i < w.images; ++i)
        total = simd::fold_row(simd::Fold::sum, total, x + w.at(i, c), w.inner);
    const auto mean = static_cast<float>(total / w.count());
    simd::Deviations sums;
    for (std::int64_t i = 0; i < w.images; ++i) {
        const simd::Deviations part = simd::deviations(x + w.at(i, c), mean, w.inner);
        sums.sum += part.sum;
        sums.squares += part.squares;
    }
    const double rest = sums.sum / w.count(), variance = sums.squares / w.count() - rest * rest;
    const double inverse = 1 / std::sqrt(variance + w.epsilon);
    if (float* y = channel_output(pointers, out, 0)) {
        const auto factor = static_cast<float>(inverse * static_cast<double>(in[1].at(pointers)[c]));
        for (std::int64_t i = 0; i < w.images; ++i)
            simd::centred_affine(y + w.at(i, c), x + w.at(i, c), mean, factor, in[2].at(pointers)[c],
                                 w.inner);
    }
    const auto running = [&](std::size_t before, double now) {
        return static_cast<float>(static_cast<double>(in[before].at(pointers)[c]) * w.momentum +
                                  now * (1 - w.momentum));
    };
    if (float* to = channel_output(pointers, out, 1)) to[c] = running(3, static_cast<double>(mean));
    if (float* to = channel_output(pointers, out, 2)) to[c] = running(4, variance);
    if (float* to = channel_output(pointers, out, 3)) to[c] = mean;
    if (float* to = channel_output(pointers, out, 4)) to[c] = static_cast<float>(inverse);
}

// The gradients through one channel.
void differentiate_channel(const BatchNormalization& w, const BatchPorts& in, const BatchOutputs& out,
                           const Pointers& pointers, std::int64_t c) {
    const float *const g = in[0].at(pointers), *const x = in[1].at(pointers);
    const float mean = in[3].at(pointers)[c];
    const auto inverse = static_cast<double>(in[4].at(pointers)[c]);
    simd::GradientSums sums;
    for (std::int64_t i = 0; i < w.images; ++i) {
        const simd::GradientSums part =
            simd::gradient_sums(g + w.at(i, c), nullptr, x + w.at(i, c), mean, w.inner);
        sums.plain += part.plain;
        sums.along += part.along;
    }
    const double dscale = sums.along * inverse;
    if (float* dx = channel_output(pointers, out, 0)) {
        const simd::Centred centred{static_cast<float>(inverse * static_cast<double>(in[2].at(pointers)[c])),
                                    static_cast<float>(sums.plain / w.count()),
                                    static_cast<float>(inverse * dscale / w.count()), mean};
        for (std::int64_t i = 0; i < w.images; ++i)
            simd::centred_gradient(dx + w.at(i, c), g + w.at(i, c), nullptr, x + w.at(i, c), centred,
                                   w.inner);
    }
    if (float* to = channel_output(pointers, out, 1)) to[c] = static_cast<float>(dscale);
    if (float* to = channel_output(pointers, out, 2)) to[c] = static_cast<float>(sums.plain);
}

Result<Kernel> prepare_batch_normalization(const Task& task, const plan::Choice& choice) {
    const auto work = batch_normalization(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    BatchPorts ports;
    BatchOutputs outputs;
    for (const ValueId id : task.node().inputs) ports.push_back(port_of(task, id, kernel));
    for (std::size_t i = 0; i < task.node().outputs.size(); ++i) outputs.push_back(output_index(task, i));
    kernel.run = [w = *work, ports = std::move(ports), outputs = std::move(outputs),
                  threads = task.context.threads](const Pointers& pointers) {
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = first; c < last; ++c)
                (w.gradient ? differentiate_channel : normalize_channel)(w, ports, outputs, pointers, c);
        };
        if (w.images * w.channels * w.inner < 8192) return work_on(0, w.channels);
        in_shares(threads, w.channels, work_on);
    };
    return kernel;
}

}  // namespace

Family batch_normalization_family() {
    return {batch_normalization_family_name, offers_batch_normalization, prepare_batch_normalization, true};
}

}  // namespace viridian::execute::cpu
