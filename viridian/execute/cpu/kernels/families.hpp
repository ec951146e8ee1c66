#pragma once
// Declares the families of kernels, one line each. kernels.cpp lists them in order.
#include "viridian/execute/cpu/kernel.hpp"

namespace viridian::execute::cpu {

Family dnnl_convolution_family();
Family dnnl_pooling_family();
Family simd_pooling_family();
Family simd_depthwise_family();
Family dnnl_matmul_family();
Family dnnl_softmax_family();
Family simd_convolution_family();
Family simd_grouped_convolution_family();
Family simd_winograd_family();
Family simd_matmul_family();
Family simd_bf16_matmul_family();
Family simd_tile_convolution_family();
Family simd_tile_matmul_family();
Family simd_elementwise_family();
Family pad_family();
Family simd_rows_family();
Family gather_family();
Family reduction_family();
Family grid_sample_family();
Family group_normalization_family();
Family resize_family();
Family dnnl_deconvolution_family();
Family movement_family();
Family recurrent_family();
Family numeric_family();
Family view_family();
Family concat_family();
Family reference_family();

}  // namespace viridian::execute::cpu
