// Elements kept or set by position or value: Trilu, OneHot, Compress, NonZero.
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_trilu(Inference& inference) {
    inference.set(0, inference.element(0), inference.shape(0));
    return {};
}

constexpr auto trilu = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    if (x.rank() < 2)
        return fail(ErrorCode::mismatch, "check the model's shapes", "Trilu of rank {}", x.rank());
    std::int64_t k = 0;
    if (call.input(1) != nullptr) {
        VIRIDIAN_TRY(const Dims given, integers(call, 1));
        if (!given.empty()) k = std::clamp(given[0], -reference_limit, reference_limit);
    }
    const bool upper = call.node.integer("upper", 1) != 0;
    const std::int64_t rows = x.dims[x.dims.size() - 2];
    const std::int64_t columns = x.dims.back();
    VIRIDIAN_TRY(call.outputs[0], call.make(x.type, x.dims));
    std::vector<std::int64_t> from(static_cast<std::size_t>(x.count()));
    for (std::int64_t at = 0; at < x.count(); ++at) {
        const std::int64_t diagonal = at % columns - at / columns % rows;
        from[static_cast<std::size_t>(at)] = (upper ? diagonal >= k : diagonal <= k) ? at : -1;
    }
    take(x, from, call.outputs[0]);
    return {};
};

Result<void> infer_one_hot(Inference& inference) {
    std::optional<Shape> out = inference.shape(0);
    if (out) {
        const auto rank = static_cast<std::int64_t>(out->size());
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", -1), rank + 1));
        Dimension depth;
        if (const Tensor* constant = inference.constant(1); constant != nullptr && constant->count() == 1)
            depth = Dimension(
                std::clamp<std::int64_t>(to_integer(constant->number(0)), 0, std::int64_t{1} << 40));
        out->insert(out->begin() + axis, depth);
    }
    inference.set(0, inference.element(2), std::move(out));
    return {};
}

// Indices and depth may be floating; an index outside [−depth, depth) sets nothing.
constexpr auto one_hot = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const auto number = [](const Array<Scalar>& x, std::size_t i) {
        return x.floating() ? static_cast<double>(x.real[i]) : static_cast<double>(x.integer[i]);
    };
    const Array<Scalar>& indices = *call.input(0);
    const Array<Scalar>& values = *call.input(2);
    if (call.input(1)->count() != 1 || values.count() != 2)
        return fail(ErrorCode::mismatch, "check the model", "OneHot takes one depth and two values");
    const double wanted = number(*call.input(1), 0);
    if (!(wanted >= 0 && wanted < static_cast<double>(reference_limit)))
        return fail(ErrorCode::mismatch, "check the model", "OneHot cannot have the depth {}", wanted);
    const auto depth = static_cast<std::int64_t>(wanted);
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", -1), indices.rank() + 1));
    Dims dims = indices.dims;
    dims.insert(dims.begin() + axis, depth);
    VIRIDIAN_TRY(Array<Scalar> y, call.make(values.type, dims));
    std::vector<std::int64_t> from(static_cast<std::size_t>(y.count()), 0);  // of {off, on}
    const AroundAxis around(dims, axis);
    for (std::int64_t o = 0; o < around.outer; ++o)
        for (std::int64_t j = 0; j < around.inner; ++j) {
            double hot = number(indices, static_cast<std::size_t>(o * around.inner + j));
            if (hot < 0) hot += static_cast<double>(depth);
            if (hot >= 0 && hot < static_cast<double>(depth))
                from[around.at(o, static_cast<std::int64_t>(hot), j)] = 1;
        }
    take(values, from, y);
    call.outputs[0] = std::move(y);
    return {};
};

Result<void> infer_compress(Inference& inference) {
    std::optional<Shape> out;
    if (!inference.node().has("axis")) {
        out = Shape(1);
    } else if (const auto& shape = inference.shape(0)) {
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", 0),
                                                             static_cast<std::int64_t>(shape->size())));
        out = *shape;
        (*out)[static_cast<std::size_t>(axis)] = Dimension();
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

constexpr auto compress = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    Array<Scalar> x = *call.input(0);
    std::int64_t axis = 0;
    if (call.node.has("axis")) {
        VIRIDIAN_TRY(axis, normalize_axis(call.node.integer("axis", 0), x.rank()));
    } else {
        x.dims = {x.count()};
    }
    VIRIDIAN_TRY(const Dims condition, integers(call, 1));
    const AroundAxis around(x.dims, axis);
    Dims kept;
    for (std::size_t i = 0; i < condition.size() && static_cast<std::int64_t>(i) < around.size; ++i)
        if (condition[i] != 0) kept.push_back(static_cast<std::int64_t>(i));
    Dims dims = x.dims;
    dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(kept.size());
    VIRIDIAN_TRY(call.outputs[0], call.make(x.type, dims));
    std::vector<std::int64_t> from;
    for (std::int64_t o = 0; o < around.outer; ++o)
        for (const std::int64_t i : kept)
            for (std::int64_t j = 0; j < around.inner; ++j)
                from.push_back(static_cast<std::int64_t>(around.at(o, i, j)));
    take(x, from, call.outputs[0]);
    return {};
};

Result<void> infer_non_zero(Inference& inference) {
    const auto rank = rank_of(inference, 0);
    inference.set(0, ElementType::i64, Shape{rank ? Dimension(*rank) : Dimension(), Dimension()});
    return {};
}

// Column by column the position of each element that is not zero, in order.
constexpr auto non_zero = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    const Array<Scalar>& x = *call.input(0);
    const Dims strides = row_major_strides(x.dims);
    Dims found;
    for (std::int64_t at = 0; at < x.count(); ++at)
        if (const auto i = static_cast<std::size_t>(at); x.floating() ? x.real[i] != 0 : x.integer[i] != 0)
            found.push_back(at);
    const auto count = static_cast<std::int64_t>(found.size());
    VIRIDIAN_TRY(auto y, call.make(ElementType::i64, {x.rank(), count}));
    for (std::size_t axis = 0; axis < x.dims.size(); ++axis)
        for (std::size_t i = 0; i < found.size(); ++i)
            y.integer[axis * found.size() + i] = found[i] / strides[axis] % x.dims[axis];
    call.outputs[0] = std::move(y);
    return {};
};

}  // namespace

std::span<const OperatorRow> masking_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("Trilu", {1, 2}, infer_trilu, polynomial_kernel(trilu)),
        movement_row("OneHot", {3, 3}, infer_one_hot, real_kernel(one_hot),
                     {.precision = precision::rounds_nothing}),
        movement_row("Compress", {2, 2}, infer_compress, polynomial_kernel(compress)),
        movement_row("NonZero", {1, 1}, infer_non_zero, real_kernel(non_zero),
                     {.precision = precision::rounds_nothing}),
    };
    return rows;
}

}  // namespace viridian::graph
