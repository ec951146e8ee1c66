// ArgMax and ArgMin: the place of the extreme element along an axis; NaN counts as extreme, as in numpy.
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/reduction/reduction.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_arg(Inference& inference) {
    std::optional<Shape> out = inference.shape(0);
    if (out) {
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", 0),
                                                             static_cast<std::int64_t>(out->size())));
        if (inference.node().integer("keepdims", 1) != 0)
            (*out)[static_cast<std::size_t>(axis)] = Dimension(1);
        else
            out->erase(out->begin() + axis);
    }
    inference.set(0, ElementType::i64, std::move(out));
    return {};
}

template <class Better>
struct Arg {
    template <class Scalar>
    Result<void> operator()(Call<Scalar>& call) const {
        const Array<Scalar>& x = *call.input(0);
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", 0), x.rank()));
        const AroundAxis around(x.dims, axis);
        if (around.size == 0)
            return fail(ErrorCode::mismatch, "check the model's shapes", "{} over an empty axis",
                        call.node.op);
        const bool last = call.node.integer("select_last_index", 0) != 0;
        Dims dims = x.dims;
        dims[static_cast<std::size_t>(axis)] = 1;
        if (call.node.integer("keepdims", 1) == 0) dims.erase(dims.begin() + axis);
        VIRIDIAN_TRY(call.outputs[0], call.make(ElementType::i64, dims));
        Array<Scalar>& y = call.outputs[0];
        const auto search = [&](const auto& elements) {
            for (std::int64_t o = 0; o < around.outer; ++o)
                for (std::int64_t j = 0; j < around.inner; ++j) {
                    std::int64_t best = 0;
                    for (std::int64_t i = 1; i < around.size; ++i) {
                        const auto now = elements[around.at(o, i, j)];
                        const auto before = elements[around.at(o, best, j)];
                        const bool both_nan = now != now && before != before;
                        const bool better =
                            (now != now && before == before) || (before == before && Better{}(now, before));
                        if (better || (last && (now == before || both_nan))) best = i;
                    }
                    y.integer[static_cast<std::size_t>(o * around.inner + j)] = best;
                }
        };
        visit(x, search);
        return {};
    }
};

template <class Better>
constexpr OperatorRow row_arg_reduction(std::string_view name) {
    return normalization_row(
        name, {1, 1}, infer_arg, real_kernel([](auto& call) -> Result<void> { return Arg<Better>{}(call); }),
        {.precision = precision::compares, .flop = reduction_flop, .iteration_space = arg_space});
}

constexpr OperatorRow arg_reduction_rows[] = {row_arg_reduction<std::greater<>>("ArgMax"),
                                              row_arg_reduction<std::less<>>("ArgMin")};

}  // namespace

std::span<const OperatorRow> arg_reduction_operators() { return arg_reduction_rows; }

}  // namespace viridian::graph
