// LayerNormalization with the mean and the inverse deviation as outputs and parameters that change, its
// gradients, and that of Softmax, one row of a row-major tensor at a time.
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

constexpr std::string_view row_normalization_family_name = "simd:rownorm";
constexpr std::int64_t column_strip = 256;  // columns whose sums one thread keeps

enum class RowOperator : std::uint8_t { forward, input_gradient, scale_gradient, softmax_gradient };

struct RowNormalization {
    RowOperator op = RowOperator::forward;
    std::int64_t rows = 1, n = 1;
    float epsilon = 0;
};

std::int64_t product_of(const Dims& dims, std::size_t first, std::size_t last) {
    std::int64_t all = 1;
    for (std::size_t i = first; i < last; ++i) all *= dims[i];
    return all;
}

// Whether `id` has one number for each element of a row of `dims` behind `axis`, in its order.
bool is_row(const Task& task, ValueId id, const Dims& dims, std::size_t axis) {
    if (id == ValueId::none || !task.type(id).known()) return false;
    Dims own = task.dims(id);
    if (own.size() + axis < dims.size() || own.size() > dims.size()) return false;
    while (own.size() + axis > dims.size())
        if (own.front() != 1)
            return false;
        else
            own.erase(own.begin());
    return is_f32_of(task, id, task.dims(id)) &&
           own == Dims(dims.begin() + static_cast<std::ptrdiff_t>(axis), dims.end());
}

// Whether `id` has one number for each row.
bool is_statistic(const Task& task, ValueId id, std::int64_t rows) {
    if (id == ValueId::none || !task.type(id).known()) return false;
    const auto count = graph::element_count(task.dims(id));
    return is_f32_of(task, id, task.dims(id)) && count.ok() && *count == rows;
}

std::optional<RowOperator> row_operator(const Node& node) {
    using graph::op::Mul, graph::op::ReduceMean, graph::op::ReduceSum, graph::op::Sub;
    if (node.op == graph::op::LayerNormalization) return RowOperator::forward;
    if (node.op == graph::op::LayerNormalizationGradInput &&
        body_consists_of(node, {{Sub, 3, 3}, {Mul, 5, 5}, {ReduceMean, 2, 2}}))
        return RowOperator::input_gradient;
    if (node.op == graph::op::LayerNormalizationGradScale &&
        body_consists_of(node, {{Sub, 1, 1}, {Mul, 2, 2}, {ReduceSum, 0, 2}}))
        return RowOperator::scale_gradient;
    if (node.op == graph::op::SoftmaxGrad &&
        body_consists_of(node, {{Sub, 1, 1}, {Mul, 2, 2}, {ReduceSum, 1, 1}}))
        return RowOperator::softmax_gradient;
    return std::nullopt;
}

// The inputs of each operator: which are whole, one number a row, one number a column.
bool ports_fit(const Task& task, RowOperator op, const Dims& dims, std::size_t axis, std::int64_t rows) {
    const Node& node = task.node();
    const auto whole = [&](std::size_t i) { return is_f32_of(task, node.input(i), dims); };
    const auto row = [&](ValueId id) { return is_row(task, id, dims, axis); };
    const auto statistic = [&](ValueId id) { return is_statistic(task, id, rows); };
    switch (op) {
        case RowOperator::forward:
            return whole(0) && row(node.input(1)) && (node.input(2) == ValueId::none || row(node.input(2))) &&
                   (node.output(1) == ValueId::none || statistic(node.output(1))) &&
                   (node.output(2) == ValueId::none || statistic(node.output(2)));
        case RowOperator::input_gradient:
            return whole(0) && whole(1) && row(node.input(2)) && statistic(node.input(3)) &&
                   statistic(node.input(4)) && is_f32_of(task, node.output(0), dims);
        case RowOperator::scale_gradient:
            return whole(0) && whole(1) && statistic(node.input(2)) && statistic(node.input(3)) &&
                   row(node.output(0)) && (node.output(1) == ValueId::none || row(node.output(1)));
        case RowOperator::softmax_gradient:
            return whole(0) && whole(1) && is_f32_of(task, node.output(0), dims);
    }
    return false;
}

std::optional<RowNormalization> row_normalization(const Task& task) {
    const Node& node = task.node();
    if (task.region.nodes.size() != 1 || node.inputs.size() < 2 || node.input(0) == ValueId::none ||
        !task.type(node.inputs[0]).known())
        return std::nullopt;
    const auto op = row_operator(node);
    if (!op) return std::nullopt;
    const Dims dims = task.dims(node.inputs[0]);
    const auto rank = static_cast<std::int64_t>(dims.size());
    const auto axis = graph::normalize_axis(node.integer("axis", -1), rank);
    if (!axis.ok() || std::ranges::count(dims, 0) > 0) return std::nullopt;
    if (op == RowOperator::softmax_gradient && *axis != rank - 1) return std::nullopt;
    const auto at = static_cast<std::size_t>(*axis);
    RowNormalization made{*op, product_of(dims, 0, at), product_of(dims, at, dims.size()),
                          static_cast<float>(node.get("epsilon", 1e-5))};
    if (!ports_fit(task, *op, dims, at, made.rows)) return std::nullopt;
    return made;
}

std::vector<plan::Choice> offers_row_normalization(const Task& task) {
    if (!row_normalization(task)) return {};
    return {task.plain_choice(std::string(row_normalization_family_name))};
}

// Rows are shared between the threads.
template <class F>
void over_rows(int threads, const RowNormalization& w, const F& f) {
    const auto work_on = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) f(row);
    };
    if (w.rows * w.n < 8192) return work_on(0, w.rows);
    in_shares(threads, w.rows, work_on);
}

float* output_at(const Pointers& pointers, const std::optional<std::size_t>& index) {
    return index ? reinterpret_cast<float*>(pointers.outputs[*index]) : nullptr;
}

void make_forward(const Task& task, const RowNormalization& w, Kernel& kernel) {
    const Node& node = task.node();
    const Port x = port_of(task, node.inputs[0], kernel), scale = port_of(task, node.inputs[1], kernel),
               shift = port_of(task, node.input(2), kernel);
    const auto y = output_index(task, 0), mean = output_index(task, 1), inverse = output_index(task, 2);
    kernel.run = [=, threads = task.context.threads](const Pointers& pointers) {
        float *const to = output_at(pointers, y), *const means = output_at(pointers, mean),
                     *const inverses = output_at(pointers, inverse);
        over_rows(threads, w, [&](std::int64_t row) {
            const float* const from = x.at(pointers) + row * w.n;
            const auto count = static_cast<double>(w.n);
            const auto centre = static_cast<float>(simd::fold_row(simd::Fold::sum, 0, from, w.n) / count);
            const simd::Deviations d = simd::deviations(from, centre, w.n);
            const double rest = d.sum / count, variance = d.squares / count - rest * rest;
            const auto factor = static_cast<float>(1 / std::sqrt(variance + static_cast<double>(w.epsilon)));
            if (to != nullptr)
                simd::scaled_row(to + row * w.n, from, centre, factor, scale.at(pointers), shift.at(pointers),
                                 w.n);
            if (means != nullptr) means[row] = centre;
            if (inverses != nullptr) inverses[row] = factor;
        });
    };
}

void make_input_gradient(const Task& task, const RowNormalization& w, Kernel& kernel) {
    const Node& node = task.node();
    std::vector<Port> ports;
    for (const ValueId id : node.inputs) ports.push_back(port_of(task, id, kernel));
    kernel.run = [=, threads = task.context.threads](const Pointers& pointers) {
        auto* const to = reinterpret_cast<float*>(pointers.outputs[0]);
        over_rows(threads, w, [&](std::int64_t row) {
            const float *const g = ports[0].at(pointers) + row * w.n, *const x =
                                                                          ports[1].at(pointers) + row * w.n;
            const float* const scale = ports[2].at(pointers);
            const float mean = ports[3].at(pointers)[row], inverse = ports[4].at(pointers)[row];
            const simd::GradientSums sums = simd::gradient_sums(g, scale, x, mean, w.n);
            const double count = static_cast<double>(w.n), r = static_cast<double>(inverse);
            simd::centred_gradient(to + row * w.n, g, scale, x,
                                   {inverse, static_cast<float>(sums.plain / count),
                                    static_cast<float>(r * r * sums.along / count), mean},
                                   w.n);
        });
    };
}

// Each thread makes some columns, and reads these columns of every row.
void make_scale_gradient(const Task& task, const RowNormalization& w, Kernel& kernel) {
    const Node& node = task.node();
    std::vector<Port> ports;
    for (const ValueId id : node.inputs) ports.push_back(port_of(task, id, kernel));
    const auto dscale = output_index(task, 0), dshift = output_index(task, 1);
    kernel.run = [=, threads = task.context.threads](const Pointers& pointers) {
        const std::int64_t strips = (w.n + column_strip - 1) / column_strip;
        const auto work_on = [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t s = first; s < last; ++s) {
                const std::int64_t at = s * column_strip, width = std::min(column_strip, w.n - at);
                double along[column_strip] = {}, plain[column_strip] = {};
                for (std::int64_t row = 0; row < w.rows; ++row)
                    simd::add_columns(along, plain, ports[0].at(pointers) + row * w.n + at,
                                      ports[1].at(pointers) + row * w.n + at, ports[2].at(pointers)[row],
                                      ports[3].at(pointers)[row], width);
                for (std::int64_t i = 0; i < width; ++i) {
                    if (float* to = output_at(pointers, dscale)) to[at + i] = static_cast<float>(along[i]);
                    if (float* to = output_at(pointers, dshift)) to[at + i] = static_cast<float>(plain[i]);
                }
            }
        };
        if (w.rows * w.n < 8192) return work_on(0, strips);
        in_shares(threads, strips, work_on);
    };
}

void make_softmax_gradient(const Task& task, const RowNormalization& w, Kernel& kernel) {
    const Port g = port_of(task, task.node().inputs[0], kernel),
               y = port_of(task, task.node().inputs[1], kernel);
    kernel.run = [=, threads = task.context.threads](const Pointers& pointers) {
        auto* const to = reinterpret_cast<float*>(pointers.outputs[0]);
        over_rows(threads, w, [&](std::int64_t row) {
            simd::softmax_gradient(to + row * w.n, g.at(pointers) + row * w.n, y.at(pointers) + row * w.n,
                                   w.n);
        });
    };
}

Result<Kernel> prepare_row_normalization(const Task& task, const plan::Choice& choice) {
    const auto work = row_normalization(task);
    if (!work) return unknown_kernel(choice);
    Kernel kernel;
    switch (work->op) {
        case RowOperator::forward:
            make_forward(task, *work, kernel);
            break;
        case RowOperator::input_gradient:
            make_input_gradient(task, *work, kernel);
            break;
        case RowOperator::scale_gradient:
            make_scale_gradient(task, *work, kernel);
            break;
        case RowOperator::softmax_gradient:
            make_softmax_gradient(task, *work, kernel);
            break;
    }
    return kernel;
}

}  // namespace

Family row_normalization_family() {
    return {row_normalization_family_name, offers_row_normalization, prepare_row_normalization};
}

}  // namespace viridian::execute::cpu
