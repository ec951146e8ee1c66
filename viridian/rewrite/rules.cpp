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
        pad_into_window(),
        // affine maps into weights
        fold_batch_norm(),
        fold_scale(),
        fold_shift(),
        fold_input_scale(),
        fold_input_shift(),
        split_batch_norm(),
        // operators that exporters take apart
        recognise_gelu(),
        recognise_hard_swish(),
        recognise_layer_norm(),
        absorb_layer_norm_scale(),
        absorb_layer_norm_bias(),
        // alternatives: what the outer search tries
        merge_convolutions(),
        enlarge_kernel(),
        add_convolutions(),
        group_convolutions(),
        merge_matmuls(),
        associate_right(),
        associate_left(),
        factor_matmul(),
        scale_after_matmul(),
        scale_before_matmul(),
        move_elements_after(),
        move_elements_before(),
        concat_before_function(),
        pool_before_function(),
        pool_after_function(),
        recognise_attention(),
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
