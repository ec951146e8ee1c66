#pragma once
// The family lists, one line each; `table.cpp` joins them.
#include <span>

#include "viridian/graph/operators/row.hpp"

namespace viridian::graph {

std::span<const OperatorRow> activation_operators();
std::span<const OperatorRow> arg_reduction_operators();
std::span<const OperatorRow> arithmetic_operators();
std::span<const OperatorRow> attention_operators();
std::span<const OperatorRow> batch_normalization_operators();
std::span<const OperatorRow> bitwise_operators();
std::span<const OperatorRow> cache_operators();
std::span<const OperatorRow> casting_operators();
std::span<const OperatorRow> center_crop_pad_operators();
std::span<const OperatorRow> concatenation_operators();
std::span<const OperatorRow> constant_operators();
std::span<const OperatorRow> control_operators();
std::span<const OperatorRow> convolution_operators();
std::span<const OperatorRow> deformable_operators();
std::span<const OperatorRow> depth_operators();
std::span<const OperatorRow> dropout_operators();
std::span<const OperatorRow> einsum_operators();
std::span<const OperatorRow> fourier_operators();
std::span<const OperatorRow> gathering_operators();
std::span<const OperatorRow> global_pooling_operators();
std::span<const OperatorRow> local_normalization_operators();
std::span<const OperatorRow> logic_operators();
std::span<const OperatorRow> loss_operators();
std::span<const OperatorRow> masking_operators();
std::span<const OperatorRow> matrix_operators();
std::span<const OperatorRow> microsoft_operators();
std::span<const OperatorRow> normalization_operators();
std::span<const OperatorRow> padding_operators();
std::span<const OperatorRow> pooling_operators();
std::span<const OperatorRow> quantization_operators();
std::span<const OperatorRow> quantized_product_operators();
std::span<const OperatorRow> random_operators();
std::span<const OperatorRow> recurrent_operators();
std::span<const OperatorRow> reduction_operators();
std::span<const OperatorRow> region_operators();
std::span<const OperatorRow> reshaping_operators();
std::span<const OperatorRow> resize_operators();
std::span<const OperatorRow> rotary_operators();
std::span<const OperatorRow> sampling_operators();
std::span<const OperatorRow> scattering_operators();
std::span<const OperatorRow> selection_operators();
std::span<const OperatorRow> sequence_operators();
std::span<const OperatorRow> signal_operators();
std::span<const OperatorRow> slicing_operators();
std::span<const OperatorRow> softmax_operators();
std::span<const OperatorRow> sorting_operators();
std::span<const OperatorRow> state_space_operators();
std::span<const OperatorRow> suppression_operators();
std::span<const OperatorRow> transposed_convolution_operators();
std::span<const OperatorRow> transposition_operators();
std::span<const OperatorRow> unary_operators();
std::span<const OperatorRow> unpooling_operators();

}  // namespace viridian::graph
