#include "viridian/zoo/transformer.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "viridian/graph/infer.hpp"
#include "viridian/zoo/dropout.hpp"

namespace viridian::zoo {

using graph::Dims;
using graph::ValueId;

Result<Transformer> Transformer::of(std::string_view name, const TransformerShape& published,
                                    const Options& options) {
    TransformerShape shape = published;
    if (options.layers != 0) shape.layers = options.layers;
    if (options.hidden != 0) shape.hidden = options.hidden;
    const std::int64_t sequence = options.sequence == 0 ? 128 : options.sequence;
    if (shape.layers < 1 || shape.layers > 1000)
        return fail(ErrorCode::invalid_argument, "give 1 to 1000 layers", "{} layers", shape.layers);
    if (options.heads != 0) {
        if (options.heads < 1 || shape.hidden < 1 || shape.hidden > 16384 ||
            shape.hidden % options.heads != 0)
            return fail(ErrorCode::invalid_argument, "give heads that divide a hidden width of up to 16384",
                        "{} heads do not divide a hidden width of {}", options.heads, shape.hidden);
        shape.head = shape.hidden / options.heads;
    }
    if (shape.hidden < shape.head || shape.hidden > 16384 || shape.hidden % shape.head != 0)
        return fail(ErrorCode::invalid_argument, fmt::format("give a multiple of {} up to 16384", shape.head),
                    "a hidden width of {} has no whole number of heads of {}", shape.hidden, shape.head);
    if (sequence < 1 || sequence > shape.positions)
        return fail(ErrorCode::invalid_argument, fmt::format("give a sequence of 1 to {}", shape.positions),
                    "`{}` has no position {}", name, sequence);
    Transformer net(shape, options);
    net.graph_.name = name;
    net.batch_ = options.batch;
    net.sequence_ = sequence;
    return net;
}

template <class Make>
ValueId Transformer::once(const std::string& name, Make make) {
    const auto [entry, fresh] = made_.try_emplace(name, ValueId::none);
    if (fresh) entry->second = make();
    return entry->second;
}

ValueId Transformer::tokens(const std::string& name) {
    return graph_.add_input(name, {graph::ElementType::i64, graph::shape_of({batch_, sequence_})});
}

ValueId Transformer::features(const std::string& name, std::int64_t count) {
    return graph_.add_input(name, {graph::ElementType::f32, graph::shape_of({batch_, count, shape_.hidden})});
}

ValueId Transformer::weight(const std::string& name, Dims dims, double deviation) {
    return once(name, [&] {
        return graph_.add_constant(name, weights_.uniform(name, std::move(dims), 0, deviation));
    });
}

ValueId Transformer::scalar(const std::string& name, float value) {
    return once(name, [&] { return graph_.add_constant(name, graph::Tensor::scalar(value)); });
}

ValueId Transformer::integers(const std::string& name, const Dims& values) {
    return once(name, [&] {
        return graph_.add_constant(name,
                                   graph::Tensor::i64({static_cast<std::int64_t>(values.size())}, values));
    });
}

ValueId Transformer::position_ids(const std::string& name) {
    Dims ids(static_cast<std::size_t>(sequence_));
    std::iota(ids.begin(), ids.end(), 0);
    return graph_.add_constant(name, graph::Tensor::i64({1, sequence_}, ids));
}

ValueId Transformer::embedding(const std::string& name, ValueId table, ValueId ids) {
    return graph_.add(graph::op::Gather, {table, ids}, {}, name);
}

ValueId Transformer::linear(const std::string& name, ValueId x, std::int64_t from, std::int64_t to,
                            double gain) {
    const ValueId matrix = weight(name + ".weight", {from, to}, gain / std::sqrt(static_cast<double>(from)));
    const ValueId bias = weight(name + ".bias", {to}, 0.05);
    return graph_.add(graph::op::Add,
                      {bias, graph_.add(graph::op::MatMul, {x, matrix}, {}, name + ".MatMul")}, {},
                      name + ".Add");
}

ValueId Transformer::layer_norm(const std::string& name, ValueId x, std::int64_t width) {
    const ValueId scale = once(name + ".weight", [&] {
        return graph_.add_constant(name + ".weight", weights_.uniform(name + ".weight", {width}, 1, 0.1));
    });
    const ValueId bias = weight(name + ".bias", {width}, 0.05);
    return graph_.add(graph::op::LayerNormalization, {x, scale, bias},
                      {{"axis", std::int64_t{-1}}, {"epsilon", shape_.epsilon}}, name);
}

ValueId Transformer::gelu(const std::string& name, ValueId x) {
    const ValueId scaled =
        graph_.add(graph::op::Div, {x, scalar("sqrt2", std::sqrt(2.0F))}, {}, name + ".Div");
    const ValueId erf = graph_.add(graph::op::Erf, {scaled}, {}, name + ".Erf");
    const ValueId sum = graph_.add(graph::op::Add, {erf, scalar("one", 1)}, {}, name + ".Add");
    const ValueId product = graph_.add(graph::op::Mul, {x, sum}, {}, name + ".Mul");
    return graph_.add(graph::op::Mul, {product, scalar("half", 0.5F)}, {}, name + ".Mul_1");
}

ValueId Transformer::tanh_gelu(const std::string& name, ValueId x) {
    const ValueId half = graph_.add(graph::op::Mul, {x, scalar("half", 0.5F)}, {}, name + ".Mul");
    const ValueId cube = graph_.add(graph::op::Pow, {x, scalar("three", 3)}, {}, name + ".Pow");
    const ValueId small =
        graph_.add(graph::op::Mul, {cube, scalar("gelu.cubic", 0.044715F)}, {}, name + ".Mul_1");
    const ValueId sum = graph_.add(graph::op::Add, {x, small}, {}, name + ".Add");
    const ValueId inner =
        graph_.add(graph::op::Mul, {sum, scalar("gelu.scale", 0.7978845608028654F)}, {}, name + ".Mul_2");
    const ValueId tanh = graph_.add(graph::op::Tanh, {inner}, {}, name + ".Tanh");
    const ValueId plus = graph_.add(graph::op::Add, {tanh, scalar("one", 1)}, {}, name + ".Add_1");
    return graph_.add(graph::op::Mul, {half, plus}, {}, name + ".Mul_3");
}

ValueId Transformer::dropout(const std::string& name, ValueId x) {
    return add_dropout(graph_, options_, x, name, shape_.dropout);
}

float Transformer::root_of_head() const { return std::sqrt(static_cast<float>(shape_.head)); }

ValueId Transformer::hide_later(const std::string& name, ValueId scores) {
    const ValueId allowed = once("causal_mask", [&] {
        const std::int64_t n = sequence_;
        graph::Tensor mask(graph::ElementType::boolean, {1, 1, n, n});
        auto entries = mask.mutable_values<bool>();
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j <= i; ++j) entries[static_cast<std::size_t>(i * n + j)] = true;
        return graph_.add_constant("causal_mask", std::move(mask));
    });
    const ValueId lowest = scalar("lowest", std::numeric_limits<float>::lowest());
    return graph_.add(graph::op::Where, {allowed, scores, lowest}, {}, name);
}

ValueId Transformer::split_heads(const std::string& name, ValueId x, const Dims& order, std::int64_t count) {
    const bool other = count != 0 && count != sequence_;
    const ValueId split = integers(other ? fmt::format("heads.shape.{}", count) : "heads.shape",
                                   {batch_, other ? count : sequence_, shape_.heads(), shape_.head});
    const ValueId reshaped = graph_.add(graph::op::Reshape, {x, split}, {}, name + ".Reshape");
    return graph_.add(graph::op::Transpose, {reshaped}, {{"perm", order}}, name + ".Transpose");
}

ValueId Transformer::merge_heads(const std::string& name, ValueId x) {
    const ValueId merged = integers("hidden.shape", {batch_, sequence_, shape_.hidden});
    const ValueId transposed =
        graph_.add(graph::op::Transpose, {x}, {{"perm", Dims{0, 2, 1, 3}}}, name + ".Transpose");
    return graph_.add(graph::op::Reshape, {transposed, merged}, {}, name + ".Reshape");
}

ValueId Transformer::pool_first(const std::string& name, ValueId x) {
    const ValueId zero = graph_.add_constant(name + ".index", graph::Tensor::scalar(std::int64_t{0}));
    const ValueId first =
        graph_.add(graph::op::Gather, {x, zero}, {{"axis", std::int64_t{1}}}, name + ".Gather");
    const ValueId matrix = weight(name + ".dense.weight", {shape_.hidden, shape_.hidden},
                                  1 / std::sqrt(static_cast<double>(shape_.hidden)));
    const ValueId bias = weight(name + ".dense.bias", {shape_.hidden}, 0.05);
    const ValueId dense =
        graph_.add(graph::op::Gemm, {first, matrix, bias}, {{"transB", std::int64_t{1}}}, name + ".dense");
    return graph_.add(graph::op::Tanh, {dense}, {}, name + ".activation");
}

Result<graph::Graph> Transformer::finish(std::vector<std::pair<ValueId, std::string>> outputs) && {
    std::vector<ValueId> ids;
    for (auto& [id, name] : outputs) {
        graph_.set_name(id, std::move(name));
        ids.push_back(id);
    }
    graph_.set_outputs(std::move(ids));
    VIRIDIAN_TRY(infer_types(graph_));
    return std::move(graph_);
}

}  // namespace viridian::zoo
