// Pools over sliding windows: MaxPool, AveragePool, LpPool; X is [N,C,spatial…].
#include <algorithm>
#include <cmath>
#include <limits>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::graph {
namespace {

Shape kernel_of(const Node& node) { return shape_of(node.get("kernel_shape", Dims())); }

Result<void> infer_pool(Inference& inference) {
    VIRIDIAN_TRY(expect_rank(inference, 0, 3));
    const Shape kernel = kernel_of(inference.node());
    VIRIDIAN_TRY(const Windows windows, Windows::of(inference.node(), kernel));
    if (kernel.empty() || std::any_of(kernel.begin(), kernel.end(), [](auto& k) { return k.value() < 1; }))
        return wrong_attribute("`kernel_shape` of node `{}` must hold positive numbers",
                               inference.node().name);
    VIRIDIAN_TRY(expect_rank(inference, 0, kernel.size() + 2, kernel.size() + 2));
    std::optional<Shape> out;
    if (const auto& x = inference.shape(0)) {
        out = Shape{(*x)[0], (*x)[1]};
        for (std::size_t axis = 0; axis < kernel.size(); ++axis) {
            VIRIDIAN_TRY(Dimension extent, windows.output(axis, (*x)[axis + 2]));
            out->push_back(std::move(extent));
        }
    }
    inference.set(0, inference.element(0), out);
    inference.set(1, ElementType::i64, out);
    return {};
}

Result<void> infer_floating_pool(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference));
    return infer_pool(inference);
}

// Everything a pool's loop needs; valid after prepare().
struct Pool {
    Windows windows;
    Grid from, to, kernel;
    std::vector<std::int64_t> cells;  // per output cell, per kernel cell

    template <class CallType>
    static Result<Pool> of(const CallType& call) {
        const Dims& x = call.input(0)->dims;
        const Dims& y = call.outputs[0].dims;
        VIRIDIAN_TRY(Windows windows, Windows::of(call.node, kernel_of(call.node)));
        Pool pool{std::move(windows),
                  Grid(Dims(x.begin() + 2, x.end())),
                  Grid(Dims(y.begin() + 2, y.end())),
                  Grid(call.node.get("kernel_shape", Dims())),
                  {}};
        VIRIDIAN_TRY(pool.cells, pool.windows.cells(pool.from, pool.to, pool.kernel));
        return pool;
    }
    // The input cells under output cell o, −1 in the padding.
    [[nodiscard]] std::span<const std::int64_t> window(std::int64_t o) const {
        return std::span(cells).subspan(static_cast<std::size_t>(o * kernel.count),
                                        static_cast<std::size_t>(kernel.count));
    }
};

// The index that MaxPool reports for a cell of a plane: row-major, or column-major for storage_order 1.
std::int64_t reported_index(const Grid& grid, std::int64_t cell, bool column_major) {
    if (!column_major) return cell;
    const Dims at = grid.position(cell);
    std::int64_t index = 0;
    for (std::size_t axis = at.size(); axis-- > 0;) index = index * grid.extents[axis] + at[axis];
    return index;
}

constexpr auto max_pool = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(prepare(call));
    VIRIDIAN_TRY(const Pool pool, Pool::of(call));
    const bool column_major = call.node.integer("storage_order", 0) != 0;
    const auto& x = *call.input(0);
    const auto run = [&](const auto& from, auto& to) {
        using Element = std::remove_cvref_t<decltype(to[0])>;
        const std::int64_t planes = x.dims[0] * x.dims[1];
        for (std::int64_t plane = 0; plane < planes; ++plane)
            for (std::int64_t o = 0; o < pool.to.count; ++o) {
                Element most = std::numeric_limits<Element>::lowest();
                std::int64_t best = -1;
                for (const std::int64_t cell : pool.window(o)) {
                    if (cell < 0) continue;
                    const Element value = from[static_cast<std::size_t>(plane * pool.from.count + cell)];
                    if (best < 0 || value > most || value != value) {
                        most = value;
                        best = cell;
                    }
                }
                const auto at = static_cast<std::size_t>(plane * pool.to.count + o);
                to[at] = most;
                if (call.outputs.size() > 1 && best >= 0)
                    call.outputs[1].integer[at] =
                        plane * pool.from.count + reported_index(pool.from, best, column_major);
            }
    };
    if (x.floating())
        run(x.real, call.outputs[0].real);
    else
        run(x.integer, call.outputs[0].integer);
    return {};
};

// How many cells of the window at output cell o count for the mean: those inside the input, or, with
// count_include_pad, inside the padded input (ceil mode may reach beyond it).
std::int64_t counted(const Pool& pool, std::int64_t o, bool include_pads) {
    if (!include_pads)
        return std::count_if(pool.window(o).begin(), pool.window(o).end(),
                             [](std::int64_t cell) { return cell >= 0; });
    const Dims at = pool.to.position(o);
    const bool same = pool.windows.auto_pad.starts_with("SAME");  // padded to fit every window
    std::int64_t count = 1;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
        const std::int64_t begin = pool.windows.begin(axis, pool.from.extents[axis], pool.to.extents[axis]);
        const std::int64_t dilation = pool.windows.dilations[axis];
        const std::int64_t start = at[axis] * pool.windows.strides[axis];
        std::int64_t taps = pool.kernel.extents[axis];
        if (!same) {
            const std::int64_t room = begin + pool.from.extents[axis] + pool.windows.pads_end[axis] - start;
            taps = std::min(taps, (room + dilation - 1) / dilation);
        }
        count *= taps;
    }
    return count;
}

constexpr auto average_pool = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    using Wide = Accumulator<Scalar>;
    VIRIDIAN_TRY(prepare(call));
    VIRIDIAN_TRY(const Pool pool, Pool::of(call));
    const bool include_pads = call.node.integer("count_include_pad", 0) != 0;
    const auto& x = *call.input(0);
    const std::int64_t planes = x.dims[0] * x.dims[1];
    for (std::int64_t o = 0; o < pool.to.count; ++o) {
        const Wide count(counted(pool, o, include_pads));
        for (std::int64_t plane = 0; plane < planes; ++plane) {
            Wide sum(0);
            for (const std::int64_t cell : pool.window(o))
                if (cell >= 0) sum += Wide(x.real[static_cast<std::size_t>(plane * pool.from.count + cell)]);
            call.outputs[0].real[static_cast<std::size_t>(plane * pool.to.count + o)] =
                static_cast<Scalar>(sum / count);
        }
    }
    return {};
};

constexpr auto norm_pool = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    VIRIDIAN_TRY(const Pool pool, Pool::of(call));
    const auto p = static_cast<double>(call.node.integer("p", 2));
    const auto& x = *call.input(0);
    const std::int64_t planes = x.dims[0] * x.dims[1];
    for (std::int64_t plane = 0; plane < planes; ++plane)
        for (std::int64_t o = 0; o < pool.to.count; ++o) {
            double sum = 0;
            for (const std::int64_t cell : pool.window(o))
                if (cell >= 0)
                    sum += std::pow(std::abs(static_cast<double>(
                                        x.real[static_cast<std::size_t>(plane * pool.from.count + cell)])),
                                    p);
            call.outputs[0].real[static_cast<std::size_t>(plane * pool.to.count + o)] =
                static_cast<Scalar>(std::pow(sum, 1 / p));
        }
    return {};
};

// One comparison, addition or power per window cell.
Flop pool_flop(const Operation& operation) {
    return Flop(count_of(operation.outputs[0]) * product(operation.node.get("kernel_shape", Dims())));
}

IterationSpace pool_space(const Operation& operation) {
    return summed_over(operation, operation.node.get("kernel_shape", Dims()));
}

constexpr OperatorRow row_pooling(std::string_view name, int outputs, const Precision& precision,
                                  Samples samples, ShapeRule infer, Reference reference) {
    return normalization_row(name, {1, 1}, infer, reference,
                             {.outputs = {1, outputs},
                              .precision = precision,
                              .samples = samples,
                              .sets = {.bf16 = 22},
                              .flop = pool_flop,
                              .iteration_space = pool_space});
}

}  // namespace

std::span<const OperatorRow> pooling_operators() {
    static constexpr OperatorRow rows[] = {
        row_pooling("MaxPool", 2, precision::only_moves, Samples::apart, infer_pool, real_kernel(max_pool)),
        row_pooling("AveragePool", 1, precision::rounds_once, Samples::apart, infer_floating_pool,
                    polynomial_kernel(average_pool)),
        // A norm has condition number 1, and its sum of powers stays in f32.
        row_pooling("LpPool", 1, precision::f32_statistics, Samples::mixed, infer_floating_pool,
                    real_kernel(norm_pool)),
    };
    return rows;
}

}  // namespace viridian::graph
