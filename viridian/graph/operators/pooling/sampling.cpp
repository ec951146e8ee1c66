// Sampling an image where a grid says: AffineGrid makes the grid, GridSample reads there (spatial transformer
// networks, Jaderberg et al., NIPS 2015), in any number of spatial dimensions. Grid coordinates are in [−1,
// 1], the fastest axis first.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/interpolation.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_sample(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 1, 1));
    VIRIDIAN_TRY(expect_rank(inference, 0, 3, 10));
    const auto& x = inference.shape(0);
    const auto& grid = inference.shape(1);
    std::optional<Shape> out;
    if (x && grid) {
        VIRIDIAN_TRY(expect_rank(inference, 1, x->size(), x->size()));
        if (differ(grid->back(), Dimension(static_cast<std::int64_t>(x->size()) - 2)) ||
            differ((*x)[0], (*grid)[0]))
            return wrong_shape("GridSample reads {} at {}", text(inference.input(0)),
                               text(inference.input(1)));
        for (std::size_t axis = 2; axis < x->size(); ++axis)
            if ((*x)[axis].value() == 0)
                return wrong_shape("GridSample reads an empty image {}", text(inference.input(0)));
        out = Shape{(*x)[0], (*x)[1]};
        out->insert(out->end(), grid->begin() + 1, grid->end() - 1);
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// Bounces x between low and high.
double reflected(double x, double low, double high) {
    const double range = high - low;
    if (range <= 0) return low;
    const double turn = std::fmod(std::abs(x - low), 2 * range);
    return low + (turn > range ? 2 * range - turn : turn);
}

struct AxisSampler {
    std::int64_t length;
    bool corners;
    std::string mode, padding;

    [[nodiscard]] double low() const { return corners ? 0 : -0.5; }
    [[nodiscard]] double high() const { return static_cast<double>(length) - (corners ? 1 : 0.5); }

    // The cell that stands for `cell`, or −1 for none.
    [[nodiscard]] std::int64_t inside(double cell) const {
        const auto last = static_cast<double>(length - 1);
        if (padding == "reflection") cell = reflected(cell, low(), high());
        if (padding == "zeros" && (cell < 0 || cell > last)) return -1;
        return static_cast<std::int64_t>(std::clamp(cell, 0.0, last));
    }
    // Cells and weights for a grid coordinate in [−1, 1].
    [[nodiscard]] std::vector<Tap> taps(double grid) const {
        const auto extent = static_cast<double>(length);
        double at = corners ? (grid + 1) / 2 * (extent - 1) : ((grid + 1) * extent - 1) / 2;
        if (!(std::abs(at) < 1e15)) at = -1e15;  // not a number, or far outside: no cell is near
        std::vector<Tap> all;
        if (mode == "cubic") {
            for (double cell = std::floor(at) - 1; cell < std::floor(at) + 3; ++cell)
                all.push_back({inside(cell), cubic_kernel(cell - at, -0.75)});
            return all;
        }
        if (padding == "border") at = std::clamp(at, 0.0, extent - 1);
        if (padding == "reflection") at = std::clamp(reflected(at, low(), high()), 0.0, extent - 1);
        if (mode == "nearest") return {{inside(std::nearbyint(at)), 1}};
        const double floor = std::floor(at);
        return {{inside(floor), 1 - (at - floor)}, {inside(floor + 1), at - floor}};
    }
};

constexpr auto sample = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& x = *call.input(0);
    const Array<Scalar>& grid = *call.input(1);
    Array<Scalar>& y = call.outputs[0];
    const Grid from(Dims(x.dims.begin() + 2, x.dims.end()));
    const Grid to(Dims(y.dims.begin() + 2, y.dims.end()));
    const std::size_t axes = from.extents.size();
    std::string mode = call.node.get("mode", std::string("linear"));
    if (mode == "bilinear") mode = "linear";  // their names before operator set 20
    if (mode == "bicubic") mode = "cubic";
    std::vector<AxisSampler> samplers;
    for (const std::int64_t length : from.extents)
        samplers.push_back({length, call.node.integer("align_corners", 0) != 0, mode,
                            call.node.get("padding_mode", std::string("zeros"))});
    for (std::int64_t n = 0; n < x.dims[0]; ++n)
        for (std::int64_t o = 0; o < to.count; ++o) {
            // Taps of all axes multiplied out.
            std::vector<Tap> taps = {{0, 1}};
            for (std::size_t axis = 0; axis < axes; ++axis) {
                const auto coordinate = static_cast<std::size_t>(n * to.count + o) * axes + (axes - 1 - axis);
                std::vector<Tap> product;
                for (const Tap& next : samplers[axis].taps(static_cast<double>(grid.real[coordinate])))
                    for (const Tap& tap : taps)
                        if (tap.cell >= 0 && next.cell >= 0 && next.weight != 0)
                            product.push_back(
                                {tap.cell * from.extents[axis] + next.cell, tap.weight * next.weight});
                taps = std::move(product);
            }
            for (std::int64_t c = 0; c < x.dims[1]; ++c) {
                const std::int64_t plane = n * x.dims[1] + c;
                double sum = 0;
                for (const Tap& tap : taps) {
                    const auto cell = static_cast<std::size_t>(plane * from.count + tap.cell);
                    sum += tap.weight * (x.floating() ? static_cast<double>(x.real[cell])
                                                      : static_cast<double>(x.integer[cell]));
                }
                const auto at = static_cast<std::size_t>(plane * to.count + o);
                if (y.floating())
                    y.real[at] = static_cast<Scalar>(sum);
                else
                    y.integer[at] = static_cast<std::int64_t>(sum);
            }
        }
    return {};
};

Result<void> infer_affine(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 0));
    VIRIDIAN_TRY(expect_integer(inference, 1, 1));
    VIRIDIAN_TRY(expect_rank(inference, 0, 3, 3));
    std::optional<Shape> out;
    if (const Tensor* size = inference.constant(1)) {
        const Dims wanted = size->integers();
        const auto axes = static_cast<std::int64_t>(wanted.size()) - 2;
        if (axes != 2 && axes != 3)
            return wrong_shape("AffineGrid `{}` has a size of {} numbers", inference.node().name,
                               wanted.size());
        VIRIDIAN_TRY(
            expect_shape(inference, 0, {Dimension(wanted[0]), Dimension(axes), Dimension(axes + 1)}));
        for (const std::int64_t extent : wanted)
            if (extent < 0) return wrong_shape("AffineGrid `{}` has a negative size", inference.node().name);
        out = Shape{Dimension(wanted[0])};
        for (std::size_t i = 2; i < wanted.size(); ++i) out->emplace_back(wanted[i]);
        out->emplace_back(axes);
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

// grid = theta · (x, y[, z], 1) over the cells of the output image.
constexpr auto affine = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    if (call.outputs[0].dims.size() < 2)
        return wrong_shape("AffineGrid `{}` of a size that is not decided", call.node.name);
    const Array<Scalar>& theta = *call.input(0);
    Array<Scalar>& y = call.outputs[0];
    const Grid cells(Dims(y.dims.begin() + 1, y.dims.end() - 1));
    const std::size_t axes = cells.extents.size();
    const bool corners = call.node.integer("align_corners", 0) != 0;
    std::size_t next = 0;
    for (std::int64_t n = 0; n < y.dims[0]; ++n)
        for (std::int64_t o = 0; o < cells.count; ++o) {
            const Dims at = cells.position(o);
            std::vector<double> place;
            for (std::size_t axis = axes; axis-- > 0;) {
                const auto extent = static_cast<double>(cells.extents[axis]);
                const auto cell = static_cast<double>(at[axis]);
                place.push_back(corners ? (extent > 1 ? 2 * cell / (extent - 1) - 1 : 0)
                                        : (2 * cell + 1) / extent - 1);
            }
            place.push_back(1);
            for (std::size_t row = 0; row < axes; ++row) {
                double sum = 0;
                for (std::size_t i = 0; i <= axes; ++i)
                    sum += place[i] *
                           static_cast<double>(
                               theta.real[(static_cast<std::size_t>(n) * axes + row) * (axes + 1) + i]);
                y.real[next++] = static_cast<Scalar>(sum);
            }
        }
    return {};
};

// Two per tap and cell, taps multiplied over the axes.
Flop sample_flop(const Operation& operation) {
    const std::string mode = operation.node.get("mode", std::string("linear"));
    if (mode == "nearest") return Flop(0);
    std::int64_t taps = 1;
    for (std::size_t axis = 2; axis < operation.inputs[0].dims().size(); ++axis)
        taps *= mode == "cubic" || mode == "bicubic" ? 4 : 2;
    return Flop(2 * taps * count_of(operation.outputs[0]));
}
Flop affine_flop(const Operation& operation) {
    return Flop(2 * operation.inputs[0].dims().back() * count_of(operation.outputs[0]));
}

}  // namespace

std::span<const OperatorRow> sampling_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("GridSample", {2, 2}, infer_sample, real_kernel(sample), {.flop = sample_flop}),
        elementwise_row("AffineGrid", {2, 2}, infer_affine, real_kernel(affine),
                        {.sets = {.any = 20}, .flop = affine_flop}),
    };
    return rows;
}

}  // namespace viridian::graph
