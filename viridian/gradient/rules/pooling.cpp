// Pools over windows and over whole planes.
#include <algorithm>
#include <numeric>

#include "viridian/gradient/rules/families.hpp"
#include "viridian/gradient/rules/statistics.hpp"
#include "viridian/gradient/rules/windows.hpp"
#include "viridian/graph/reference/windows.hpp"

namespace viridian::gradient {
namespace {

using Terms = std::vector<Term>;

WindowAxes pool_windows(const Site& s) {
    return windows_of(s, s.node().get("kernel_shape", Dims()), spatial(s.dims(s.x())),
                      spatial(s.dims(s.y())));
}

std::int64_t cells_of(std::span<const std::int64_t> dims) {
    return std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
}

// --- MaxPool: its second output names the element that each maximum came from.

// Adds every element of g to the element of a tensor of dims `dims` that `indices` names. The indices count
// through the tensor row by row, or, for storage order 1, with the spatial axes in reverse order.
Term add_at(Term g, Term indices, const Dims& dims, bool column_major) {
    Builder& b = *g.builder;
    const Dims all = {cells_of(dims)}, each = {cells_of(b.dims(g))};
    const Term flat =
        b.add(op::ScatterElements, {expand(b.number(0, g), all), reshape(indices, each), reshape(g, each)},
              {{"axis", std::int64_t{0}}, {"reduction", std::string("add")}});
    if (!column_major) return reshape(flat, dims);
    Dims turned = dims, order(dims.size());
    std::reverse(turned.begin() + 2, turned.end());
    std::iota(order.begin(), order.end(), 0);
    std::reverse(order.begin() + 2, order.end());
    return transpose(reshape(flat, turned), order);
}

Terms max_pool_rule(Site& s) {
    const bool column_major = s.integer("storage_order", 0) != 0;
    const Dims dims = s.dims(s.x());
    Attributes attributes = pool_windows(s).attributes();
    if (column_major) attributes["storage_order"] = std::int64_t{1};
    return s.b.call(op::MaxPoolGrad, {s.g(), s.output(1, "indices")}, std::move(attributes),
                    [=](Builder& b, const Terms& in) -> Terms {
                        const ElementType element = b.element(in[0]), work = statistics_type(element);
                        return {cast(add_at(cast(in[0], work), in[1], dims, column_major), element)};
                    });
}

// --- AveragePool: every element of a window gets an equal part of its g.

// How many cells of each window along one axis count for the mean, as AveragePool defines it.
Dims counted_along(const Site& s, const WindowAxes& axes, std::size_t axis) {
    const bool include_pads = s.integer("count_include_pad", 0) != 0;
    const bool same = s.node().get("auto_pad", std::string()).starts_with("SAME");
    const Dims pads = s.node().get("pads", Dims(2 * axes.count(), 0));
    Dims counts;
    for (std::int64_t o = 0; o < axes.narrow[axis]; ++o) {
        std::int64_t count = 0;
        for (std::int64_t k = 0; k < axes.kernel[axis]; ++k) {
            const std::int64_t cell = o * axes.strides[axis] - axes.before[axis] + k * axes.dilations[axis];
            const bool inside = cell >= 0 && cell < axes.wide[axis];
            // A last window of ceil mode may reach beyond the padding: those cells never count.
            if (inside || (include_pads && (same || cell < axes.wide[axis] + pads[axes.count() + axis])))
                ++count;
        }
        counts.push_back(count);
    }
    return counts;
}

// The number of counted cells of each window, of dims `narrow`.
std::vector<double> counted_cells(const Site& s, const WindowAxes& axes) {
    std::vector<double> counts = {1};
    for (std::size_t axis = 0; axis < axes.count(); ++axis) {
        std::vector<double> longer;
        const Dims along = counted_along(s, axes, axis);
        for (const double before : counts)
            for (const std::int64_t count : along) longer.push_back(before * static_cast<double>(count));
        counts = std::move(longer);
    }
    return counts;
}

Term count_tensor(Builder& b, const std::vector<double>& counts, const Dims& dims, ElementType element) {
    if (element == ElementType::f64) return b.constant(Tensor::of<double>(element, dims, counts));
    return b.constant(Tensor::f32(dims, std::vector<float>(counts.begin(), counts.end())));
}

Terms average_pool_rule(Site& s) {
    const WindowAxes axes = pool_windows(s);
    const std::vector<double> counts = counted_cells(s, axes);
    const bool equal_counts = std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end();
    return s.b.call(
        op::AveragePoolGrad, {s.g()}, axes.attributes(), [=](Builder& b, const Terms& in) -> Terms {
            const ElementType element = b.element(in[0]), work = statistics_type(element);
            const Term g = cast(in[0], work);
            const Term share = equal_counts ? g / counts[0] : g / count_tensor(b, counts, axes.narrow, work);
            return {cast(spread_windows_evenly(share, axes), element)};
        });
}

// --- norms: y = (Σ |x|^p)^(1/p), so that dx = g · y^(1-p) · |x|^(p-1) · sign x

// |x|^(p-1) · sign x
Term power_below(Term x, std::int64_t p) {
    if (p == 1) return apply(op::Sign, x);
    if (p == 2) return x;
    return x * x.builder->add(op::Pow, {apply(op::Abs, x), x.builder->number(static_cast<double>(p - 2), x)});
}

// g · y^(1-p), and 0 where y is 0
Term norm_share(Site& s, std::int64_t p) {
    if (p == 1) return s.g();
    const Term y = s.y();
    const Term power = p == 2 ? y : s.b.add(op::Pow, {y, s.b.number(static_cast<double>(p - 1), y)});
    return where(y > 0, s.g() / power, 0);
}

Terms lp_pool_rule(Site& s) {
    const std::int64_t p = s.integer("p", 2);
    if (p < 1) s.refuse("its `p` is not positive");
    return {power_below(s.x(), p) * spread_windows_evenly(norm_share(s, p), pool_windows(s))};
}

Terms global_lp_rule(Site& s) {
    const std::int64_t p = s.integer("p", 2);
    if (p < 1) s.refuse("its `p` is not positive");
    return {power_below(s.x(), p) * norm_share(s, p)};
}

// --- pools over whole planes

Terms global_average_rule(Site& s) {
    const Dims dims = s.dims(s.x());
    const std::int64_t cells = cells_of(std::span(dims).subspan(2));
    return {expand(s.g() / static_cast<double>(cells), dims)};
}

// Cells that share the maximum share its gradient.
Terms global_max_rule(Site& s) {
    const Term attains = cast(equal(s.x(), s.y()), s.b.element(s.y()));
    Dims plane(static_cast<std::size_t>(s.rank(s.x())) - 2);
    std::iota(plane.begin(), plane.end(), 2);
    return {attains * (s.g() / sum(attains, plane))};
}

// --- instances

const Domain all_apart = {.low = -3, .distinct = true};
const Domain away_from_zero = {.kinks = {0}, .margin = 0.3};

auto pool_instance(graph::KnownOperator op, const Domain& domain) {
    return [=](Instance& i) {
        const auto axes = static_cast<std::size_t>(i.pick({1, 2, 2, 3}));
        RandomWindows windows = random_windows(i, axes, WindowsOf::pool);
        if (op == op::MaxPool && i.coin()) windows.attributes["storage_order"] = std::int64_t{1};
        if (op == op::AveragePool && i.coin()) windows.attributes["count_include_pad"] = std::int64_t{1};
        if (op == op::LpPool) windows.attributes["p"] = i.extent(1, 4);
        Dims dims = {i.extent(1, 3), i.extent(1, 3)};
        if (i.coin() &&
            std::ranges::all_of(windows.wide, [&](auto n) { return n == windows.wide[0] && n < 5; }))
            dims = {windows.wide[0], windows.wide[0]};  // so that exchanged axes fit
        dims.insert(dims.end(), windows.wide.begin(), windows.wide.end());
        i.apply(op, {i.input(dims, domain)}, windows.attributes);
    };
}

auto global_instance(graph::KnownOperator op, const Domain& domain) {
    return [=](Instance& i) {
        Attributes attributes;
        if (op == op::GlobalLpPool) attributes["p"] = i.extent(1, 4);
        Dims dims = i.extents(i.extent(2, 5), 4);
        if (op != op::GlobalMaxPool || dims.size() == 2 || i.coin())
            return void(i.apply(op, {i.input(dims, domain)}, attributes));
        // Every cell twice, so that two attain the maximum.
        dims.back() = 1;
        const Term twice = i.b.constant(Tensor::of<double>(ElementType::f64, {2}, std::vector<double>{0, 0}));
        i.apply(op, {i.input(dims, domain) + twice}, attributes);
    };
}

}  // namespace

std::vector<Rule> pooling_rules() {
    using enum Rule::Form;
    return {
        {op::MaxPool, "g is added where each maximum came from", piecewise, max_pool_rule,
         pool_instance(op::MaxPool, all_apart)},
        {op::AveragePool, "every counted cell of a window gets g / count", multilinear, average_pool_rule,
         pool_instance(op::AveragePool, {})},
        {op::LpPool, "dx = |x|^(p-1) · sign x · the sum over its windows of g · y^(1-p)", smooth,
         lp_pool_rule, pool_instance(op::LpPool, away_from_zero)},
        {op::GlobalAveragePool, "dx = g / cells", multilinear, global_average_rule,
         global_instance(op::GlobalAveragePool, {})},
        {op::GlobalMaxPool, "the largest cells share g", piecewise, global_max_rule,
         global_instance(op::GlobalMaxPool, all_apart)},
        {op::GlobalLpPool, "dx = |x|^(p-1) · sign x · g · y^(1-p)", smooth, global_lp_rule,
         global_instance(op::GlobalLpPool, away_from_zero)},
    };
}

}  // namespace viridian::gradient
