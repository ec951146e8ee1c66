#include "fuzz/engine/hostile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace viridian::fuzz {
namespace {

constexpr std::string_view integer_keys[] = {"axis",
                                             "keepdims",
                                             "k",
                                             "to",
                                             "dtype",
                                             "batch_dims",
                                             "num_outputs",
                                             "group",
                                             "ceil_mode",
                                             "count_include_pad",
                                             "storage_order",
                                             "allowzero",
                                             "exclusive",
                                             "reverse",
                                             "batch_axis",
                                             "time_axis",
                                             "sorted",
                                             "largest",
                                             "upper",
                                             "blocksize",
                                             "size",
                                             "hidden_size",
                                             "num_heads",
                                             "q_num_heads",
                                             "kv_num_heads",
                                             "is_causal",
                                             "num_groups",
                                             "block_size",
                                             "noop_with_empty_axes",
                                             "select_last_index",
                                             "transA",
                                             "transB",
                                             "sampling_ratio",
                                             "output_height",
                                             "output_width",
                                             "onesided",
                                             "align_corners",
                                             "antialias",
                                             "saturate",
                                             "interleaved",
                                             "rotary_embedding_dim",
                                             "detect_negative",
                                             "fmod",
                                             "ignore_index",
                                             "input_forget",
                                             "linear_before_reset",
                                             "layout",
                                             "stash_type",
                                             "training_mode",
                                             "p",
                                             "center_point_box",
                                             "exclude_outside",
                                             "keep_aspect_ratio_policy",
                                             "inverse",
                                             "offset_group",
                                             "qk_matmul_output_mode",
                                             "scan_output_axes",
                                             "num_scan_inputs",
                                             "new_axis",
                                             "max_trip",
                                             "seed"};
constexpr std::string_view number_keys[] = {"alpha",
                                            "beta",
                                            "epsilon",
                                            "gamma",
                                            "lambd",
                                            "bias",
                                            "momentum",
                                            "scale",
                                            "softcap",
                                            "clip",
                                            "ratio",
                                            "extrapolation_value",
                                            "cubic_coeff_a",
                                            "spatial_scale",
                                            "low",
                                            "high",
                                            "mean",
                                            "zero_point",
                                            "score_threshold",
                                            "norm_coefficient"};
constexpr std::string_view list_keys[] = {"axes",   "perm",      "kernel_shape",   "strides",
                                          "pads",   "dilations", "output_padding", "output_shape",
                                          "shape",  "split",     "sizes",          "value_ints",
                                          "starts", "ends",      "repeats",        "scan_input_axes"};
constexpr std::string_view word_keys[] = {
    "mode",     "reduction",    "auto_pad",    "direction",    "coordinate_transformation_mode",
    "equation", "padding_mode", "approximate", "nearest_mode", "reduce"};
constexpr std::string_view words[] = {"add",
                                      "mul",
                                      "max",
                                      "min",
                                      "NOTSET",
                                      "SAME_UPPER",
                                      "SAME_LOWER",
                                      "VALID",
                                      "reflect",
                                      "wrap",
                                      "edge",
                                      "constant",
                                      "LEFT",
                                      "RIGHT",
                                      "linear",
                                      "nearest",
                                      "cubic",
                                      "forward",
                                      "reverse",
                                      "bidirectional",
                                      "ij,jk->ik",
                                      "bij,bjk->bik",
                                      "ii",
                                      "ij->ji",
                                      "...i->...",
                                      "i,i",
                                      "none",
                                      "sum",
                                      "mean",
                                      "DCR",
                                      "CRD",
                                      "circular",
                                      "tf_crop_and_resize",
                                      "half_pixel",
                                      "half_pixel_symmetric",
                                      "asymmetric",
                                      "align_corners",
                                      "pytorch_half_pixel",
                                      "tanh",
                                      "round_prefer_floor",
                                      "floor",
                                      "ceil",
                                      "border",
                                      "zeros",
                                      "bilinear",
                                      "avg",
                                      "reflection",
                                      "bicubic",
                                      "",
                                      "->",
                                      "a->aa",
                                      "\xff\xfe"};

template <std::size_t n>
std::string one_of(const std::string_view (&list)[n], Random& random) {
    return std::string(list[random.below(n)]);
}
}  // namespace

std::int64_t some_integer(Random& random) {
    constexpr std::int64_t extremes[] = {INT64_MIN,
                                         INT64_MAX,
                                         INT64_MIN + 1,
                                         INT32_MAX,
                                         INT32_MIN,
                                         std::int64_t{1} << 31,
                                         std::int64_t{1} << 32,
                                         std::int64_t{1} << 40,
                                         -1000000,
                                         65535,
                                         1 << 20,
                                         std::int64_t{1} << 62};
    if (random.chance(0.1)) return extremes[random.below(std::size(extremes))];
    return random.chance(0.2) ? random.between(5, 70) : random.between(-2, 5);
}

std::vector<std::int64_t> some_integers(Random& random) {
    std::vector<std::int64_t> list(random.below(random.chance(0.1) ? 10 : 5));
    for (std::int64_t& value : list) value = some_integer(random);
    return list;
}

float some_number(Random& random) {
    constexpr float extremes[] = {NAN, INFINITY, -INFINITY, 0.0F, -0.0F, 1e30F, -1e30F, 1e-42F, -1.0F, 1e9F};
    if (random.chance(0.25)) return extremes[random.below(std::size(extremes))];
    return static_cast<float>(random.normal());
}

std::string some_word(Random& random) { return one_of(words, random); }

std::pair<std::string, graph::Attribute> some_attribute(Random& random) {
    const std::uint64_t kind = random.below(5);
    std::string key = kind == 0   ? one_of(list_keys, random)
                      : kind == 1 ? one_of(word_keys, random)
                      : kind == 2 ? one_of(number_keys, random)
                                  : one_of(integer_keys, random);
    switch (random.chance(0.05) ? random.below(5) : kind) {
        case 0:
            return {std::move(key), some_integers(random)};
        case 1:
            return {std::move(key), some_word(random)};
        case 2:
            return {std::move(key), double{some_number(random)}};
        default:
            return {std::move(key), some_integer(random)};
    }
}

}  // namespace viridian::fuzz
