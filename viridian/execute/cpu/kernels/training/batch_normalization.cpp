// BatchNormalizationTraining, its gradient, and BatchNormalization by given statistics, with the element-wise
// steps that follow a normalisation and those before a gradient. On row-major tensors threads share the
// channels, so that the sums do not depend on their number. Other layouts: batch_columns.cpp.
#include "viridian/execute/cpu/kernels/training/batch_normalization.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"
#include "viridian/execute/cpu/simd/training/gradients.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

using graph::Dims;
using graph::Node;
using graph::ValueId;

using Kind = BatchNormalization::Kind;

constexpr std::string_view batch_normalization_family_name = "simd:batchnorm";

std::optional<Kind> kind_of(const Node& node) {
    if (node.op == graph::op::BatchNormalizationTraining) return Kind::training;
    if (node.op == graph::op::BatchNormalizationGrad) return Kind::gradient;
    if (node.op == graph::op::BatchNormalization && node.integer("training_mode", 0) == 0)
        return Kind::inference;
    return std::nullopt;
}

// Factors and divisors of 1 have no node.
bool has_expected_body(const Node& node, Kind kind) {
    using graph::op::Add, graph::op::Div, graph::op::Mul, graph::op::ReduceSum, graph::op::Sqrt,
        graph::op::Sub;
    if (kind == Kind::inference) return true;  // it has none
    if (kind == Kind::training)
        return body_consists_of(
            node, {{ReduceSum, 2, 2}, {Div, 1, 3}, {Sub, 1, 1}, {Mul, 3, 7}, {Add, 2, 4}, {Sqrt, 1, 1}});
    return body_consists_of(node, {{ReduceSum, 2, 2}, {Div, 0, 2}, {Sub, 3, 3}, {Mul, 5, 5}});
}

// Inputs of the shape of x, which come first; the others have a number for each channel.
std::size_t whole_inputs(Kind kind) { return kind == Kind::gradient ? 2 : 1; }

// Returns the index of the normalisation, which is the first node, or of its gradient, which is the last.
std::size_t normalization_index(const Task& task) {
    const auto kind = kind_of(task.node());
    return kind && *kind != Kind::gradient ? 0 : task.region.nodes.size() - 1;
}

// Reads the other nodes of the region as steps. Returns false if one of them cannot be a step.
bool read_other_nodes(const Task& task, BatchNormalization& work, const Dims& dims) {
    const std::size_t nodes = task.region.nodes.size();
    if (work.kind != Kind::gradient) {
        ValueId value = task.node().outputs[0];
        if (nodes > 1 && value == ValueId::none) return false;
        auto steps = read_step_range(task, 1, nodes, value);
        if (!steps) return false;
        work.steps = *std::move(steps);
        return true;
    }
    const ValueId wanted = task.node(nodes - 1).inputs[0];
    if (nodes == 1) {
        work.upstream = wanted;
        return true;
    }
    for (const ValueId start : task.node().inputs) {
        if (start == ValueId::none || !task.input_index(start) || !is_f32_of(task, start, dims)) continue;
        ValueId value = start;
        auto steps = read_step_range(task, 0, nodes - 1, value);
        if (!steps || value != wanted) continue;
        work.steps = *std::move(steps);
        work.upstream = start;
        return true;
    }
    return false;
}

// Whether a result of a node before the last is read outside, other than statistics.
bool others_read_parts(const Task& task) {
    const std::size_t own = normalization_index(task);
    for (std::size_t i = 0; i + 1 < task.region.nodes.size(); ++i) {
        const std::vector<ValueId>& all = task.node(i).outputs;
        for (const ValueId id : i == own ? std::span(all).first(1) : std::span(all))
            if (id != ValueId::none && output_index(task, id)) return true;
    }
    return false;
}

std::optional<BatchNormalization> batch_normalization(const Task& task) {
    const Node& node = task.node(normalization_index(task));
    const auto kind = kind_of(node);
    if (!kind || node.inputs.size() != 5 || !has_expected_body(node, *kind) ||
        std::ranges::count(node.inputs, ValueId::none) > 0 || !task.type(node.inputs[0]).known())
        return std::nullopt;
    const Dims dims = task.dims(node.inputs[0]);
    if (dims.size() < 2 || std::ranges::count(dims, 0) > 0) return std::nullopt;
    BatchNormalization made{.kind = *kind,
                            .images = dims[0],
                            .channels = dims[1],
                            .epsilon = node.get("epsilon", 1e-5),
                            .momentum = node.get("momentum", 0.9)};
    for (std::size_t axis = 2; axis < dims.size(); ++axis) made.inner *= dims[axis];
    if (made.inner == 1) made.block = made.channels;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (!is_f32_of(task, node.inputs[i], i < whole_inputs(*kind) ? dims : Dims{dims[1]}))
            return std::nullopt;
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (node.outputs[i] != ValueId::none &&
            !is_f32_of(task, node.outputs[i], i == 0 ? dims : Dims{dims[1]}))
            return std::nullopt;
    // These kernels compute output 0 alone; the reference copies the statistics if a file reads them.
    if (*kind == Kind::inference && std::ranges::any_of(task.region.outputs, [&](ValueId id) {
            return std::ranges::find(node.outputs.begin() + 1, node.outputs.end(), id) != node.outputs.end();
        }))
        return std::nullopt;
    if (!read_other_nodes(task, made, dims) || others_read_parts(task)) return std::nullopt;
    return made;
}

// Returns the index among the region's outputs of the node's output `i`, or nothing if it is not read. Output
// 0 of a normalisation stands for the result of the last step.
std::optional<std::size_t> region_output(const Task& task, std::size_t i) {
    const std::size_t place = normalization_index(task);
    const bool result = i == 0 && place == 0;
    return output_index(task, task.node(result ? task.region.nodes.size() - 1 : place).output(i));
}

// Sets the layout of everything that has the shape of x. Returns false if the steps or a constant do not
// allow it.
bool set_layout(const Task& task, const BatchNormalization& work, const plan::Layout& layout,
                plan::Choice& choice) {
    const Node& node = task.node(normalization_index(task));
    const ValueId x = node.inputs[work.kind == Kind::gradient ? 1 : 0];
    const Dims dims = task.dims(x);
    const bool plain = layout == plan::plain(dims.size());
    if (!plain && (!task.input_index(x) || (work.kind == Kind::gradient && !task.input_index(work.upstream))))
        return false;
    std::vector<Packed> constants;
    const auto chain = simd::Chain::make(task, work.steps, dims, layout, constants);
    if (!chain || (!chain->empty() && work.block > largest_piece)) return false;
    if (work.block > 0 && work.channels % work.block != 0 && !chain->keeps_padding()) return false;
    for (std::size_t i = 0; i < choice.inputs.size(); ++i)
        if (task.dims(task.region.inputs[i]) == dims) choice.inputs[i].layout = layout;
    if (const auto output = region_output(task, 0)) choice.outputs[*output].layout = layout;
    return true;
}

std::vector<plan::Choice> offers_batch_normalization(const Task& task) {
    auto work = batch_normalization(task);
    if (!work) return {};
    const plan::Choice plain = task.plain_choice(std::string(batch_normalization_family_name));
    const Dims dims = task.dims(task.node(normalization_index(task)).inputs[0]);
    const std::size_t rank = dims.size();
    std::vector<plan::Choice> choices, columns;
    const auto offer = [&](const plan::Layout& layout, std::int64_t block) {
        plan::Choice choice = plain;
        work->block = block;
        if (block > 0) choice.workspace = columns_workspace(*work);
        if (set_layout(task, *work, layout, choice))
            (block > 0 ? columns : choices).push_back(std::move(choice));
    };
    offer(plan::plain(rank), work->block);
    if (work->inner > 1) {
        offer(plan::channels_last(rank), work->channels);
        for (const std::int64_t block : {16, 8}) offer(plan::channels_blocked(rank, block), block);
    }
    if (work->channels <= largest_piece)
        offer_widened(
            task, [&](std::size_t i) { return task.dims(task.region.inputs[i]) == dims; }, columns,
            [&](std::size_t i) { return i == region_output(task, 0); });
    std::ranges::move(columns, std::back_inserter(choices));
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

// Runs f(first, count) for pieces of [0, n) of at most largest_piece elements.
template <class Function>
void each_piece(std::int64_t n, const Function& f) {
    for (std::int64_t at = 0; at < n; at += largest_piece) f(at, std::min(largest_piece, n - at));
}

// Sets a channel of the output by its mean and inverse deviation. `rest` is what f32 lacks of the mean.
void write_channel(const BatchNormalization& w, const Pointers& pointers, std::int64_t c, float mean,
                   double rest, double inverse) {
    float* const y = w.output(pointers, 0);
    if (y == nullptr) return;
    const float* const x = w.input(pointers, 0);
    const double factor = inverse * static_cast<double>(w.input(pointers, 1)[c]);
    const auto shift = static_cast<float>(static_cast<double>(w.input(pointers, 2)[c]) - rest * factor);
    alignas(64) float scratch[largest_piece];
    for (std::int64_t i = 0; i < w.images; ++i)
        each_piece(w.inner, [&](std::int64_t first, std::int64_t n) {
            const std::int64_t at = channel_at(w, i, c) + first;
            simd::centred_affine(y + at, x + at, mean, static_cast<float>(factor), shift, n,
                                 w.epilogue(pointers, at, n));
            w.chain.run(pointers, y + at, y + at, at, n, scratch);
        });
}

// Normalises one channel by the given statistics.
void apply_to_channel(const BatchNormalization& w, const Pointers& pointers, std::int64_t c) {
    write_channel(w, pointers, c, w.input(pointers, 3)[c], 0,
                  inverse_deviation(w, static_cast<double>(w.input(pointers, 4)[c])));
}

// Normalises one channel by its own statistics, and sets these.
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
    const double rest = sums.sum / w.count();
    const double variance = std::max(sums.squares / w.count() - rest * rest, 0.0);
    write_channel(w, pointers, c, mean, rest,
                  set_statistics(w, pointers, c, static_cast<double>(mean) + rest, variance));
}

// The gradients through one channel.
void differentiate_channel(const BatchNormalization& w, const Pointers& pointers, std::int64_t c) {
    const float *const g = w.input(pointers, 0), *const x = w.input(pointers, 1);
    const float mean = w.input(pointers, 3)[c];
    const auto inverse = static_cast<double>(w.input(pointers, 4)[c]);
    alignas(64) float made[largest_piece], scratch[largest_piece];
    const auto upstream = [&](std::int64_t at, std::int64_t n) -> simd::UpstreamGradient {
        if (w.chain.empty()) return {g + at, nullptr, w.operand.at(pointers, at, n, nullptr)};
        w.chain.run(pointers, g + at, made, at, n, scratch);
        return {made};
    };
    simd::GradientSums sums;
    for (std::int64_t i = 0; i < w.images; ++i)
        each_piece(w.inner, [&](std::int64_t first, std::int64_t n) {
            const std::int64_t at = channel_at(w, i, c) + first;
            const simd::GradientSums part = simd::gradient_sums(upstream(at, n), x + at, mean, n);
            sums.plain += part.plain;
            sums.along += part.along;
        });
    const double dscale = sums.along * inverse;
    if (float* dx = w.output(pointers, 0)) {
        const simd::Centred centred{
            static_cast<float>(inverse * static_cast<double>(w.input(pointers, 2)[c])),
            static_cast<float>(sums.plain / w.count()), static_cast<float>(inverse * dscale / w.count()),
            mean};
        for (std::int64_t i = 0; i < w.images; ++i)
            each_piece(w.inner, [&](std::int64_t first, std::int64_t n) {
                const std::int64_t at = channel_at(w, i, c) + first;
                simd::centred_gradient(dx + at, upstream(at, n), x + at, centred, n);
            });
    }
    if (float* to = w.output(pointers, 1)) to[c] = static_cast<float>(dscale);
    if (float* to = w.output(pointers, 2)) to[c] = static_cast<float>(sums.plain);
}

// Fuses the steps into the loops of the normalisation. Returns false, changing nothing, if they need a chain.
bool fuse_into_loops(const Task& task, const plan::Choice& choice, BatchNormalization& work, Kernel& kernel) {
    const Dims dims = task.dims(task.node(normalization_index(task)).inputs[0]);
    const auto whole = [&](const EpilogueStep& step) {
        return task.dims(step.operand) == dims && task.input_index(step.operand)
                   ? port_of(task, choice, step.operand, kernel)
                   : Port();
    };
    const std::size_t count = work.steps.size();
    if (work.kind == Kind::gradient) {
        if (count == 1 && work.steps[0].function == Function::relu_gradient)
            work.operand = whole(work.steps[0]);
        return count == 0 || !work.operand.absent;
    }
    std::size_t read = 0;
    if (read < count && work.steps[read].function == Function::add) {
        work.operand = whole(work.steps[read]);
        if (work.operand.absent) return false;
        ++read;
    }
    work.rectifies = read < count && work.steps[read].function == Function::relu;
    if (read + (work.rectifies ? 1 : 0) == count) return true;
    work.operand = {};
    work.rectifies = false;
    return false;
}

Result<Kernel> prepare_batch_normalization(const Task& task, const plan::Choice& choice) {
    auto work = batch_normalization(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    const Node& node = task.node(normalization_index(task));
    const bool gradient = work->kind == Kind::gradient;
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        work->inputs.push_back(
            port_of(task, choice, gradient && i == 0 ? work->upstream : node.inputs[i], kernel));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) work->outputs.push_back(region_output(task, i));
    const Dims dims = task.dims(node.inputs[0]);
    plan::Layout layout = plan::plain(dims.size());
    if (const auto x = work->inputs[gradient ? 1 : 0].input) layout = choice.inputs[*x].layout;
    work->block = block_of(layout, *work);
    if (const auto& result = work->outputs[0]) work->rounds_result = in_bf16(choice.outputs[*result]);
    if (!fuse_into_loops(task, choice, *work, kernel)) {
        auto chain = simd::Chain::make(task, work->steps, dims, layout, kernel.constants, &choice);
        if (!chain) return unknown_kernel(choice);
        work->chain = *std::move(chain);
    }
    const int threads = task.context.threads;
    if (work->block > 0) {
        kernel.workspace = columns_workspace(*work);
        kernel.run = [w = *std::move(work), threads](const Pointers& pointers) {
            run_batch_columns(w, threads, pointers);
        };
        return kernel;
    }
    const auto each = gradient                        ? differentiate_channel
                      : work->kind == Kind::inference ? apply_to_channel
                                                      : normalize_channel;
    kernel.run = [w = *std::move(work), threads, each](const Pointers& pointers) {
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t c = first; c < last; ++c) each(w, pointers, c);
        };
        if (w.images * w.channels * w.inner < 8192) return work_on(0, w.channels);
        in_shares(threads, w.channels, work_on);
    };
    return kernel;
}

}  // namespace

double inverse_deviation(const BatchNormalization& work, double variance) {
    return 1 / std::sqrt(variance + work.epsilon);
}

double set_statistics(const BatchNormalization& work, const Pointers& pointers, std::int64_t c, double mean,
                      double variance) {
    const double inverse = inverse_deviation(work, variance);
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
