// Softmax, LogSoftmax and Hardmax along one axis.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/lines.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_softmax(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    if (const auto& x = inference.shape(0))
        VIRIDIAN_TRY(
            normalize_axis(inference.node().integer("axis", -1), static_cast<std::int64_t>(x->size())));
    return keep_type(inference);
}

// Replaces every line along the axis, in double, by f(line).
template <class CallType, class Function>
Result<void> each_line(CallType& call, Function f) {
    using Scalar = scalar_of<CallType>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", -1), x.rank()));
    const Lines lines(x.dims, axis);
    std::vector<double> line(static_cast<std::size_t>(lines.length));
    for (std::int64_t i = 0; i < lines.count; ++i) {
        for (std::int64_t j = 0; j < lines.length; ++j)
            line[static_cast<std::size_t>(j)] = static_cast<double>(x.real[lines.at(i, j)]);
        f(line);
        for (std::int64_t j = 0; j < lines.length; ++j)
            call.outputs[0].real[lines.at(i, j)] = static_cast<Scalar>(line[static_cast<std::size_t>(j)]);
    }
    return {};
}

// Shifts the line so that its largest entry is 0; returns the sum of the exponentials.
double shift(std::vector<double>& line) {
    const double most = line.empty() ? 0 : *std::max_element(line.begin(), line.end());
    double sum = 0;
    for (double& value : line) sum += std::exp(value -= most);
    return sum;
}

constexpr auto softmax = [](auto& call) -> Result<void> {
    return each_line(call, [](std::vector<double>& line) {
        const double sum = shift(line);
        for (double& value : line) value = std::exp(value) / sum;
    });
};

constexpr auto log_softmax = [](auto& call) -> Result<void> {
    return each_line(call, [](std::vector<double>& line) {
        const double log_sum = std::log(shift(line));
        for (double& value : line) value -= log_sum;
    });
};

// One at the first largest entry, zero elsewhere.
constexpr auto hardmax = [](auto& call) -> Result<void> {
    return each_line(call, [](std::vector<double>& line) {
        const auto most = std::max_element(line.begin(), line.end()) - line.begin();
        for (std::size_t i = 0; i < line.size(); ++i)
            line[i] = static_cast<std::ptrdiff_t>(i) == most ? 1 : 0;
    });
};

// Maximum, subtraction, exponential, sum, division.
Flop softmax_flop(const Operation& operation) { return Flop(5 * count_of(operation.outputs[0])); }

IterationSpace softmax_space(const Operation& operation) {
    const Dims dims = operation.outputs[0].dims();
    std::int64_t axis = operation.node.integer("axis", -1);
    if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
    IterationSpace space;
    for (const std::int64_t dimension : dims)
        space.push_back({dimension, static_cast<std::int64_t>(space.size()) == axis});
    return space;
}

constexpr OperatorRow row_softmax(std::string_view name, const Precision& precision, Samples samples,
                                  Reference reference) {
    return normalization_row(
        name, {1, 1}, infer_softmax, reference,
        {.precision = precision, .samples = samples, .flop = softmax_flop, .iteration_space = softmax_space});
}

}  // namespace

std::span<const OperatorRow> softmax_operators() {
    static constexpr OperatorRow rows[] = {
        row_softmax("Softmax", precision::f32_statistics, Samples::behind_axis, real_kernel(softmax)),
        row_softmax("LogSoftmax", precision::f32_statistics, Samples::behind_axis, real_kernel(log_softmax)),
        row_softmax("Hardmax", precision::unlisted, Samples::mixed, real_kernel(hardmax)),
    };
    return rows;
}

}  // namespace viridian::graph
