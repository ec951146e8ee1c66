#pragma once
// Recognises normalisations of rows and their gradients, and the tensors that they read beside the whole
// ones.
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

enum class RowOperator : std::uint8_t { forward, input_gradient, scale_gradient, softmax_gradient };

// Returns LayerNormalization, its gradients, or that of Softmax, if the body says what the operator means.
[[nodiscard]] std::optional<RowOperator> row_operator(const graph::Node& node);

// Returns whether `id` is f32 and has one number for each element of a row of `dims` behind `axis`, in its
// order.
[[nodiscard]] bool is_row(const Task& task, graph::ValueId id, const graph::Dims& dims, std::size_t axis);

// Returns whether `id` is f32 and has one number for each row.
[[nodiscard]] bool is_statistic(const Task& task, graph::ValueId id, std::int64_t rows);

// The mean of a row, and the inverse of its standard deviation.
struct RowStatistics {
    float mean = 0, inverse = 0;
};

// Normalises `x`, a row of `n` elements, to `to`, which may be `x`; `shift` may be null.
RowStatistics normalize_row(float* to, const float* x, const float* scale, const float* shift, float epsilon,
                            std::int64_t n);

// Sets `to`, which may be `g` or `x`, to the gradient of `x` from that of the result, `g`.
void differentiate_row(float* to, const float* g, const float* x, const float* scale, RowStatistics of,
                       std::int64_t n);

}  // namespace viridian::execute::cpu
