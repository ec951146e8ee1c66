// TopK and Unique. NaN sorts as the largest number, as in numpy; equal elements keep their order.
#include <algorithm>
#include <numeric>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

constexpr auto before = [](auto a, auto b) { return a < b || (a == a && b != b); };

Result<void> infer_top_k(Inference& inference) {
    std::optional<Shape> out = inference.shape(0);
    if (out) {
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", -1),
                                                             static_cast<std::int64_t>(out->size())));
        const auto k = constant_integers(inference, 1);
        (*out)[static_cast<std::size_t>(axis)] =
            k && k->size() == 1 && (*k)[0] >= 0 ? Dimension((*k)[0]) : Dimension();
    }
    inference.set(0, inference.element(0), out);
    inference.set(1, ElementType::i64, out);
    return {};
}

constexpr auto top_k = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", -1), x.rank()));
    VIRIDIAN_TRY(const Dims wanted, integers(call, 1));
    const AroundAxis from(x.dims, axis);
    if (wanted.size() != 1 || wanted[0] < 0 || wanted[0] > from.size)
        return fail(ErrorCode::mismatch, "check the model", "the top [{}] of {}", fmt::join(wanted, ","),
                    from.size);
    const std::int64_t k = wanted[0];
    const bool largest = call.node.integer("largest", 1) != 0;
    Dims dims = x.dims;
    dims[static_cast<std::size_t>(axis)] = k;
    const AroundAxis to(dims, axis);
    VIRIDIAN_TRY(Array<Scalar> values, call.make(x.type, dims));
    VIRIDIAN_TRY(Array<Scalar> places, call.make(ElementType::i64, dims));
    const auto pick = [&](const auto& elements, auto& best) {
        std::vector<std::int64_t> order(static_cast<std::size_t>(from.size));
        for (std::int64_t o = 0; o < from.outer; ++o)
            for (std::int64_t j = 0; j < from.inner; ++j) {
                std::iota(order.begin(), order.end(), 0);
                std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
                    const auto ea = elements[from.at(o, a, j)];
                    const auto eb = elements[from.at(o, b, j)];
                    return largest ? before(eb, ea) : before(ea, eb);
                });
                for (std::int64_t i = 0; i < k; ++i) {
                    const std::int64_t at = order[static_cast<std::size_t>(i)];
                    best[to.at(o, i, j)] = elements[from.at(o, at, j)];
                    places.integer[to.at(o, i, j)] = at;
                }
            }
    };
    if (x.floating())
        pick(x.real, values.real);
    else
        pick(x.integer, values.integer);
    call.outputs[0] = std::move(values);
    if (call.outputs.size() > 1) call.outputs[1] = std::move(places);
    return {};
};

Result<void> infer_unique(Inference& inference) {
    std::optional<Shape> out = Shape(1);
    if (inference.node().has("axis")) {
        out = inference.shape(0);
        if (out) {
            VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", 0),
                                                                 static_cast<std::int64_t>(out->size())));
            (*out)[static_cast<std::size_t>(axis)] = Dimension();
        }
    }
    inference.set(0, inference.element(0), std::move(out));
    for (std::size_t i = 1; i < 4; ++i) inference.set(i, ElementType::i64, Shape(1));
    return {};
}

// Slices along the axis (elements where there is none) are compared element by element.
template <class Scalar, class Elements>
Result<void> unique(Call<Scalar>& call, const Array<Scalar>& x, std::int64_t axis, const Elements& elements) {
    const AroundAxis around(x.dims, axis);
    const auto less = [&](std::int64_t a, std::int64_t b) {
        for (std::int64_t o = 0; o < around.outer; ++o)
            for (std::int64_t j = 0; j < around.inner; ++j) {
                const auto ea = elements[around.at(o, a, j)];
                const auto eb = elements[around.at(o, b, j)];
                if (before(ea, eb)) return true;
                if (before(eb, ea)) return false;
            }
        return false;
    };
    std::vector<std::int64_t> order(static_cast<std::size_t>(around.size));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), less);
    struct Group {
        std::int64_t first, count;
    };
    std::vector<Group> groups;  // in sorted order; stable sorting puts the first occurrence first
    std::vector<std::size_t> group_of(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i == 0 || less(order[i - 1], order[i])) groups.push_back({order[i], 0});
        ++groups.back().count;
        group_of[static_cast<std::size_t>(order[i])] = groups.size() - 1;
    }
    std::vector<std::size_t> shown(groups.size());  // which group comes where
    std::iota(shown.begin(), shown.end(), std::size_t{0});
    if (call.node.integer("sorted", 1) == 0)
        std::sort(shown.begin(), shown.end(),
                  [&](std::size_t a, std::size_t b) { return groups[a].first < groups[b].first; });
    std::vector<std::int64_t> rank(groups.size());
    for (std::size_t i = 0; i < shown.size(); ++i) rank[shown[i]] = static_cast<std::int64_t>(i);

    const auto count = static_cast<std::int64_t>(groups.size());
    Dims dims = x.dims;
    dims[static_cast<std::size_t>(axis)] = count;
    std::vector<std::int64_t> from;
    for (std::int64_t o = 0; o < around.outer; ++o)
        for (const std::size_t group : shown)
            for (std::int64_t j = 0; j < around.inner; ++j)
                from.push_back(static_cast<std::int64_t>(around.at(o, groups[group].first, j)));
    Array<Scalar> outputs[4];
    VIRIDIAN_TRY(outputs[0], call.make(x.type, dims));
    VIRIDIAN_TRY(outputs[1], call.make(ElementType::i64, {count}));
    VIRIDIAN_TRY(outputs[2], call.make(ElementType::i64, {around.size}));
    VIRIDIAN_TRY(outputs[3], call.make(ElementType::i64, {count}));
    take(x, from, outputs[0]);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        outputs[1].integer[i] = groups[shown[i]].first;
        outputs[3].integer[i] = groups[shown[i]].count;
    }
    for (std::size_t i = 0; i < group_of.size(); ++i) outputs[2].integer[i] = rank[group_of[i]];
    for (std::size_t i = 0; i < call.outputs.size() && i < 4; ++i) call.outputs[i] = std::move(outputs[i]);
    return {};
}

constexpr auto unique_kernel = [](auto& call) -> Result<void> {
    auto x = *call.input(0);
    std::int64_t axis = 0;
    if (call.node.has("axis")) {
        VIRIDIAN_TRY(axis, normalize_axis(call.node.integer("axis", 0), x.rank()));
    } else {
        x.dims = {x.count()};
    }
    return visit(x, [&](const auto& elements) { return unique(call, x, axis, elements); });
};

}  // namespace

std::span<const OperatorRow> sorting_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("TopK", {2, 2}, infer_top_k, real_kernel(top_k),
                     {.outputs = {1, 2}, .precision = precision::compares}),
        movement_row("Unique", {1, 1}, infer_unique, real_kernel(unique_kernel), {.outputs = {1, 4}}),
    };
    return rows;
}

}  // namespace viridian::graph
