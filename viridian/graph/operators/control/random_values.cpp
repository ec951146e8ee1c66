// Random generators. No hidden state: the numbers follow from (seed, counter), which ONNX's attribute `seed`
// or two trailing i64 inputs beyond ONNX's own give; the same pair gives the same numbers everywhere.
#include <algorithm>
#include <bit>
#include <cmath>

#include "viridian/base/hash.hpp"
#include "viridian/base/random.hpp"
#include "viridian/graph/operators/build_row.hpp"
#include "viridian/graph/operators/families.hpp"
#include "viridian/graph/reference/movement.hpp"

namespace viridian::graph {
namespace {

// `own`: inputs the operator has in ONNX; then come seed and counter.
template <class Scalar>
Random generator(const Call<Scalar>& call, std::size_t own) {
    Hash hash;
    hash.add(call.node.get("seed", 0.0));
    for (std::size_t i = own; i < own + 2; ++i)
        if (const Array<Scalar>* x = call.input(i); x != nullptr && !x->integer.empty())
            hash.add(x->integer[0]);
    return Random(hash.value());
}

ElementType stated(const Node& node, ElementType otherwise) {
    return element_type_of_onnx(node.integer("dtype", 0)).value_or(otherwise);
}

Result<void> infer_from_attribute(Inference& inference) {
    const Dims dims = inference.node().get("shape", Dims());
    VIRIDIAN_TRY(element_count(dims));
    inference.set(0, stated(inference.node(), ElementType::f32), shape_of(dims));
    return {};
}

Result<void> infer_like(Inference& inference) {
    inference.set(0, stated(inference.node(), inference.element(0)), inference.shape(0));
    return {};
}

template <class Scalar, class Draw>
Result<void> fill(Call<Scalar>& call, ElementType type, const Dims& dims, Draw draw) {
    VIRIDIAN_TRY(Array<Scalar> y, call.make(type, dims));
    for (Scalar& value : y.real) value = static_cast<Scalar>(draw());
    for (std::int64_t& value : y.integer) value = static_cast<std::int64_t>(draw());
    call.outputs[0] = std::move(y);
    return {};
}

template <bool like, bool normal>
constexpr auto distribution = [](auto& call) -> Result<void> {
    Random random = generator(call, like ? 1 : 0);
    const Node& node = call.node;
    const double a = normal ? node.get("mean", 0.0) : node.get("low", 0.0);
    const double b = normal ? node.get("scale", 1.0) : node.get("high", 1.0);
    ElementType type = stated(node, ElementType::f32);
    Dims dims = node.get("shape", Dims());
    if constexpr (like) {
        type = stated(node, call.input(0)->type);
        dims = call.input(0)->dims;
    }
    return fill(call, type, dims, [&] { return normal ? a + b * random.normal() : random.uniform(a, b); });
};

constexpr auto bernoulli = [](auto& call) -> Result<void> {
    const auto& p = *call.input(0);
    Random random = generator(call, 1);
    std::size_t i = 0;
    return fill(call, stated(call.node, p.type), p.dims, [&] {
        const double chance =
            p.floating() ? static_cast<double>(p.real[i]) : static_cast<double>(p.integer[i]);
        ++i;
        return random.chance(chance) ? 1.0 : 0.0;
    });
};

Result<void> infer_multinomial(Inference& inference) {
    const auto& shape = inference.shape(0);
    if (shape && shape->size() != 2)
        return fail(ErrorCode::mismatch, "check the model's shapes", "Multinomial of rank {}", shape->size());
    inference.set(
        0, stated(inference.node(), ElementType::i32),
        Shape{shape ? (*shape)[0] : Dimension(), Dimension(inference.node().integer("sample_size", 1))});
    return {};
}

// Each row holds logarithms of unnormalised probabilities.
constexpr auto multinomial = [](auto& call) -> Result<void> {
    const auto& x = *call.input(0);
    const std::int64_t samples = call.node.integer("sample_size", 1);
    if (x.rank() != 2 || x.dims[1] < 1 || samples < 0 || !x.floating())
        return fail(ErrorCode::mismatch, "check the model's shapes", "Multinomial over [{}]",
                    fmt::join(x.dims, ","));
    Random random = generator(call, 1);
    const std::int64_t classes = x.dims[1];
    std::int64_t drawn = 0;
    return fill(call, stated(call.node, ElementType::i32), {x.dims[0], samples}, [&] {
        const auto* row = x.real.data() + drawn++ / samples * classes;
        double top = static_cast<double>(row[0]), sum = 0;
        for (std::int64_t c = 1; c < classes; ++c) top = std::max(top, static_cast<double>(row[c]));
        for (std::int64_t c = 0; c < classes; ++c) sum += std::exp(static_cast<double>(row[c]) - top);
        double left = random.uniform() * sum;
        std::int64_t c = 0;
        while (c + 1 < classes && (left -= std::exp(static_cast<double>(row[c]) - top)) >= 0) ++c;
        return static_cast<double>(c);
    });
};

constexpr OperatorRow random_row(std::string_view name, int own, ShapeRule infer, Reference reference) {
    return elementwise_row(name, {own, own + 2}, infer, reference, {.random = true});
}

}  // namespace

std::span<const OperatorRow> random_operators() {
    static constexpr OperatorRow rows[] = {
        random_row("RandomNormal", 0, infer_from_attribute, real_kernel(distribution<false, true>)),
        random_row("RandomUniform", 0, infer_from_attribute, real_kernel(distribution<false, false>)),
        random_row("RandomNormalLike", 1, infer_like, real_kernel(distribution<true, true>)),
        random_row("RandomUniformLike", 1, infer_like, real_kernel(distribution<true, false>)),
        random_row("Bernoulli", 1, infer_like, real_kernel(bernoulli)),
        random_row("Multinomial", 1, infer_multinomial, real_kernel(multinomial)),
    };
    return rows;
}

}  // namespace viridian::graph
