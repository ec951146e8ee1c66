// Along an axis, element after element: CumSum, CumProd, ReverseSequence.
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/elementwise/elementwise.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

template <class Scalar, class Step>
Result<void> accumulate(Call<Scalar>& call, std::int64_t neutral, Step step) {
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const Dims given, integers(call, 1));
    if (given.size() != 1)
        return fail(ErrorCode::mismatch, "check the model", "{} takes one axis", call.node.op);
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(given[0], x.rank()));
    const bool exclusive = call.node.integer("exclusive", 0) != 0;
    const bool reverse = call.node.integer("reverse", 0) != 0;
    VIRIDIAN_TRY(Array<Scalar> y, call.make(x.type, x.dims));
    const AroundAxis around(x.dims, axis);
    const auto run = [&](const auto& from, auto& to, auto zero) {
        for (std::int64_t o = 0; o < around.outer; ++o)
            for (std::int64_t j = 0; j < around.inner; ++j) {
                auto sum = zero;
                for (std::int64_t i = 0; i < around.size; ++i) {
                    const std::size_t at = around.at(o, reverse ? around.size - 1 - i : i, j);
                    const auto next = step(sum, static_cast<decltype(sum)>(from[at]));
                    to[at] = static_cast<std::remove_cvref_t<decltype(to[at])>>(exclusive ? sum : next);
                    sum = next;
                }
            }
    };
    if (x.floating())
        run(x.real, y.real, Accumulator<Scalar>(neutral));
    else
        run(x.integer, y.integer, neutral);
    call.outputs[0] = std::move(y);
    return {};
}

// Of each batch entry, the first `length` elements along the time axis in reverse.
constexpr auto reverse_sequence = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const Dims lengths, integers(call, 1));
    VIRIDIAN_TRY(const std::int64_t batch, normalize_axis(call.node.integer("batch_axis", 1), x.rank()));
    VIRIDIAN_TRY(const std::int64_t time, normalize_axis(call.node.integer("time_axis", 0), x.rank()));
    const std::int64_t entries = x.dims[static_cast<std::size_t>(batch)];
    const std::int64_t steps = x.dims[static_cast<std::size_t>(time)];
    const bool sane =
        std::all_of(lengths.begin(), lengths.end(), [steps](std::int64_t n) { return n >= 0 && n <= steps; });
    if (static_cast<std::int64_t>(lengths.size()) != entries || batch == time || !sane)
        return fail(ErrorCode::mismatch, "check the model's inputs", "sequence lengths [{}] for {} x {}",
                    fmt::join(lengths, ","), entries, steps);
    const Dims strides = row_major_strides(x.dims);
    std::vector<std::int64_t> from(static_cast<std::size_t>(x.count()));
    for (std::int64_t at = 0; at < x.count(); ++at) {
        const std::int64_t length =
            lengths[static_cast<std::size_t>(at / strides[static_cast<std::size_t>(batch)] % entries)];
        const std::int64_t stride = strides[static_cast<std::size_t>(time)];
        const std::int64_t t = at / stride % steps;
        from[static_cast<std::size_t>(at)] = t < length ? at + (length - 1 - 2 * t) * stride : at;
    }
    VIRIDIAN_TRY(call.outputs[0], call.make(x.type, x.dims));
    take(x, from, call.outputs[0]);
    return {};
};

constexpr OperatorRow cumulative(std::string_view name, const Precision& precision, int since,
                                 Reference reference) {
    return normalization_row(
        name, {2, 2}, infer_same, reference,
        {.precision = precision, .sets = {.any = since}, .flop = [](const Operation& operation) {
             return Flop(product(operation.inputs[0].dims()));
         }});
}

}  // namespace

std::span<const OperatorRow> sequence_operators() {
    static constexpr OperatorRow rows[] = {
        cumulative("CumSum", precision::amplifies, oldest_operator_set,
                   polynomial_kernel([](auto& call) -> Result<void> { return accumulate(call, 0, plus); })),
        cumulative("CumProd", precision::unlisted, 26,
                   polynomial_kernel([](auto& call) -> Result<void> { return accumulate(call, 1, times); })),
        movement_row("ReverseSequence", {2, 2}, infer_same, polynomial_kernel(reverse_sequence)),
    };
    return rows;
}

}  // namespace viridian::graph
