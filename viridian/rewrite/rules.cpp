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
        pad_into_window(),
        // affine maps into weights
        fold_batch_norm(),
        fold_scale(),
        fold_shift(),
        split_batch_norm(),
        // operators that exporters take apart
        recognise_gelu(),
        recognise_layer_norm(),
        absorb_layer_norm_scale(),
        absorb_layer_norm_bias(),
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
