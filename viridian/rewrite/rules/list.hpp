#pragma once
// One line per rule; rules.cpp orders them.
#include "viridian/rewrite/rule.hpp"

namespace viridian::rewrite {

Rule absorb_layer_norm_bias();
Rule absorb_layer_norm_scale();
Rule fold_batch_norm();
Rule fold_constants();
Rule fold_scale();
Rule fold_shapes();
Rule fold_shift();
Rule merge_common();
Rule merge_reshapes();
Rule merge_transposes();
Rule pad_into_window();
Rule recognise_gelu();
Rule recognise_layer_norm();
Rule remove_no_op();
Rule split_batch_norm();

}  // namespace viridian::rewrite
