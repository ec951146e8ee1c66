// Attention: Y = softmax(scale · Q·Kᵀ + mask) · V, over heads, with grouped queries, key/value cache, soft
// cap, causal and padding masks (Vaswani et al. 2017; Ainslie et al. 2023). Q, K, V are [batch, heads,
// sequence, size] or [batch, sequence, heads·size].
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

// Dimensions of Q, K or V as [batch, heads, sequence, size].
Result<Shape> by_heads(const Inference& inference, std::size_t i, const char* attribute) {
    const Shape& shape = *inference.shape(i);
    if (shape.size() == 4) return shape;
    const std::int64_t heads = inference.node().integer(attribute, 0);
    if (shape.size() != 3 || heads < 1 || (shape[2].known() && shape[2].value() % heads != 0))
        return wrong_shape("Attention `{}` splits {} into {} heads", inference.node().name,
                           text(inference.input(i)), heads);
    return Shape{shape[0], Dimension(heads), shape[1],
                 shape[2].known() ? Dimension(shape[2].value() / heads) : Dimension()};
}

Dimension sum_of(const Dimension& a, const Dimension& b) {
    return a.known() && b.known() ? Dimension(a.value() + b.value()) : Dimension();
}

Result<void> infer_attention(Inference& inference) {
    VIRIDIAN_TRY(expect_floating(inference, 0, 2));
    VIRIDIAN_TRY(expect_floating(inference, 4, 5));
    VIRIDIAN_TRY(expect_integer(inference, 6, 6));
    const ElementType element = inference.element(0);
    if (!inference.shape(0) || !inference.shape(1) || !inference.shape(2)) {
        inference.set(0, element, std::nullopt);
        for (std::size_t i = 1; i < 4; ++i) inference.set(i, inference.element(0), std::nullopt);
        return {};
    }
    VIRIDIAN_TRY(const Shape q, by_heads(inference, 0, "q_num_heads"));
    VIRIDIAN_TRY(const Shape k, by_heads(inference, 1, "kv_num_heads"));
    VIRIDIAN_TRY(const Shape v, by_heads(inference, 2, "kv_num_heads"));
    if (differ(q[3], k[3]) || differ(k[1], v[1]) || differ(k[2], v[2]) || differ(q[0], k[0]) ||
        differ(q[0], v[0]) ||
        (q[1].known() && k[1].known() && (k[1].value() < 1 || q[1].value() % k[1].value() != 0)))
        return wrong_shape("Attention `{}` reads {}, {} and {}", inference.node().name,
                           text(inference.input(0)), text(inference.input(1)), text(inference.input(2)));
    const bool past = inference.has_input(4);
    if (past != inference.has_input(5))
        return wrong_shape("Attention `{}` has one of past key and past value", inference.node().name);
    Dimension before(0);
    if (past)
        before =
            inference.shape(4) && inference.shape(4)->size() == 4 ? (*inference.shape(4))[2] : Dimension();
    VIRIDIAN_TRY(expect_shape(inference, 4, {k[0], k[1], before, k[3]}));
    VIRIDIAN_TRY(expect_shape(inference, 5, {v[0], v[1], before, v[3]}));
    VIRIDIAN_TRY(expect_shape(inference, 6, {q[0]}));
    const Dimension total = sum_of(before, k[2]);
    if (const auto& mask = inference.shape(3); inference.has_input(3) && mask) {
        const Shape scores = {q[0], q[1], q[2], total};
        VIRIDIAN_TRY(expect_rank(inference, 3, 1, 4));
        for (std::size_t i = 0; i < mask->size(); ++i) {
            const Dimension& extent = mask->end()[-1 - static_cast<std::ptrdiff_t>(i)];
            const Dimension& wanted = scores[3 - i];
            const bool shorter =
                i == 0 && extent.known() && wanted.known() && extent.value() <= wanted.value();
            if (differ(extent, wanted) && extent.value() != 1 && !shorter)
                return wrong_shape("the mask {} of Attention `{}` does not fit its scores",
                                   text(inference.input(3)), inference.node().name);
        }
    }
    const Dimension width =
        q[1].known() && v[3].known() ? Dimension(capped_product(q[1].value(), v[3].value())) : Dimension();
    inference.set(0, element,
                  inference.shape(0)->size() == 4 ? Shape{q[0], q[1], q[2], v[3]} : Shape{q[0], q[2], width});
    inference.set(1, inference.element(1), Shape{k[0], k[1], total, k[3]});
    inference.set(2, inference.element(2), Shape{v[0], v[1], total, v[3]});
    inference.set(3, element, Shape{q[0], q[1], q[2], total});
    return {};
}

// A tensor seen as [batch, heads, sequence, size], whatever its rank.
template <class Scalar>
struct Heads {
    const Scalar* data;
    std::int64_t heads, sequence, size;
    bool packed;  // [batch, sequence, heads·size]

    Heads(const Array<Scalar>& array, std::int64_t head_count)
        : data(array.real.data()),
          heads(array.rank() == 4 ? array.dims[1] : head_count),
          sequence(array.dims[array.rank() == 4 ? 2 : 1]),
          size(array.rank() == 4 ? array.dims[3] : array.dims[2] / heads),
          packed(array.rank() == 3) {}
    // The matrix [sequence, size] of a head.
    [[nodiscard]] Matrix<Scalar> matrix(std::int64_t batch, std::int64_t head) const {
        if (packed) return {data + (batch * sequence * heads + head) * size, heads * size, 1};
        return {data + (batch * heads + head) * sequence * size, size, 1};
    }
};

// Past and new rows of every head, [batch, heads, total, size].
template <class Scalar>
Array<Scalar> joined(const Array<Scalar>* past, const Heads<Scalar>& now, ElementType type,
                     std::int64_t batch) {
    const std::int64_t before = past == nullptr ? 0 : past->dims[2];
    Array<Scalar> all(type, {batch, now.heads, before + now.sequence, now.size});
    auto out = all.real.begin();
    for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t h = 0; h < now.heads; ++h) {
            if (past != nullptr)
                out = std::copy_n(past->real.begin() + (b * now.heads + h) * before * now.size,
                                  before * now.size, out);
            const Matrix<Scalar> rows = now.matrix(b, h);
            for (std::int64_t i = 0; i < now.sequence; ++i)
                out = std::copy_n(rows.data + i * rows.row, now.size, out);
        }
    return all;
}

// What is added to the scores of one head, [queries, total]; −∞ hides.
template <class CallType>
std::vector<double> bias_of(const CallType& call, std::int64_t b, std::int64_t h, std::int64_t queries,
                            std::int64_t total, std::int64_t before, std::int64_t heads) {
    std::vector<double> bias(static_cast<std::size_t>(queries * total), 0);
    const double hidden = -HUGE_VAL;
    if (const auto* mask = call.input(3)) {
        const std::int64_t given = mask->dims.back();
        Dims full = {call.input(0)->dims[0], heads, queries, given == 1 ? total : given};
        const std::vector<std::int64_t> from = broadcast_index(mask->dims, full);
        for (std::int64_t i = 0; i < queries; ++i)
            for (std::int64_t j = 0; j < total; ++j) {
                double& entry = bias[static_cast<std::size_t>(i * total + j)];
                if (j >= full[3]) {
                    entry = hidden;
                    continue;
                }
                const auto at = static_cast<std::size_t>(
                    from[static_cast<std::size_t>(((b * heads + h) * queries + i) * full[3] + j)]);
                entry = mask->floating()         ? static_cast<double>(mask->real[at])
                        : mask->integer[at] != 0 ? 0
                                                 : hidden;
            }
    }
    const auto* lengths = call.input(6);
    const bool causal = call.node.integer("is_causal", 0) != 0;
    for (std::int64_t i = 0; i < queries; ++i)
        for (std::int64_t j = 0; j < total; ++j)
            if ((causal && j > before + i) ||
                (lengths != nullptr && j >= lengths->integer[static_cast<std::size_t>(b)]))
                bias[static_cast<std::size_t>(i * total + j)] = hidden;
    return bias;
}

constexpr auto attention = [](auto& call) -> Result<void> {
    using Scalar = scalar_of<decltype(call)>;
    VIRIDIAN_TRY(prepare(call));
    const std::int64_t batch = call.input(0)->dims[0];
    const Heads<Scalar> q(*call.input(0), call.node.integer("q_num_heads", 1));
    const Heads<Scalar> new_k(*call.input(1), call.node.integer("kv_num_heads", 1));
    const Heads<Scalar> new_v(*call.input(2), call.node.integer("kv_num_heads", 1));
    Array<Scalar> keys = joined(call.input(4), new_k, call.input(1)->type, batch);
    Array<Scalar> values = joined(call.input(5), new_v, call.input(2)->type, batch);
    const Heads<Scalar> k(keys, 0);
    const Heads<Scalar> v(values, 0);
    const std::int64_t before = k.sequence - new_k.sequence;
    const double scale = call.node.get("scale", 1 / std::sqrt(static_cast<double>(q.size)));
    const double cap = call.node.get("softcap", 0.0);
    const std::int64_t mode = call.node.integer("qk_matmul_output_mode", 0);
    std::vector<double> scores(static_cast<std::size_t>(q.sequence * k.sequence));
    std::vector<Scalar> weights(scores.size());
    std::vector<double> out(static_cast<std::size_t>(q.sequence * v.size));
    for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t h = 0; h < q.heads; ++h) {
            const std::int64_t group = h / (q.heads / k.heads);
            const Matrix<Scalar> key = k.matrix(b, group);
            std::fill(scores.begin(), scores.end(), 0);
            multiply_add<Scalar>(q.sequence, k.sequence, q.size, q.matrix(b, h), {key.data, 1, key.row},
                                 scores.data());
            const auto report = [&](std::int64_t when) {
                if (mode != when || call.outputs.size() < 4) return;
                std::transform(scores.begin(), scores.end(),
                               call.outputs[3].real.begin() + (b * q.heads + h) * q.sequence * k.sequence,
                               [](double score) { return static_cast<Scalar>(score); });
            };
            for (double& score : scores) score *= scale;
            report(0);
            if (cap > 0)
                for (double& score : scores) score = cap * std::tanh(score / cap);
            report(1);
            const std::vector<double> bias = bias_of(call, b, h, q.sequence, k.sequence, before, q.heads);
            for (std::size_t i = 0; i < scores.size(); ++i) scores[i] += bias[i];
            report(2);
            for (std::int64_t i = 0; i < q.sequence; ++i) {
                const auto row = std::span(scores).subspan(static_cast<std::size_t>(i * k.sequence),
                                                           static_cast<std::size_t>(k.sequence));
                const double most = row.empty() ? 0 : *std::max_element(row.begin(), row.end());
                double sum = 0;
                for (double& score : row) sum += score = std::exp(score - most);
                for (double& score : row) score /= sum;
            }
            report(3);
            std::transform(scores.begin(), scores.end(), weights.begin(),
                           [](double weight) { return static_cast<Scalar>(weight); });
            std::fill(out.begin(), out.end(), 0);
            multiply_add<Scalar>(q.sequence, v.size, k.sequence, {weights.data(), k.sequence, 1},
                                 v.matrix(b, group), out.data());
            for (std::int64_t i = 0; i < q.sequence; ++i)
                for (std::int64_t j = 0; j < v.size; ++j) {
                    const std::int64_t at = q.packed ? ((b * q.sequence + i) * q.heads + h) * v.size + j
                                                     : ((b * q.heads + h) * q.sequence + i) * v.size + j;
                    call.outputs[0].real[static_cast<std::size_t>(at)] =
                        static_cast<Scalar>(out[static_cast<std::size_t>(i * v.size + j)]);
                }
        }
    if (call.outputs.size() > 1) call.outputs[1] = std::move(keys);
    if (call.outputs.size() > 2) call.outputs[2] = std::move(values);
    return {};
};

struct Sizes {
    std::int64_t batch, heads, queries, keys, key_size, value_size;
};
Sizes sizes_of(const Operation& operation) {
    const Dims q = operation.inputs[0].dims();
    const Dims k = operation.inputs[1].dims();
    const Dims v = operation.inputs[2].dims();
    const bool packed = q.size() == 3;
    const std::int64_t heads = packed ? operation.node.integer("q_num_heads", 1) : q[1];
    const std::int64_t groups = packed ? operation.node.integer("kv_num_heads", 1) : k[1];
    const bool past = operation.inputs.size() > 4 && operation.inputs[4].element != ElementType::undefined;
    return {q[0],
            heads,
            q[packed ? 1 : 2],
            k[packed ? 1 : 2] + (past ? operation.inputs[4].dims()[2] : 0),
            packed ? q[2] / heads : q[3],
            packed ? v[2] / groups : v[3]};
}

// Two products, and the softmax's five with scale and mask.
Flop attention_flop(const Operation& operation) {
    const Sizes s = sizes_of(operation);
    return Flop(s.batch * s.heads * s.queries * s.keys * (2 * s.key_size + 2 * s.value_size + 7));
}

IterationSpace attention_space(const Operation& operation) {
    const Sizes s = sizes_of(operation);
    return {{s.batch, false}, {s.heads, false}, {s.queries, false}, {s.keys, true}, {s.value_size, false}};
}

}  // namespace

std::span<const OperatorRow> attention_operators() {
    static constexpr OperatorRow rows[] = {
        contraction_row("Attention", {3, 7}, infer_attention, real_kernel(attention),
                        {.outputs = {1, 4},
                         .sets = {.any = 23},
                         .flop = attention_flop,
                         .iteration_space = attention_space}),
    };
    return rows;
}

}  // namespace viridian::graph
