#pragma once
// One line per rule; rules.cpp orders them.
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {

Rule absorb_layer_norm_bias();
Rule absorb_layer_norm_scale();
Rule add_convolutions();
Rule associate_left();
Rule associate_right();
Rule concat_before_function();
Rule enlarge_kernel();
Rule factor_matmul();
Rule fold_batch_norm();
Rule fold_constants();
Rule fold_input_scale();
Rule fold_input_shift();
Rule fold_scale();
Rule fold_shapes();
Rule fold_shift();
Rule group_convolutions();
Rule merge_common();
Rule merge_convolutions();
Rule merge_matmuls();
Rule merge_reshapes();
Rule merge_transposes();
Rule move_elements_after();
Rule move_elements_before();
Rule pad_into_window();
Rule pool_after_function();
Rule pool_before_function();
Rule recognise_attention();
Rule recognise_gelu();
Rule recognise_hard_swish();
Rule recognise_layer_norm();
Rule remove_no_op();
Rule scale_after_matmul();
Rule scale_before_matmul();
Rule split_batch_norm();
Rule split_concat();

}  // namespace viridian::rewrite
