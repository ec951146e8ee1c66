// Pools over a whole plane: [N,C,spatial…] → [N,C,1…].
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_global(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    VIRIDIAN_TRY(expect_rank(inference, 0, 2));
    std::optional<Shape> out = inference.shape(0);
    if (out)
        for (std::size_t axis = 2; axis < out->size(); ++axis) {
            if ((*out)[axis].known() && (*out)[axis].value() == 0)
                return wrong_shape("{} reads an empty plane", inference.node().op);
            (*out)[axis] = Dimension(1);
        }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// y = f(plane) for every plane of the input.
template <class CallType, class Function>
Result<void> each_plane(CallType& call, Function f) {
    using Scalar = scalar_of<CallType>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    std::vector<Scalar>& y = call.outputs[0].real;
    const std::size_t plane = y.empty() ? 0 : x.real.size() / y.size();
    for (std::size_t i = 0; i < y.size(); ++i)
        y[i] = static_cast<Scalar>(f(std::span(x.real).subspan(i * plane, plane)));
    return {};
}

constexpr auto global_average = [](auto& call) -> Result<void> {
    return each_plane(call, [](auto plane) {
        using Wide = Accumulator<std::remove_cvref_t<decltype(plane[0])>>;
        Wide sum(0);
        for (const auto& value : plane) sum += Wide(value);
        return sum / Wide(static_cast<std::int64_t>(plane.size()));
    });
};

constexpr auto global_max = [](auto& call) -> Result<void> {
    return each_plane(call, [](auto plane) { return *std::max_element(plane.begin(), plane.end()); });
};

constexpr auto global_norm = [](auto& call) -> Result<void> {
    const auto p = static_cast<double>(call.node.integer("p", 2));
    return each_plane(call, [p](auto plane) {
        double sum = 0;
        for (const auto& value : plane) sum += std::pow(std::abs(static_cast<double>(value)), p);
        return std::pow(sum, 1 / p);
    });
};

Flop global_flop(const Operation& operation) { return Flop(count_of(operation.inputs[0])); }

IterationSpace global_space(const Operation& operation) {
    IterationSpace space;
    for (const std::int64_t dimension : operation.inputs[0].dims())
        space.push_back({dimension, space.size() > 1});
    return space;
}

constexpr OperatorRow row_global_pooling(std::string_view name, const Precision& precision, Samples samples,
                                         OperatorSets sets, Reference reference) {
    return normalization_row(name, {1, 1}, infer_global, reference,
                             {.precision = precision,
                              .samples = samples,
                              .sets = sets,
                              .flop = global_flop,
                              .iteration_space = global_space});
}

}  // namespace

std::span<const OperatorRow> global_pooling_operators() {
    static constexpr OperatorRow rows[] = {
        row_global_pooling("GlobalAveragePool", precision::f32_statistics, Samples::apart, {.bf16 = 22},
                           polynomial_kernel(global_average)),
        row_global_pooling("GlobalMaxPool", precision::only_moves, Samples::apart, {.bf16 = 22},
                           real_kernel(global_max)),
        row_global_pooling("GlobalLpPool", precision::unlisted, Samples::mixed, {}, real_kernel(global_norm)),
    };
    return rows;
}

}  // namespace viridian::graph
