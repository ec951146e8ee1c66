// Resize: resampling along any axes, one after the other (the filters are separable). Inputs: X, roi, scales,
// sizes; one of the last two is given.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/interpolation.hpp"
#include "viridian/graph/reference/lines.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

Result<Dims> resized_axes(const Node& node, std::int64_t rank) {
    Dims axes = node.get("axes", Dims());
    if (axes.empty())
        for (std::int64_t axis = 0; axis < rank; ++axis) axes.push_back(axis);
    for (std::int64_t& axis : axes) {
        VIRIDIAN_TRY(axis, normalize_axis(axis, rank));
    }
    return axes;
}

}  // namespace

Result<std::vector<ResizedAxis>> how_resized(const Node& node, const Dims& dims, const Tensor* roi,
                                             const Tensor* scales, const Tensor* sizes) {
    VIRIDIAN_TRY(const Dims axes, resized_axes(node, static_cast<std::int64_t>(dims.size())));
    const auto count = static_cast<std::int64_t>(axes.size());
    const bool by_size = sizes != nullptr && sizes->count() > 0;
    const Tensor* given = by_size ? sizes : scales;
    if (given == nullptr || given->count() != count)
        return wrong_shape("Resize `{}` needs {} scales or sizes", node.name, count);
    std::vector<ResizedAxis> targets;
    for (std::int64_t i = 0; i < count; ++i) {
        ResizedAxis target{axes[static_cast<std::size_t>(i)], {}};
        Resampling& how = target.how;
        how.length = dims[static_cast<std::size_t>(target.axis)];
        const auto length = static_cast<double>(how.length);
        how.scale = by_size ? sizes->number(i) / length : scales->number(i);
        how.mode = node.get("mode", std::string("nearest"));
        how.transformation = node.get("coordinate_transformation_mode", std::string("half_pixel"));
        how.nearest_mode = node.get("nearest_mode", std::string("round_prefer_floor"));
        how.cubic_a = node.get("cubic_coeff_a", -0.75);
        how.exclude_outside = node.integer("exclude_outside", 0) != 0;
        how.antialias = node.integer("antialias", 0) != 0;
        if (roi != nullptr && roi->count() == 2 * count) {
            how.start = roi->number(i);
            how.end = roi->number(count + i);
        }
        if (how.length < 1 || !(how.scale > 0) || how.scale > 1e6)
            return wrong_shape("Resize `{}` scales {} cells by {}", node.name, how.length, how.scale);
        how.resized = by_size ? sizes->integer(i) : static_cast<std::int64_t>(std::floor(length * how.scale));
        targets.push_back(std::move(target));
    }
    const std::string policy = node.get("keep_aspect_ratio_policy", std::string("stretch"));
    if (by_size && policy != "stretch") {
        const auto by_scale = [](const ResizedAxis& a, const ResizedAxis& b) {
            return a.how.scale < b.how.scale;
        };
        const auto [least, most] = std::minmax_element(targets.begin(), targets.end(), by_scale);
        const double scale = policy == "not_larger" ? least->how.scale : most->how.scale;
        for (ResizedAxis& target : targets) {
            target.how.scale = scale;
            target.how.resized =
                static_cast<std::int64_t>(std::floor(static_cast<double>(target.how.length) * scale + 0.5));
        }
    }
    return targets;
}

namespace {

Result<void> infer_resize(Inference& inference) {
    for (std::size_t i = 1; i < 4; ++i) VIRIDIAN_TRY(expect_rank(inference, i, 1, 1));
    std::optional<Shape> out = inference.shape(0);
    if (out) {
        const Tensor* scales = inference.constant(2);
        const Tensor* sizes = inference.constant(3);
        const bool decided =
            (scales != nullptr && scales->count() > 0) || (sizes != nullptr && sizes->count() > 0);
        VIRIDIAN_TRY(const Dims axes, resized_axes(inference.node(), static_cast<std::int64_t>(out->size())));
        // An axis of unknown length stays unknown, unless its own size is given.
        const bool stretch =
            inference.node().get("keep_aspect_ratio_policy", std::string("stretch")) == "stretch";
        const bool by_size = sizes != nullptr && sizes->count() > 0 && stretch;
        Dims lengths;
        bool known = true;
        for (const Dimension& dimension : *out) lengths.push_back(dimension.known() ? dimension.value() : 1);
        for (const std::int64_t axis : axes) known = known && (*out)[static_cast<std::size_t>(axis)].known();
        std::vector<ResizedAxis> targets;
        if (decided) {
            VIRIDIAN_TRY(targets,
                         how_resized(inference.node(), lengths, inference.constant(1), scales, sizes));
        }
        for (std::size_t i = 0; i < axes.size(); ++i) {
            Dimension& dimension = (*out)[static_cast<std::size_t>(axes[i])];
            const bool own = by_size || (stretch && dimension.known());
            if (decided && !by_size && stretch && targets[i].how.scale == 1) continue;  // keeps its symbol
            dimension = decided && (known || own) ? Dimension(targets[i].how.resized) : Dimension();
        }
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// One axis of `x` resampled.
std::vector<double> resample(const std::vector<double>& x, Dims& dims, const ResizedAxis& target) {
    const Lines from(dims, target.axis);
    dims[static_cast<std::size_t>(target.axis)] = target.how.resized;
    const Lines to(dims, target.axis);
    std::vector<double> y(static_cast<std::size_t>(product(std::span<const std::int64_t>(dims))));
    for (std::int64_t j = 0; j < target.how.resized; ++j) {
        const std::vector<Tap> taps = taps_of(target.how, j);
        for (std::int64_t line = 0; line < to.count; ++line) {
            double sum = 0;
            for (const Tap& tap : taps)
                if (tap.weight != 0) sum += tap.weight * x[from.at(line, tap.cell)];
            y[to.at(line, j)] = sum;
        }
    }
    return y;
}

constexpr auto resize = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    Array<Scalar>& y = call.outputs[0];
    const auto list = [&](std::size_t i) {
        Tensor tensor;
        if (const Array<Scalar>* input = call.input(i); input != nullptr && input->count() > 0) {
            std::vector<double> numbers(input->real.begin(), input->real.end());
            for (const std::int64_t number : input->integer) numbers.push_back(static_cast<double>(number));
            tensor = Tensor::of<double>(ElementType::f64, {input->count()}, numbers);
        }
        return tensor;
    };
    const Tensor roi = list(1);
    const Tensor scales = list(2);
    const Tensor sizes = list(3);
    VIRIDIAN_TRY(const std::vector<ResizedAxis> targets,
                 how_resized(call.node, x.dims, &roi, &scales, &sizes));
    std::vector<double> values(x.real.begin(), x.real.end());
    for (const std::int64_t value : x.integer) values.push_back(static_cast<double>(value));
    Dims dims = x.dims;
    for (const ResizedAxis& target : targets)
        if (target.how.resized != target.how.length || target.how.scale != 1 ||
            target.how.transformation == "tf_crop_and_resize")
            values = resample(values, dims, target);
    // tf_crop_and_resize: cells outside the input take a given value.
    for (const ResizedAxis& target : targets) {
        if (target.how.transformation != "tf_crop_and_resize") continue;
        const Lines lines(dims, target.axis);
        for (std::int64_t j = 0; j < target.how.resized; ++j) {
            const double at = original_coordinate(target.how, j);
            if (at >= 0 && at <= static_cast<double>(target.how.length - 1)) continue;
            for (std::int64_t line = 0; line < lines.count; ++line)
                values[lines.at(line, j)] = call.node.get("extrapolation_value", 0.0);
        }
    }
    for (std::size_t i = 0; i < values.size(); ++i)
        if (y.floating())
            y.real[i] = static_cast<Scalar>(values[i]);
        else
            y.integer[i] = to_integer(values[i]);
    return {};
};

// A product and a sum per tap; nearest only moves.
Flop resize_flop(const Operation& operation) {
    const std::string mode = operation.node.get("mode", std::string("nearest"));
    if (mode == "nearest") return Flop(0);
    const Dims from = operation.inputs[0].dims();
    const Dims to = operation.outputs[0].dims();
    std::int64_t taps = 0;
    for (std::size_t axis = 0; axis < from.size(); ++axis)
        if (from[axis] != to[axis]) taps += mode == "cubic" ? 4 : 2;
    return Flop(2 * taps * count_of(operation.outputs[0]));
}

}  // namespace

std::span<const OperatorRow> resize_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Resize", {1, 4}, infer_resize, real_kernel(resize),
                     // Nearest moves elements; linear and cubic interpolation round.
                     {.precision = precision::rounds_once, .flop = resize_flop}),
    };
    return rows;
}

}  // namespace viridian::graph
