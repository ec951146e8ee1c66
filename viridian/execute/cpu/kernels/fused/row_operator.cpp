#include "viridian/execute/cpu/kernels/fused/row_operator.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"
#include "viridian/execute/cpu/simd/training/gradients.hpp"

namespace viridian::execute::cpu {

using graph::Dims;
using graph::Node;
using graph::ValueId;

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

RowStatistics normalize_row(float* to, const float* x, const float* scale, const float* shift, float epsilon,
                            std::int64_t n) {
    const auto count = static_cast<double>(n);
    const auto centre = static_cast<float>(simd::fold_row(simd::Fold::sum, 0, x, n) / count);
    const simd::Deviations d = simd::deviations(x, centre, n);
    const double rest = d.sum / count;  // from the centre to the mean
    const double variance = std::max(d.squares / count - rest * rest, 0.0);
    const auto factor = static_cast<float>(1 / std::sqrt(variance + static_cast<double>(epsilon)));
    simd::scaled_row(to, x, {centre, static_cast<float>(rest)}, factor, scale, shift, n);
    return {static_cast<float>(static_cast<double>(centre) + rest), factor};
}

void differentiate_row(float* to, const float* g, const float* x, const float* scale, RowStatistics of,
                       std::int64_t n) {
    const simd::GradientSums sums = simd::gradient_sums({g, scale}, x, of.mean, n);
    const double count = static_cast<double>(n), r = static_cast<double>(of.inverse);
    simd::centred_gradient(to, {g, scale}, x,
                           {of.inverse, static_cast<float>(sums.plain / count),
                            static_cast<float>(r * r * sums.along / count), of.mean},
                           n);
}

}  // namespace viridian::execute::cpu
