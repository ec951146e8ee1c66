// Matrix products: MatMul (numpy's matmul, with its broadcasting) and Gemm, of floating numbers and of
// integers of 32 and 64 bits, whose products and sums wrap.
#include <algorithm>
#include <cmath>

#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/operators/shape_rules.hpp"
#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/multiply.hpp"
#include "viridian/graph/reference/prepare.hpp"

namespace viridian::graph {
namespace {

Result<void> infer_matmul(Inference& inference) {
    VIRIDIAN_TRY(expect_products(inference));
    VIRIDIAN_TRY(const std::optional<Shape> out, matmul_shape(inference, 0, 1));
    inference.set(0, inference.element(0), out);
    return {};
}

template <class Element>
void multiply_all(const Products& products, const std::vector<Element>& a, const std::vector<Element>& b,
                  std::vector<Element>& y) {
    const auto& [m, n, k, a_dims, b_dims, from_a, from_b] = products;
    std::vector<ProductSum<Element>> sums(static_cast<std::size_t>(m * n));
    for (std::size_t i = 0; i < from_a.size(); ++i) {
        std::fill(sums.begin(), sums.end(), ProductSum<Element>(0));
        multiply_add<Element>(m, n, k, {a.data() + from_a[i] * m * k, k, 1},
                              {b.data() + from_b[i] * k * n, n, 1}, sums.data());
        for (std::size_t j = 0; j < sums.size(); ++j) y[i * sums.size() + j] = static_cast<Element>(sums[j]);
    }
}

constexpr auto matmul = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const Array<Scalar>& a = *call.input(0);
    const Array<Scalar>& b = *call.input(1);
    Array<Scalar>& y = call.outputs[0];
    VIRIDIAN_TRY(const Products products, products_of(a.dims, b.dims));
    if (y.floating())
        multiply_all(products, a.real, b.real, y.real);
    else
        multiply_all(products, a.integer, b.integer, y.integer);
    return {};
};

Flop matmul_flop(const Operation& operation) {
    return Flop(2 * count_of(operation.outputs[0]) * operation.inputs[0].dims().back());
}

IterationSpace matmul_space(const Operation& operation) {
    return summed_over(operation, operation.inputs[0].dims().back());
}

// Y = alpha · op(A) · op(B) + beta · C, op transposing where transA, transB say so.
Result<void> infer_gemm(Inference& inference) {
    VIRIDIAN_TRY(expect_products(inference));
    if (const ElementType type = inference.element(0); type != ElementType::undefined && !is_floating(type))
        for (const char* key : {"alpha", "beta"})
            if (const double value = inference.node().get(key, 1.0); value != std::nearbyint(value))
                return wrong_shape("Gemm of {} scales by {} = {}, which is no whole number", name_of(type),
                                   key, value);
    VIRIDIAN_TRY(expect_rank(inference, 0, 2, 2));
    VIRIDIAN_TRY(expect_rank(inference, 1, 2, 2));
    const std::size_t trans_a = inference.node().integer("transA", 0) != 0 ? 1 : 0;
    const std::size_t trans_b = inference.node().integer("transB", 0) != 0 ? 1 : 0;
    const auto& a = inference.shape(0);
    const auto& b = inference.shape(1);
    if (a && b && differ((*a)[1 - trans_a], (*b)[trans_b]))
        return wrong_shape("Gemm multiplies {} by {}", text(inference.input(0)), text(inference.input(1)));
    Shape out = {a ? (*a)[trans_a] : Dimension(), b ? (*b)[1 - trans_b] : Dimension()};
    if (inference.has_input(2)) {
        VIRIDIAN_TRY(expect_rank(inference, 2, 0, 2));
        if (const auto& c = inference.shape(2))
            for (std::size_t i = 0; i < c->size(); ++i) {
                const Dimension& extent = c->end()[-1 - static_cast<std::ptrdiff_t>(i)];
                if (differ(extent, out[1 - i]) && extent.value() != 1)
                    return wrong_shape("Gemm adds {} to {}", text(inference.input(2)),
                                       text({inference.element(0), out}));
            }
    }
    inference.set(0, inference.element(0), std::move(out));
    return {};
}

template <class Scalar>
Scalar factor(const Node& node, const char* key) {
    const double value = node.get(key, 1.0);
    if constexpr (std::is_same_v<Scalar, double>)
        return value;
    else  // whole numbers: a field's, or an integer's
        return Scalar(static_cast<std::int64_t>(value));
}

// Three arrays' elements, in the vectors that hold them; `c` null where left out.
template <class Element, class Scalar>
void gemm_of(const Call<Scalar>& call, const std::vector<Element>& a, const std::vector<Element>& b,
             const std::vector<Element>* c, std::vector<Element>& y, const Dims& y_dims) {
    using Wide = ProductSum<Element>;
    const bool trans_a = call.node.integer("transA", 0) != 0;
    const bool trans_b = call.node.integer("transB", 0) != 0;
    const std::int64_t m = y_dims[0];
    const std::int64_t n = y_dims[1];
    const std::int64_t k = call.input(0)->dims[trans_a ? 0 : 1];
    std::vector<Wide> sums(y.size());
    multiply_add<Element>(m, n, k, {a.data(), trans_a ? 1 : k, trans_a ? m : 1},
                          {b.data(), trans_b ? 1 : n, trans_b ? k : 1}, sums.data());
    const auto alpha = factor<Wide>(call.node, "alpha");
    const auto beta = factor<Wide>(call.node, "beta");
    const std::vector<std::int64_t> from_c =
        c == nullptr ? std::vector<std::int64_t>() : broadcast_index(call.input(2)->dims, y_dims);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        Wide sum = alpha * sums[i];
        if (c != nullptr) sum += beta * Wide((*c)[static_cast<std::size_t>(from_c[i])]);
        y[i] = static_cast<Element>(sum);
    }
}

constexpr auto matrix_gemm = [](auto& call) -> Result<void> {
    VIRIDIAN_TRY(prepare(call));
    const auto& a = *call.input(0);
    const auto& b = *call.input(1);
    const auto* c = call.input(2);
    auto& y = call.outputs[0];
    if (y.floating())
        gemm_of(call, a.real, b.real, c == nullptr ? nullptr : &c->real, y.real, y.dims);
    else
        gemm_of(call, a.integer, b.integer, c == nullptr ? nullptr : &c->integer, y.integer, y.dims);
    return {};
};

Flop gemm_flop(const Operation& operation) {
    const Dims a = operation.inputs[0].dims();
    const std::int64_t k = a[operation.node.integer("transA", 0) != 0 ? 0 : 1];
    const bool adds = operation.inputs.size() > 2 && operation.inputs[2].element != ElementType::undefined;
    return Flop((2 * k + (adds ? 1 : 0)) * count_of(operation.outputs[0]));
}

IterationSpace gemm_space(const Operation& operation) {
    const Dims a = operation.inputs[0].dims();
    const Dims y = operation.outputs[0].dims();
    return {{y[0], false}, {y[1], false}, {a[operation.node.integer("transA", 0) != 0 ? 0 : 1], true}};
}

}  // namespace

std::span<const OperatorRow> matrix_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row(
            "MatMul", {2, 2}, infer_matmul, polynomial_kernel(matmul),
            {.precision = precision::f32_sums, .flop = matmul_flop, .iteration_space = matmul_space}),
        contraction_row("Gemm", {2, 3}, infer_gemm, polynomial_kernel(matrix_gemm),
                        {.precision = precision::f32_sums, .flop = gemm_flop, .iteration_space = gemm_space}),
    };
    return rows;
}

}  // namespace viridian::graph
