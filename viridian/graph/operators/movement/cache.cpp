// TensorScatter (writes new rows into a cache along its sequence axis) and BitCast (the same bits as another
// type).
#include <cstring>

#include "viridian/graph/evaluate.hpp"
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/movement.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_scatter_cache(Inference& inference) {
    VIRIDIAN_TRY(expect_rank(inference, 0, 2));
    VIRIDIAN_TRY(expect_integer(inference, 2, 2));
    if (inference.element(0) != ElementType::undefined && inference.element(1) != ElementType::undefined &&
        inference.element(0) != inference.element(1))
        return wrong_shape("TensorScatter writes {} into {}", text(inference.input(1)),
                           text(inference.input(0)));
    if (const auto& cache = inference.shape(0)) {
        VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(inference.node().integer("axis", -2),
                                                             static_cast<std::int64_t>(cache->size())));
        if (axis == 0)
            return wrong_attribute("`axis` of node `{}` is that of the batch", inference.node().name);
        Shape update = *cache;
        const auto at = static_cast<std::size_t>(axis);
        update[at] = Dimension();
        VIRIDIAN_TRY(expect_shape(inference, 1, update));
        VIRIDIAN_TRY(expect_shape(inference, 2, {(*cache)[0]}));
        if (const auto& given = inference.shape(1);
            given && (*cache)[at].known() && (*given)[at].value() > (*cache)[at].value())
            return wrong_shape("TensorScatter writes {} into {}", text(inference.input(1)),
                               text(inference.input(0)));
    }
    return keep_type(inference);
}

constexpr auto scatter_rows = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(prepare(call));
    const auto& cache = *call.input(0);
    const auto& update = *call.input(1);
    const auto* starts = call.input(2);
    call.outputs[0] = cache;
    VIRIDIAN_TRY(const std::int64_t axis, normalize_axis(call.node.integer("axis", -2), cache.rank()));
    const bool circular = call.node.get("mode", std::string("linear")) == "circular";
    const AroundAxis to(cache.dims, axis);
    const AroundAxis from(update.dims, axis);
    const std::int64_t per_batch = cache.dims[0] > 0 ? to.outer / cache.dims[0] : 1;
    const auto write = [&](const auto& rows, auto& out) -> Result<void> {
        for (std::int64_t o = 0; o < from.outer; ++o) {
            const std::int64_t start =
                starts == nullptr ? 0 : starts->integer[static_cast<std::size_t>(o / per_batch)];
            for (std::int64_t i = 0; i < from.size; ++i) {
                if (start < 0 || (!circular && start + i >= to.size))
                    return wrong_shape("TensorScatter `{}` writes at {} of {}", call.node.name, start + i,
                                       to.size);
                for (std::int64_t j = 0; j < from.inner; ++j)
                    out[to.at(o, (start + i) % to.size, j)] = rows[from.at(o, i, j)];
            }
        }
        return {};
    };
    return cache.floating() ? write(update.real, call.outputs[0].real)
                            : write(update.integer, call.outputs[0].integer);
};

Result<void> infer_bit_cast(Inference& inference) {
    const auto type = element_type_of_onnx(inference.node().integer("to", 0));
    const ElementType from = inference.element(0);
    if (!type || (from != ElementType::undefined && size_of(from) != size_of(*type)))
        return wrong_attribute("BitCast `{}` reads {} as another size", inference.node().name, name_of(from));
    inference.set(0, *type, inference.shape(0));
    return {};
}

constexpr auto bit_cast = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Tensor from = tensor_of(*call.input(0));
    Tensor to(call.outputs[0].type, call.outputs[0].dims);
    if (from.byte_count() > 0)
        std::memcpy(to.mutable_bytes(), from.bytes(), static_cast<std::size_t>(from.byte_count()));
    call.outputs[0] = array_of<Scalar>(to);
    return {};
};

}  // namespace

std::span<const OperatorRow> cache_operators() {
    static constexpr OperatorRow rows[] = {
        movement_row("TensorScatter", {2, 3}, infer_scatter_cache, polynomial_kernel(scatter_rows),
                     {.elements = Elements::moved, .sets = {.any = 24}}),
        movement_row("BitCast", {1, 1}, infer_bit_cast, real_kernel(bit_cast), {.sets = {.any = 26}}),
    };
    return rows;
}

}  // namespace viridian::graph
