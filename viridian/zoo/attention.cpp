// Multi-head attention and BERT's encoder layer as SUBSTATION measures them (Ivanov et al., MLSys 2021,
// Figures 1 and 2), with the parts and names of torch.nn.MultiheadAttention and
// torch.nn.TransformerEncoderLayer: post-norm, a feed-forward part with ReLU, a bias in every linear map.
// Projections of queries, keys and values are apart, as in the paper; torch.nn stacks them in one matrix.
#include <limits>

#include "viridian/zoo/networks.hpp"
#include "viridian/zoo/transformer.hpp"

namespace viridian::zoo {
namespace {

using graph::Dims;
using graph::ValueId;

// No embeddings, so that the sequence is limited by nothing but the causal mask.
constexpr TransformerShape layer_of_bert_large = {
    .layers = 1, .hidden = 1024, .positions = 16384, .epsilon = 1e-5};

// What a multi-head attention reads.
struct Sources {
    ValueId queries = ValueId::none;                       // [batch, sequence, hidden]
    ValueId keys = ValueId::none, values = ValueId::none;  // [batch, count, hidden]
    std::int64_t count = 0;
    Mask mask = Mask::none;
    ValueId hidden_keys = ValueId::none;  // padding: boolean [batch, count], true for keys to leave out
};

// Adds the input that marks padding, if the mask needs one. Errors: invalid_argument.
Result<void> add_mask(Transformer& net, Sources& sources) {
    if (sources.mask == Mask::causal && sources.count != net.sequence())
        return fail(ErrorCode::invalid_argument, "leave out the causal mask, or the number of keys",
                    "a causal mask has as many keys as queries: {} are not {}", sources.count,
                    net.sequence());
    if (sources.mask == Mask::padding)
        sources.hidden_keys = net.graph().add_input(
            "key_padding_mask", {graph::ElementType::boolean, graph::shape_of({net.batch(), sources.count})});
    return {};
}

ValueId masked(Transformer& net, const std::string& prefix, ValueId scores, const Sources& sources) {
    if (sources.mask == Mask::causal) return net.hide_later(prefix + "mask", scores);
    if (sources.mask == Mask::none) return scores;
    graph::Graph& g = net.graph();
    const ValueId hidden =
        g.add(graph::op::Unsqueeze, {sources.hidden_keys, net.integers("mask.axes", {1, 2})}, {},
              prefix + "mask.Unsqueeze");
    const ValueId lowest = net.scalar("lowest", std::numeric_limits<float>::lowest());
    return g.add(graph::op::Where, {hidden, lowest, scores}, {}, prefix + "mask");
}

// Figure 1 of the paper: beta, alpha, gamma and out are its names.
ValueId multi_head(Transformer& net, const std::string& prefix, const Sources& sources) {
    graph::Graph& g = net.graph();
    const std::int64_t hidden = net.shape().hidden;
    const auto project = [&](const char* part, ValueId x, const Dims& order, std::int64_t count) {
        const std::string name = prefix + part + "_proj";
        return net.split_heads(name, net.linear(name, x, hidden, hidden), order, count);
    };
    const ValueId q = project("q", sources.queries, {0, 2, 1, 3}, net.sequence());
    const ValueId k = project("k", sources.keys, {0, 2, 3, 1}, sources.count);
    const ValueId v = project("v", sources.values, {0, 2, 1, 3}, sources.count);
    const ValueId product = g.add(graph::op::MatMul, {q, k}, {}, prefix + "beta");
    const ValueId beta =
        g.add(graph::op::Mul, {product, net.scalar("scaler", 1 / net.root_of_head())}, {}, prefix + "scale");
    const ValueId softmax = g.add(graph::op::Softmax, {masked(net, prefix, beta, sources)},
                                  {{"axis", std::int64_t{-1}}}, prefix + "softmax");
    const ValueId alpha = net.dropout(prefix + "dropout", softmax);
    const ValueId gamma = g.add(graph::op::MatMul, {alpha, v}, {}, prefix + "gamma");
    return net.linear(prefix + "out_proj", net.merge_heads(prefix + "out_proj", gamma), hidden, hidden);
}

Result<graph::Graph> attention(std::string_view name, const Options& options, Attention kind, Mask mask) {
    VIRIDIAN_TRY(Transformer net, Transformer::of(name, layer_of_bert_large, options));
    Sources sources{.count = options.keys == 0 ? net.sequence() : options.keys, .mask = mask};
    if (kind == Attention::self && options.keys != 0 && options.keys != net.sequence())
        return fail(ErrorCode::invalid_argument, "choose cross or general attention, or leave out the keys",
                    "self attention has as many keys as queries: {} are not {}", options.keys,
                    net.sequence());
    sources.queries = net.features(kind == Attention::self ? "input" : "query", net.sequence());
    sources.keys = sources.queries;
    if (kind == Attention::cross) sources.keys = net.features("memory", sources.count);
    if (kind == Attention::general) sources.keys = net.features("key", sources.count);
    sources.values = kind == Attention::general ? net.features("value", sources.count) : sources.keys;
    VIRIDIAN_TRY(add_mask(net, sources));
    const ValueId out = multi_head(net, "", sources);
    return std::move(net).finish({{out, "output"}});
}

ValueId encoder(Transformer& net, const std::string& prefix, ValueId x, Sources sources) {
    graph::Graph& g = net.graph();
    const std::int64_t hidden = net.shape().hidden;
    sources.queries = sources.keys = sources.values = x;
    const ValueId attended =
        net.dropout(prefix + "dropout1", multi_head(net, prefix + "self_attn.", sources));
    const ValueId middle = net.layer_norm(
        prefix + "norm1", g.add(graph::op::Add, {attended, x}, {}, prefix + "residual1"), hidden);
    const ValueId up = g.add(graph::op::Relu, {net.linear(prefix + "linear1", middle, hidden, 4 * hidden)},
                             {}, prefix + "activation");
    const ValueId down =
        net.dropout(prefix + "dropout2",
                    net.linear(prefix + "linear2", net.dropout(prefix + "dropout", up), 4 * hidden, hidden));
    return net.layer_norm(prefix + "norm2", g.add(graph::op::Add, {down, middle}, {}, prefix + "residual2"),
                          hidden);
}

}  // namespace

Result<graph::Graph> mha(const Options& options) {
    return attention("mha", options, options.attention.value_or(Attention::self),
                     options.mask.value_or(Mask::none));
}

Result<graph::Graph> decoder_attention(const Options& options) {
    return attention("decoder_attention", options, Attention::self, Mask::causal);
}

Result<graph::Graph> encoder_layer(const Options& options) {
    VIRIDIAN_TRY(Transformer net, Transformer::of("encoder_layer", layer_of_bert_large, options));
    Sources sources{.count = net.sequence(), .mask = options.mask.value_or(Mask::none)};
    ValueId x = net.features("input", net.sequence());
    VIRIDIAN_TRY(add_mask(net, sources));
    const std::int64_t layers = net.shape().layers;
    for (std::int64_t i = 0; i < layers; ++i)
        x = encoder(net, layers == 1 ? "" : fmt::format("layers.{}.", i), x, sources);
    return std::move(net).finish({{x, "output"}});
}

}  // namespace viridian::zoo
