// Products of integers: MatMulInteger, ConvInteger (sums in i32) and QLinearMatMul, QLinearConv (quantized
// results). Each operand is its integers minus a zero point, per tensor, per row or per column.
#include <algorithm>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/multiply.hpp"
#include "viridian/graph/reference/prepare.hpp"
#include "viridian/graph/reference/quantized.hpp"
#include "viridian/graph/reference/windows.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::graph {
namespace {

// The places of an operator's inputs; −1 where it has none.
struct InputIndices {
    std::size_t a, b;
    int a_zero, b_zero, a_scale, b_scale, y_scale, y_zero, bias;
};
constexpr InputIndices plain = {0, 1, 2, 3, -1, -1, -1, -1, -1};
constexpr InputIndices scaled = {0, 3, 2, 5, 1, 4, 6, 7, 8};

// Scales are floating, everything else is integers.
Result<void> check(const Inference& inference, const InputIndices& places) {
    for (std::size_t i = 0; i < inference.input_count(); ++i) {
        const int at = static_cast<int>(i);
        const bool scale = at == places.a_scale || at == places.b_scale || at == places.y_scale;
        VIRIDIAN_TRY(scale ? expect_floating(inference, i, i) : expect_integer(inference, i, i));
    }
    return {};
}

ElementType result_type(const Inference& inference, const InputIndices& places) {
    return places.y_zero < 0 ? ElementType::i32 : inference.element(static_cast<std::size_t>(places.y_zero));
}

template <const InputIndices& places>
Result<void> infer_product(Inference& inference) {
    VIRIDIAN_TRY(check(inference, places));
    VIRIDIAN_TRY(std::optional<Shape> out, matmul_shape(inference, places.a, places.b));
    inference.set(0, result_type(inference, places), std::move(out));
    return {};
}

// A parameter (zero point or scale) for each of `count` rows or columns of one matrix of a batch: a scalar,
// one entry each, or one entry each per matrix.
template <class Scalar, class Number>
Result<std::vector<Number>> per_line(const Array<Scalar>* array, std::int64_t lines, std::int64_t matrices,
                                     Number otherwise) {
    std::vector<Number> all(static_cast<std::size_t>(lines * matrices), otherwise);
    if (array == nullptr) return all;
    const std::int64_t count = array->count();
    if (count != 1 && count != lines && count != lines * matrices)
        return wrong_shape("a scale or zero point has {} entries for {} lines of {} matrices", count, lines,
                           matrices);
    for (std::int64_t i = 0; i < lines * matrices; ++i) {
        const auto from = static_cast<std::size_t>(count == 1 ? 0 : i % count);
        all[static_cast<std::size_t>(i)] = array->floating() ? static_cast<Number>(array->real[from])
                                                             : static_cast<Number>(array->integer[from]);
    }
    return all;
}

template <class CallType>
const auto* place(const CallType& call, int i) {
    return call.input(i < 0 ? 1000 : static_cast<std::size_t>(i));
}

// A scale or a zero point of the whole tensor.
template <class Number, class CallType>
Result<Number> one_number(const CallType& call, int i, Number otherwise) {
    const auto* array = place(call, i);
    if (array == nullptr) return otherwise;
    if (array->count() != 1)
        return wrong_shape("input {} of node `{}` must be one number", i, call.node.name);
    return array->floating() ? static_cast<Number>(array->real[0]) : static_cast<Number>(array->integer[0]);
}

template <const InputIndices& places, class CallType>
Result<void> multiply(CallType& call) {
    VIRIDIAN_TRY(prepare(call));
    const auto& a = *call.input(places.a);
    const auto& b = *call.input(places.b);
    auto& y = call.outputs[0];
    VIRIDIAN_TRY(const Products products, products_of(a.dims, b.dims));
    const auto& [m, n, k, a_dims, b_dims, from_a, from_b] = products;
    const std::int64_t a_count = product(a_dims);
    const std::int64_t b_count = product(b_dims);
    VIRIDIAN_TRY(const auto a_zero, per_line(place(call, places.a_zero), m, a_count, std::int64_t{0}));
    VIRIDIAN_TRY(const auto b_zero, per_line(place(call, places.b_zero), n, b_count, std::int64_t{0}));
    VIRIDIAN_TRY(const auto a_scale, per_line(place(call, places.a_scale), m, a_count, 1.0));
    VIRIDIAN_TRY(const auto b_scale, per_line(place(call, places.b_scale), n, b_count, 1.0));
    VIRIDIAN_TRY(const double y_scale, one_number(call, places.y_scale, 1.0));
    VIRIDIAN_TRY(const std::int64_t y_zero, one_number(call, places.y_zero, std::int64_t{0}));
    std::size_t next = 0;
    for (std::size_t matrix = 0; matrix < from_a.size(); ++matrix)
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
                const auto row = static_cast<std::size_t>(from_a[matrix] * m + i);
                const auto column = static_cast<std::size_t>(from_b[matrix] * n + j);
                std::int64_t sum = 0;
                for (std::int64_t p = 0; p < k; ++p)
                    sum = plus(
                        sum,
                        times(minus(a.integer[static_cast<std::size_t>((from_a[matrix] * m + i) * k + p)],
                                    a_zero[row]),
                              minus(b.integer[static_cast<std::size_t>((from_b[matrix] * k + p) * n + j)],
                                    b_zero[column])));
                const double level = static_cast<double>(sum) * a_scale[row] * b_scale[column] / y_scale;
                y.integer[next++] = places.y_scale < 0 ? sum : saturated(y.type, level, y_zero);
            }
    return {};
}

template <const InputIndices& places>
Result<void> infer_convolution_quantized_products(Inference& inference) {
    VIRIDIAN_TRY(check(inference, places));
    const auto& x = inference.shape(places.a);
    const auto& w = inference.shape(places.b);
    std::optional<Shape> out;
    if (x && w) {
        const std::int64_t group = inference.node().integer("group", 1);
        if (x->size() != w->size() || x->size() < 3 || group < 1 ||
            ((*w)[0].known() && (*w)[0].value() % group != 0) ||
            ((*x)[1].known() && (*w)[1].known() && (*x)[1].value() != capped_product((*w)[1].value(), group)))
            return wrong_shape("{} reads {} with weights {}", inference.node().op,
                               text(inference.input(places.a)), text(inference.input(places.b)));
        VIRIDIAN_TRY(const Windows windows, Windows::of(inference.node(), Shape(w->begin() + 2, w->end())));
        out = Shape{(*x)[0], (*w)[0]};
        for (std::size_t axis = 0; axis + 2 < x->size(); ++axis) {
            VIRIDIAN_TRY(Dimension extent, windows.output(axis, (*x)[axis + 2]));
            out->push_back(std::move(extent));
        }
        if (places.bias >= 0)
            VIRIDIAN_TRY(expect_shape(inference, static_cast<std::size_t>(places.bias), {(*w)[0]}));
    }
    inference.set(0, result_type(inference, places), std::move(out));
    return {};
}

template <const InputIndices& places, class CallType>
Result<void> convolve_integers(CallType& call) {
    VIRIDIAN_TRY(prepare(call));
    const auto& x = *call.input(places.a);
    const auto& w = *call.input(places.b);
    const auto* bias = place(call, places.bias);
    auto& y = call.outputs[0];
    const Grid from(Dims(x.dims.begin() + 2, x.dims.end()));
    const Grid to(Dims(y.dims.begin() + 2, y.dims.end()));
    const Grid kernel(Dims(w.dims.begin() + 2, w.dims.end()));
    VIRIDIAN_TRY(const Windows windows, Windows::of(call.node, shape_of(kernel.extents)));
    VIRIDIAN_TRY(const std::vector<std::int64_t> cells, windows.cells(from, to, kernel));
    const std::int64_t filters = w.dims[0];
    const std::int64_t channels = w.dims[1];
    const std::int64_t per_group = filters / call.node.integer("group", 1);
    VIRIDIAN_TRY(const std::int64_t zero, one_number(call, places.a_zero, std::int64_t{0}));
    VIRIDIAN_TRY(const double x_scale, one_number(call, places.a_scale, 1.0));
    VIRIDIAN_TRY(const auto w_zero, per_line(place(call, places.b_zero), filters, 1, std::int64_t{0}));
    VIRIDIAN_TRY(const auto w_scale, per_line(place(call, places.b_scale), filters, 1, 1.0));
    VIRIDIAN_TRY(const double y_scale, one_number(call, places.y_scale, 1.0));
    VIRIDIAN_TRY(const std::int64_t y_zero, one_number(call, places.y_zero, std::int64_t{0}));
    std::size_t next = 0;
    for (std::int64_t n = 0; n < x.dims[0]; ++n)
        for (std::int64_t m = 0; m < filters; ++m)
            for (std::int64_t o = 0; o < to.count; ++o) {
                const auto filter = static_cast<std::size_t>(m);
                std::int64_t sum = bias == nullptr ? 0 : bias->integer[filter];
                for (std::int64_t c = 0; c < channels; ++c)
                    for (std::int64_t k = 0; k < kernel.count; ++k) {
                        const std::int64_t cell = cells[static_cast<std::size_t>(o * kernel.count + k)];
                        if (cell < 0) continue;  // padded with the zero point
                        const std::int64_t plane = n * x.dims[1] + m / per_group * channels + c;
                        const auto weight = static_cast<std::size_t>((m * channels + c) * kernel.count + k);
                        sum = plus(
                            sum,
                            times(minus(x.integer[static_cast<std::size_t>(plane * from.count + cell)], zero),
                                  minus(w.integer[weight], w_zero[filter])));
                    }
                const double level = static_cast<double>(sum) * x_scale * w_scale[filter] / y_scale;
                y.integer[next++] = places.y_scale < 0 ? sum : saturated(y.type, level, y_zero);
            }
    return {};
}

// As their floating relatives: a multiply and an add per point.
template <const InputIndices& places>
Flop convolution_flop_quantized_products(const Operation& operation) {
    const Dims w = operation.inputs[places.b].dims();
    return Flop(2 * count_of(operation.outputs[0]) * product(std::span(w).subspan(1)));
}
template <const InputIndices& places>
IterationSpace convolution_space_quantized_products(const Operation& operation) {
    const Dims w = operation.inputs[places.b].dims();
    return summed_over(operation, std::span(w).subspan(1));
}
Flop product_flop(const Operation& operation) {
    return Flop(2 * count_of(operation.outputs[0]) * operation.inputs[0].dims().back());
}
IterationSpace product_space(const Operation& operation) {
    return summed_over(operation, operation.inputs[0].dims().back());
}

}  // namespace

std::span<const OperatorRow> quantized_product_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row("MatMulInteger", {2, 4}, infer_product<plain>,
                        real_kernel([](auto& call) { return multiply<plain>(call); }),
                        {.flop = product_flop, .iteration_space = product_space}),
        contraction_row("QLinearMatMul", {8, 8}, infer_product<scaled>,
                        real_kernel([](auto& call) { return multiply<scaled>(call); }),
                        {.flop = product_flop, .iteration_space = product_space}),
        contraction_row("ConvInteger", {2, 4}, infer_convolution_quantized_products<plain>,
                        real_kernel([](auto& call) { return convolve_integers<plain>(call); }),
                        {.flop = convolution_flop_quantized_products<plain>,
                         .iteration_space = convolution_space_quantized_products<plain>}),
        contraction_row("QLinearConv", {8, 9}, infer_convolution_quantized_products<scaled>,
                        real_kernel([](auto& call) { return convolve_integers<scaled>(call); }),
                        {.flop = convolution_flop_quantized_products<scaled>,
                         .iteration_space = convolution_space_quantized_products<scaled>}),
    };
    return rows;
}

}  // namespace viridian::graph
