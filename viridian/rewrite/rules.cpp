#include "viridian/rewrite/rules.hpp"

#include <algorithm>
#include <array>

#include "viridian/rewrite/rules/list.hpp"

namespace viridian::rewrite {
namespace {

const auto& list() {
    static const std::array all = {
        // what is known before the model runs
        fold_shapes(),
        fold_constants(),
        remove_no_op(),
        merge_common(),
        // movement
        merge_transposes(),
        merge_reshapes(),
        split_concat(),
        merge_concats(),
        merge_splits(),
        einsum_to_matmul(),
        not_where(),
        pad_into_window(),
        // affine maps into weights
        fold_batch_norm(),
        fold_scale(),
        fold_shift(),
        fold_input_scale(),
        fold_input_shift(),
        split_batch_norm(),
        factor_convolutions(),
        fold_identity(),
        // operators that exporters take apart
        recognise_gelu(),
        recognise_hard_swish(),
        recognise_layer_norm(),
        recognise_softmax(),
        absorb_layer_norm_scale(),
        absorb_layer_norm_bias(),
        // scales and bounds that belong to none of those
        merge_scales(),
        merge_bounds(),
        fold_matmul_input_scale(),
        // alternatives: what the outer search tries. Convolutions
        stack_convolutions(),
        merge_convolutions(),
        split_convolution(),
        enlarge_kernel(),
        add_convolutions(),
        split_convolution_input(),
        group_convolutions(),
        split_groups(),
        widen_groups(),
        add_before_convolution(),
        add_after_convolution(),
        compose_convolutions(),
        // products
        stack_matmuls(),
        merge_matmuls(),
        split_matmul(),
        concat_matmuls(),
        add_matmuls(),
        split_matmul_input(),
        associate_right(),
        associate_left(),
        factor_matmul(),
        distribute_matmul(),
        fold_matmul_input_shift(),
        fold_attention_scale(),
        scale_after_matmul(),
        scale_before_matmul(),
        transpose_before_matmul(),
        transpose_after_matmul(),
        transpose_into_gemm(),
        reshape_after_matmul(),
        // element-wise and movement
        move_elements_after(),
        move_elements_before(),
        move_arithmetic_after(),
        move_arithmetic_before(),
        softmax_before_transpose(),
        concat_before_transpose(),
        transpose_before_split(),
        concat_before_function(),
        function_before_concat(),
        concat_before_arithmetic(),
        exchange_concats(),
        function_before_split(),
        function_after_split(),
        distribute_scale(),
        factor_product(),
        distribute_product(),
        scale_after_relu(),
        associate_sum(),
        associate_product(),
        // pooling
        pool_before_function(),
        pool_after_function(),
        concat_before_pool(),
        pool_before_concat(),
        average_after_convolution(),
        average_before_convolution(),
        average_as_convolution(),
        recognise_attention(),
        // the whole network at once
        split_batch(),
    };
    return all;
}

}  // namespace

std::span<const Rule> rules() { return list(); }

const Rule* find_rule(std::string_view name) {
    const auto all = rules();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Rule& rule) { return rule.name == name; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace viridian::rewrite
