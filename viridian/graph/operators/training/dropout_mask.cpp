// The row of DropoutMask: its shape rule and its reference kernel (dropout_mask.hpp says what it computes).
#include "viridian/graph/operators/training/dropout_mask.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {

std::uint64_t least_kept_word(double ratio) {
    // A ratio that is no number drops nothing.
    return ratio > 0 ? static_cast<std::uint64_t>(std::ceil(std::min(ratio, 1.0) * 0x1p32)) : 0;
}

namespace {

constexpr const char* input_names[] = {"seed", "step", "first_sample", "ratio", "shape"};
constexpr std::size_t ratio_input = 3, shape_input = 4;

Result<void> check_mask_input(std::size_t i, ElementType type, std::optional<std::int64_t> rank) {
    const bool floating = type == ElementType::f32 || type == ElementType::f64;
    const bool fits = i == ratio_input ? floating : type == ElementType::i64;
    if (type != ElementType::undefined && !fits)
        return wrong_shape("`{}` of DropoutMask is {}, it must be {}", input_names[i], name_of(type),
                           i == ratio_input ? "f32 or f64" : "i64");
    if (rank && *rank != (i == shape_input ? 1 : 0))
        return wrong_shape("`{}` of DropoutMask has rank {}, it must be a {}", input_names[i], *rank,
                           i == shape_input ? "vector" : "scalar");
    return {};
}

Result<void> infer_dropout_mask(Inference& inference) {
    for (std::size_t i = 0; i < std::size(input_names); ++i)
        VIRIDIAN_TRY(check_mask_input(i, inference.element(i), rank_of(inference, i)));
    std::optional<Shape> out;
    if (const auto dims = constant_integers(inference, shape_input)) {
        VIRIDIAN_TRY(element_count(*dims));
        out = shape_of(*dims);
    } else if (const auto rank = length_of(inference, shape_input)) {
        out = Shape(static_cast<std::size_t>(*rank));
    }
    inference.set(0, ElementType::boolean, std::move(out));
    return {};
}

constexpr auto dropout_mask = [](auto& call) -> Result<void> {
    for (std::size_t i = 0; i < std::size(input_names); ++i)
        VIRIDIAN_TRY(check_mask_input(i, call.input(i)->type, call.input(i)->rank()));
    VIRIDIAN_TRY(const Dims dims, integers(call, shape_input));
    VIRIDIAN_TRY(auto y, call.make(ElementType::boolean, dims));
    const auto number = [&](std::size_t i) { return call.input(i)->integer[0]; };
    const MaskNumbers numbers = {.seed = number(0),
                                 .stream = call.node.integer("stream", 0),
                                 .step = number(1),
                                 .first_sample = number(2)};
    const std::int64_t samples = dims.empty() ? 1 : dims[0];
    if (y.count() > 0)
        draw_mask(numbers, static_cast<double>(call.input(ratio_input)->real[0]), samples,
                  y.count() / samples, std::span(y.integer));
    call.outputs[0] = std::move(y);
    return {};
};

Flop no_flop(const Operation&) { return Flop(0); }  // it computes with integers

}  // namespace

std::span<const OperatorRow> dropout_mask_operators() {
    static constexpr OperatorRow rows[] = {
        elementwise_row("DropoutMask", {5, 5}, infer_dropout_mask, real_kernel(dropout_mask),
                        {.domain = "viridian",
                         .precision = precision::compares,
                         .sets = {.any = 18},
                         .flop = no_flop,
                         .numbering = "stream",
                         .meaning = meaning_of_dropout_mask}),
    };
    return rows;
}

}  // namespace viridian::graph
