// BERT: Devlin et al., NAACL 2019. ALBERT: Lan et al., ICLR 2020 (one layer's weights, used in every layer;
// narrow embeddings; GELU by tanh; version 2, which was
// trained without dropout). Encoders with their pooled first token, as Hugging Face exports them.
#include <limits>

#include "viridian/zoo/networks.hpp"
#include "viridian/zoo/transformer.hpp"

namespace viridian::zoo {
namespace {

using graph::Dims;
using graph::ValueId;

// Names of one encoder layer's parts; they differ between the two published models.
struct LayerNames {
    std::string attention, output, output_norm, up, down, norm;
    std::string attention_dropout, output_dropout, dropout;
};

struct Encoder {
    Transformer net;
    ValueId mask = ValueId::none;  // 0 where attended, the lowest float elsewhere; [batch, 1, 1, sequence]

    void make_mask(ValueId attention_mask) {
        graph::Graph& g = net.graph();
        const ValueId one =
            g.add(graph::op::Unsqueeze, {attention_mask, net.integers("axis1", {1})}, {}, "mask.Unsqueeze");
        const ValueId two =
            g.add(graph::op::Unsqueeze, {one, net.integers("axis2", {2})}, {}, "mask.Unsqueeze_1");
        const ValueId cast = g.add(graph::op::Cast, {two}, {{"to", std::int64_t{1}}}, "mask.Cast");
        const ValueId hidden = g.add(graph::op::Sub, {net.scalar("one", 1), cast}, {}, "mask.Sub");
        mask = g.add(graph::op::Mul, {hidden, net.scalar("lowest", std::numeric_limits<float>::lowest())}, {},
                     "mask.Mul");
    }

    // Embeddings of words, token types and positions, normalised. `width` may be narrower than the layers.
    ValueId embed(std::int64_t width, ValueId ids, ValueId types) {
        graph::Graph& g = net.graph();
        const TransformerShape& shape = net.shape();
        const std::string e = "embeddings.";
        const ValueId words = net.weight(e + "word_embeddings.weight", {shape.vocabulary, width}, 0.5);
        const ValueId kinds = net.weight(e + "token_type_embeddings.weight", {2, width}, 0.2);
        const ValueId places = net.weight(e + "position_embeddings.weight", {shape.positions, width}, 0.2);
        const ValueId word = net.embedding(e + "word_embeddings", words, ids);
        const ValueId kind = net.embedding(e + "token_type_embeddings", kinds, types);
        const ValueId place =
            net.embedding(e + "position_embeddings", places, net.position_ids(e + "position_ids"));
        const ValueId sum = g.add(graph::op::Add, {word, kind}, {}, e + "Add");
        const ValueId norm =
            net.layer_norm(e + "LayerNorm", g.add(graph::op::Add, {sum, place}, {}, e + "Add_1"), width);
        return net.dropout(e + "dropout", norm);
    }

    ValueId attend(const LayerNames& names, ValueId x) {
        graph::Graph& g = net.graph();
        const std::int64_t hidden = net.shape().hidden;
        const std::string a = names.attention;
        const ValueId q =
            net.split_heads(a + ".query", net.linear(a + ".query", x, hidden, hidden), {0, 2, 1, 3});
        const ValueId k =
            net.split_heads(a + ".key", net.linear(a + ".key", x, hidden, hidden), {0, 2, 3, 1});
        const ValueId v =
            net.split_heads(a + ".value", net.linear(a + ".value", x, hidden, hidden), {0, 2, 1, 3});
        const ValueId scores = g.add(graph::op::MatMul, {q, k}, {}, a + ".scores");
        const ValueId scaled =
            g.add(graph::op::Div, {scores, net.scalar("sqrt_head", net.root_of_head())}, {}, a + ".scale");
        const ValueId masked = g.add(graph::op::Add, {scaled, mask}, {}, a + ".mask");
        const ValueId softmax =
            g.add(graph::op::Softmax, {masked}, {{"axis", std::int64_t{-1}}}, a + ".softmax");
        const ValueId weights = net.dropout(names.attention_dropout, softmax);
        const ValueId context = g.add(graph::op::MatMul, {weights, v}, {}, a + ".context");
        const ValueId merged = net.merge_heads(a, context);
        const ValueId projected =
            net.dropout(names.output_dropout, net.linear(names.output, merged, hidden, hidden));
        return net.layer_norm(names.output_norm,
                              g.add(graph::op::Add, {projected, x}, {}, names.output + ".residual"), hidden);
    }

    ValueId layer(const LayerNames& names, ValueId x, bool tanh) {
        const std::int64_t hidden = net.shape().hidden;
        const ValueId attended = attend(names, x);
        const ValueId up = net.linear(names.up, attended, hidden, 4 * hidden);
        const ValueId active =
            tanh ? net.tanh_gelu(names.up + ".gelu", up) : net.gelu(names.up + ".gelu", up);
        const ValueId down = net.dropout(names.dropout, net.linear(names.down, active, 4 * hidden, hidden));
        return net.layer_norm(names.norm,
                              net.graph().add(graph::op::Add, {down, attended}, {}, names.down + ".residual"),
                              hidden);
    }
};

Result<graph::Graph> bert(std::string_view name, const Options& options, const TransformerShape& shape) {
    VIRIDIAN_TRY(Transformer net, Transformer::of(name, shape, options));
    Encoder encoder{std::move(net)};
    const ValueId ids = encoder.net.tokens("input_ids");
    encoder.make_mask(encoder.net.tokens("attention_mask"));
    const ValueId types = encoder.net.tokens("token_type_ids");
    ValueId x = encoder.embed(encoder.net.shape().hidden, ids, types);
    for (std::int64_t i = 0; i < encoder.net.shape().layers; ++i) {
        const std::string l = fmt::format("encoder.layer.{}.", i);
        x = encoder.layer(
            {l + "attention.self", l + "attention.output.dense", l + "attention.output.LayerNorm",
             l + "intermediate.dense", l + "output.dense", l + "output.LayerNorm",
             l + "attention.self.dropout", l + "attention.output.dropout", l + "output.dropout"},
            x, false);
    }
    const ValueId pooled = encoder.net.pool_first("pooler", x);
    return std::move(encoder.net).finish({{x, "last_hidden_state"}, {pooled, "pooler_output"}});
}

}  // namespace

Result<graph::Graph> bert_base(const Options& options) { return bert("bert_base", options, {}); }

Result<graph::Graph> bert_large(const Options& options) {
    return bert("bert_large", options, {.layers = 24, .hidden = 1024});
}

Result<graph::Graph> albert_base(const Options& options) {
    constexpr std::int64_t narrow = 128;
    VIRIDIAN_TRY(Transformer net,
                 Transformer::of("albert_base", {.vocabulary = 30000, .dropout = 0}, options));
    Encoder encoder{std::move(net)};
    const ValueId ids = encoder.net.tokens("input_ids");
    encoder.make_mask(encoder.net.tokens("attention_mask"));
    const ValueId types = encoder.net.tokens("token_type_ids");
    ValueId x = encoder.embed(narrow, ids, types);
    x = encoder.net.linear("encoder.embedding_hidden_mapping_in", x, narrow, encoder.net.shape().hidden);
    const std::string l = "encoder.albert_layer_groups.0.albert_layers.0.";
    for (std::int64_t i = 0; i < encoder.net.shape().layers; ++i)
        x = encoder.layer({l + "attention", l + "attention.dense", l + "attention.LayerNorm", l + "ffn",
                           l + "ffn_output", l + "full_layer_layer_norm", l + "attention.attention_dropout",
                           l + "attention.output_dropout", l + "dropout"},
                          x, true);
    const ValueId pooled = encoder.net.pool_first("pooler", x);
    return std::move(encoder.net).finish({{x, "last_hidden_state"}, {pooled, "pooler_output"}});
}

}  // namespace viridian::zoo
