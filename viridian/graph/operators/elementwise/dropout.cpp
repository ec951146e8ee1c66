// Dropout (inference: the identity; training: zeroes with probability `ratio`, the rest scaled by
// 1 / (1 − ratio)).

#include "viridian/base/random.hpp"
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_dropout(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 1));
    VIRIDIAN_TRY(expect_integer(inference, 2, 2));
    for (std::size_t i = 1; i < 3; ++i)
        if (const Tensor* scalar = inference.constant(i); scalar != nullptr && scalar->count() != 1)
            return wrong_shape("input {} of Dropout has {} elements, it must have one", i, scalar->count());
    inference.set(0, inference.element(0), inference.shape(0));
    inference.set(1, ElementType::boolean, inference.shape(0));
    return {};
}

// Random numbers follow from the attribute `seed` alone: the same seed, the same mask.
constexpr auto dropout = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>* ratio_input = call.input(1);
    const Array<Scalar>* training_input = call.input(2);
    if ((ratio_input != nullptr && ratio_input->real.size() != 1) ||
        (training_input != nullptr && training_input->integer.size() != 1))
        return wrong_shape("`ratio` and `training_mode` of node `{}` must be scalars", call.node.name);
    const double ratio = ratio_input == nullptr ? 0.5 : static_cast<double>(ratio_input->real[0]);
    const bool training = training_input != nullptr && training_input->integer[0] != 0 && ratio > 0;
    Random random(static_cast<std::uint64_t>(call.node.integer("seed", 0)));
    const double scale = training && ratio < 1 ? 1 / (1 - ratio) : 1;
    for (std::size_t i = 0; i < x.real.size(); ++i) {
        const bool keep = !training || random.uniform() >= ratio;
        call.outputs[0].real[i] =
            keep ? static_cast<Scalar>(static_cast<double>(x.real[i]) * scale) : Scalar(0);
        if (call.outputs.size() > 1) call.outputs[1].integer[i] = keep ? 1 : 0;
    }
    return {};
};

}  // namespace

std::span<const OperatorRow> dropout_operators() {
    static constexpr OperatorRow rows[] = {
        elementwise_row("Dropout", {1, 3}, infer_dropout, real_kernel(dropout),
                        {.outputs = {1, 2},
                         // In training it multiplies by 1 / (1 - ratio); in inference rewrites remove it.
                         .precision = precision::rounds_once,
                         .random = true,
                         .sets = {.bf16 = 22}}),
    };
    return rows;
}

}  // namespace viridian::graph
