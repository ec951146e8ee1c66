// RotaryEmbedding (Su et al., RoFormer, 2021): pairs of a head's entries turn by an angle that grows with the
// token's position. X is [batch, heads, sequence, size] or [batch, sequence, heads·size]; the caches hold the
// cosines and sines per position, or per token without position_ids.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_rotary(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 2));
    VIRIDIAN_TRY(expect_integer(inference, 3, 3));
    VIRIDIAN_TRY(expect_rank(inference, 0, 3, 4));
    if (const auto& x = inference.shape(0)) {
        const bool packed = x->size() == 3;
        const std::int64_t heads = inference.node().integer("num_heads", 0);
        if (packed && (heads < 1 || ((*x)[2].known() && (*x)[2].value() % heads != 0)))
            return wrong_shape("RotaryEmbedding `{}` splits {} into {} heads", inference.node().name,
                               text(inference.input(0)), heads);
        Dimension size = x->back();
        if (packed && size.known()) size = Dimension(size.value() / heads);
        const std::int64_t given = inference.node().integer("rotary_embedding_dim", 0);
        const Dimension rotated = given > 0 ? Dimension(given) : size;
        if (rotated.known() && (rotated.value() % 2 != 0 || (size.known() && rotated.value() > size.value())))
            return wrong_shape("RotaryEmbedding `{}` turns {} entries of {}", inference.node().name,
                               rotated.value(), text(inference.input(0)));
        const Dimension half = rotated.known() ? Dimension(rotated.value() / 2) : Dimension();
        const Dimension& sequence = (*x)[packed ? 1 : 2];
        const Shape cache =
            inference.has_input(3) ? Shape{Dimension(), half} : Shape{(*x)[0], sequence, half};
        VIRIDIAN_TRY(expect_shape(inference, 1, cache));
        VIRIDIAN_TRY(expect_shape(inference, 2, cache));
        if (inference.shape(1)) VIRIDIAN_TRY(expect_shape(inference, 2, *inference.shape(1)));
        VIRIDIAN_TRY(expect_shape(inference, 3, {(*x)[0], sequence}));
    }
    return keep_type(inference);
}

constexpr auto rotate = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(prepare(call));
    const auto& x = *call.input(0);
    const auto& cosines = *call.input(1);
    const auto& sines = *call.input(2);
    const auto* positions = call.input(3);
    auto& y = call.outputs[0];
    y.real = x.real;
    const bool packed = x.rank() == 3;
    const std::int64_t heads = packed ? call.node.integer("num_heads", 1) : x.dims[1];
    const std::int64_t sequence = x.dims[packed ? 1 : 2];
    const std::int64_t size = packed ? x.dims[2] / heads : x.dims[3];
    const std::int64_t half = cosines.dims.back();
    const bool interleaved = call.node.integer("interleaved", 0) != 0;
    for (std::int64_t b = 0; b < x.dims[0]; ++b)
        for (std::int64_t t = 0; t < sequence; ++t) {
            std::int64_t row = b * sequence + t;
            if (positions != nullptr) {
                row = positions->integer[static_cast<std::size_t>(row)];
                if (row < 0 || row >= cosines.dims[0])
                    return wrong_shape("RotaryEmbedding `{}` has position {} of {}", call.node.name, row,
                                       cosines.dims[0]);
            }
            for (std::int64_t h = 0; h < heads; ++h) {
                const std::int64_t start = packed ? ((b * sequence + t) * heads + h) * size
                                                  : ((b * heads + h) * sequence + t) * size;
                for (std::int64_t i = 0; i < half; ++i) {
                    const auto first = static_cast<std::size_t>(start + (interleaved ? 2 * i : i));
                    const std::size_t second = first + static_cast<std::size_t>(interleaved ? 1 : half);
                    const auto cosine = cosines.real[static_cast<std::size_t>(row * half + i)];
                    const auto sine = sines.real[static_cast<std::size_t>(row * half + i)];
                    y.real[first] = cosine * x.real[first] - sine * x.real[second];
                    y.real[second] = sine * x.real[first] + cosine * x.real[second];
                }
            }
        }
    return {};
};

// Three per entry: two products and a sum.
Flop rotary_flop(const Operation& operation) { return Flop(3 * count_of(operation.outputs[0])); }

}  // namespace

std::span<const OperatorRow> rotary_operators() {
    static constexpr OperatorRow rows[] = {
        elementwise_row("RotaryEmbedding", {3, 4}, infer_rotary, polynomial_kernel(rotate),
                        {.sets = {.any = 23}, .flop = rotary_flop}),
    };
    return rows;
}

}  // namespace viridian::graph
