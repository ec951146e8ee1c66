// BatchNormalizationTraining and its gradient. On row-major tensors threads share the channels, so that the
// sums do not depend on their number. Other layouts: batch_columns.cpp.
#include "viridian/execute/cpu/kernels/training/batch_normalization.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"
#include "viridian/execute/cpu/simd/training/gradients.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;

constexpr std::string_view batch_normalization_family_name = "simd:batchnorm";

// Factors and divisors of 1 have no node.
bool is_batch_body(const Node& node) {
    using graph::op::Add, graph::op::Div, graph::op::Mul, graph::op::ReduceSum, graph::op::Sqrt,
        graph::op::Sub;
    if (node.op == graph::op::BatchNormalizationTraining)
        return body_consists_of(
            node, {{ReduceSum, 2, 2}, {Div, 1, 3}, {Sub, 1, 1}, {Mul, 3, 7}, {Add, 2, 4}, {Sqrt, 1, 1}});
    return body_consists_of(node, {{ReduceSum, 2, 2}, {Div, 0, 2}, {Sub, 3, 3}, {Mul, 5, 5}});
}

// Inputs of the shape of x, which come first; the others have a number for each channel.
std::size_t whole_inputs(const BatchNormalization& work) { return work.gradient ? 2 : 1; }

std::optional<BatchNormalization> batch_normalization(const Task& task) {
    const Node& node = task.node();
    const bool training = node.op == graph::op::BatchNormalizationTraining;
    if (task.region.nodes.size() != 1 || (!training && node.op != graph::op::BatchNormalizationGrad) ||
        node.inputs.size() != 5 || !is_batch_body(node) || !task.type(node.inputs[0]).known())
        return std::nullopt;
    const Dims dims = task.dims(node.inputs[0]);
    if (dims.size() < 2 || std::ranges::count(dims, 0) > 0) return std::nullopt;
    BatchNormalization made{.gradient = !training,
                            .images = dims[0],
                            .channels = dims[1],
                            .epsilon = node.get("epsilon", 1e-5),
                            .momentum = node.get("momentum", 0.9)};
    for (std::size_t axis = 2; axis < dims.size(); ++axis) made.inner *= dims[axis];
    if (made.inner == 1) made.block = made.channels;
    const std::size_t whole = whole_inputs(made);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (!is_f32_of(task, node.inputs[i], i < whole ? dims : Dims{dims[1]})) return std::nullopt;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != ValueId::none &&
            !is_f32_of(task, node.outputs[i], i == 0 ? dims : Dims{dims[1]}))
            return std::nullopt;
    return made;
}

// Sets the layout of everything that has the shape of x. Returns false if a constant is among it.
bool set_layout(const Task& task, const BatchNormalization& work, const plan::Layout& layout,
                plan::Choice& choice) {
    for (std::size_t i = 0; i < whole_inputs(work); ++i) {
        const auto input = task.input_index(task.node().inputs[i]);
        if (!input) return false;
        choice.inputs[*input].layout = layout;
    }
    if (const auto output = output_index(task, 0)) choice.outputs[*output].layout = layout;
    return true;
}

std::vector<plan::Choice> offers_batch_normalization(const Task& task) {
    auto work = batch_normalization(task);
    if (!work) return {};
    const plan::Choice plain = task.plain_choice(std::string(batch_normalization_family_name));
    std::vector<plan::Choice> choices = {plain};
    if (work->block > 0) choices[0].workspace = columns_workspace(*work);
    const std::size_t rank = task.dims(task.node().inputs[0]).size();
    if (work->inner == 1) return choices;
    const auto offer = [&](const plan::Layout& layout, std::int64_t block) {
        plan::Choice choice = plain;
        work->block = block;
        choice.workspace = columns_workspace(*work);
        if (set_layout(task, *work, layout, choice)) choices.push_back(std::move(choice));
    };
    offer(plan::channels_last(rank), work->channels);
    for (const std::int64_t block : {16, 8}) offer(plan::channels_blocked(rank, block), block);
    return choices;
}

// The number of channels that lie side by side in `layout`, as BatchNormalization has it.
std::int64_t block_of(const plan::Layout& layout, const BatchNormalization& work) {
    if (!layout.blocks.empty()) return layout.blocks[0].size;
    return layout == plan::plain(layout.rank()) ? work.block : work.channels;
}

// Where the elements of one channel of one image begin, on a row-major tensor.
std::int64_t channel_at(const BatchNormalization& w, std::int64_t image, std::int64_t channel) {
    return (image * w.channels + channel) * w.inner;
}

// Normalises one channel, and sets the statistics.
void normalize_channel(const BatchNormalization& w, const Pointers& pointers, std::int64_t c) {
    const float* const x = w.input(pointers, 0);
    double total = 0;
    for (std::int64_t i = 0; i < w.images; ++i)
        total = simd::fold_row(simd::Fold::sum, total, x + channel_at(w, i, c), w.inner);
    const auto mean = static_cast<float>(total / w.count());
    simd::Deviations sums;
    for (std::int64_t i = 0; i < w.images; ++i) {
        const simd::Deviations part = simd::deviations(x + channel_at(w, i, c), mean, w.inner);
        sums.sum += part.sum;
        sums.squares += part.squares;
    }
    const double rest = sums.sum / w.count(), variance = sums.squares / w.count() - rest * rest;
    const double inverse = set_statistics(w, pointers, c, static_cast<double>(mean), variance);
    float* const y = w.output(pointers, 0);
    if (y == nullptr) return;
    const auto factor = static_cast<float>(inverse * static_cast<double>(w.input(pointers, 1)[c]));
    for (std::int64_t i = 0; i < w.images; ++i)
        simd::centred_affine(y + channel_at(w, i, c), x + channel_at(w, i, c), mean, factor,
                             w.input(pointers, 2)[c], w.inner);
}

// The gradients through one channel.
void differentiate_channel(const BatchNormalization& w, const Pointers& pointers, std::int64_t c) {
    const float *const g = w.input(pointers, 0), *const x = w.input(pointers, 1);
    const float mean = w.input(pointers, 3)[c];
    const auto inverse = static_cast<double>(w.input(pointers, 4)[c]);
    simd::GradientSums sums;
    for (std::int64_t i = 0; i < w.images; ++i) {
        const std::int64_t at = channel_at(w, i, c);
        const simd::GradientSums part = simd::gradient_sums(g + at, nullptr, x + at, mean, w.inner);
        sums.plain += part.plain;
        sums.along += part.along;
    }
    const double dscale = sums.along * inverse;
    if (float* dx = w.output(pointers, 0)) {
        const simd::Centred centred{
            static_cast<float>(inverse * static_cast<double>(w.input(pointers, 2)[c])),
            static_cast<float>(sums.plain / w.count()), static_cast<float>(inverse * dscale / w.count()),
            mean};
        for (std::int64_t i = 0; i < w.images; ++i) {
            const std::int64_t at = channel_at(w, i, c);
            simd::centred_gradient(dx + at, g + at, nullptr, x + at, centred, w.inner);
        }
    }
    if (float* to = w.output(pointers, 1)) to[c] = static_cast<float>(dscale);
    if (float* to = w.output(pointers, 2)) to[c] = static_cast<float>(sums.plain);
}

Result<Kernel> prepare_batch_normalization(const Task& task, const plan::Choice& choice) {
    auto work = batch_normalization(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    for (const ValueId id : task.node().inputs) work->inputs.push_back(port_of(task, id, kernel));
    for (std::size_t i = 0; i < task.node().outputs.size(); ++i)
        work->outputs.push_back(output_index(task, i));
    if (const auto x = work->inputs[0].input) work->block = block_of(choice.inputs[*x].layout, *work);
    const int threads = task.context.threads;
    if (work->block > 0) {
        kernel.workspace = columns_workspace(*work);
        kernel.run = [w = *std::move(work), threads](const Pointers& pointers) {
            run_batch_columns(w, threads, pointers);
        };
        return kernel;
    }
    kernel.run = [w = *std::move(work), threads](const Pointers& pointers) {
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = first; c < last; ++c)
                (w.gradient ? differentiate_channel : normalize_channel)(w, pointers, c);
        };
        if (w.images * w.channels * w.inner < 8192) return work_on(0, w.channels);
        in_shares(threads, w.channels, work_on);
    };
    return kernel;
}

}  // namespace

double set_statistics(const BatchNormalization& work, const Pointers& pointers, std::int64_t c, double mean,
                      double variance) {
    const double inverse = 1 / std::sqrt(variance + work.epsilon);
    const auto running = [&](std::size_t before, double now) {
        return static_cast<float>(static_cast<double>(work.input(pointers, before)[c]) * work.momentum +
                                  now * (1 - work.momentum));
    };
    if (float* to = work.output(pointers, 1)) to[c] = running(3, mean);
    if (float* to = work.output(pointers, 2)) to[c] = running(4, variance);
    if (float* to = work.output(pointers, 3)) to[c] = static_cast<float>(mean);
    if (float* to = work.output(pointers, 4)) to[c] = static_cast<float>(inverse);
    return inverse;
}

Family batch_normalization_family() {
    return {batch_normalization_family_name, offers_batch_normalization, prepare_batch_normalization, true};
}

}  // namespace viridian::execute::cpu
