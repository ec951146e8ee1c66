// GPT-2: Radford et al., 2019, as Hugging Face exports it: linear maps are Reshape, Gemm, Reshape; the causal
// mask is a constant; the output matrix is a transposed copy of the word embeddings, in the training form
// their transpose. The small transformer has GPT-2's blocks and reads bytes.
#include <cmath>

#include "viridian/zoo/networks.hpp"
#include "viridian/zoo/transformer.hpp"

namespace viridian::zoo {
namespace {

using graph::Dims;
using graph::ValueId;

constexpr double branch_gain = 0.5;  // of what a residual branch adds

// Hugging Face's Conv1D: a linear map over the last axis.
ValueId project(Transformer& net, const std::string& name, ValueId x, std::int64_t from, std::int64_t to,
                double gain = 1) {
    graph::Graph& g = net.graph();
    const ValueId matrix =
        net.weight(name + ".weight", {from, to}, gain / std::sqrt(static_cast<double>(from)));
    const ValueId bias = net.weight(name + ".bias", {to}, 0.05);
    const ValueId rows = net.integers(fmt::format("rows.{}.shape", from), {-1, from});
    const ValueId back = net.integers(fmt::format("tokens.{}.shape", to), {net.batch(), net.sequence(), to});
    const ValueId flat = g.add(graph::op::Reshape, {x, rows}, {}, name + ".Reshape");
    const ValueId product = g.add(graph::op::Gemm, {flat, matrix, bias}, {}, name + ".Gemm");
    return g.add(graph::op::Reshape, {product, back}, {}, name + ".Reshape_1");
}

ValueId attend(Transformer& net, const std::string& name, ValueId x) {
    graph::Graph& g = net.graph();
    const std::int64_t hidden = net.shape().hidden;
    const ValueId all = project(net, name + ".c_attn", x, hidden, 3 * hidden);
    graph::Node split;
    split.op = graph::op::Split;
    split.name = name + ".Split";
    split.inputs = {all, net.integers("split.sizes", {hidden, hidden, hidden})};
    split.attributes = {{"axis", std::int64_t{2}}};
    const std::vector<ValueId> parts = g.node(g.add_node(std::move(split), 3)).outputs;
    const ValueId q = net.split_heads(name + ".query", parts[0], {0, 2, 1, 3});
    const ValueId k = net.split_heads(name + ".key", parts[1], {0, 2, 3, 1});
    const ValueId v = net.split_heads(name + ".value", parts[2], {0, 2, 1, 3});
    const ValueId scores = g.add(graph::op::MatMul, {q, k}, {}, name + ".scores");
    const ValueId scaled =
        g.add(graph::op::Div, {scores, net.scalar("sqrt_head", net.root_of_head())}, {}, name + ".scale");
    const ValueId masked = net.hide_later(name + ".mask", scaled);
    const ValueId softmax =
        g.add(graph::op::Softmax, {masked}, {{"axis", std::int64_t{-1}}}, name + ".softmax");
    const ValueId weights = net.dropout(name + ".attn_dropout", softmax);
    const ValueId context = g.add(graph::op::MatMul, {weights, v}, {}, name + ".context");
    const ValueId projected =
        project(net, name + ".c_proj", net.merge_heads(name, context), hidden, hidden, branch_gain);
    return net.dropout(name + ".resid_dropout", projected);
}

ValueId block(Transformer& net, const std::string& name, ValueId x) {
    graph::Graph& g = net.graph();
    const std::int64_t hidden = net.shape().hidden;
    const ValueId attended = attend(net, name + ".attn", net.layer_norm(name + ".ln_1", x, hidden));
    const ValueId middle = g.add(graph::op::Add, {attended, x}, {}, name + ".Add");
    const ValueId up =
        project(net, name + ".mlp.c_fc", net.layer_norm(name + ".ln_2", middle, hidden), hidden, 4 * hidden);
    const ValueId active = net.tanh_gelu(name + ".mlp.act", up);
    const ValueId down = net.dropout(
        name + ".mlp.dropout", project(net, name + ".mlp.c_proj", active, 4 * hidden, hidden, branch_gain));
    return g.add(graph::op::Add, {middle, down}, {}, name + ".Add_1");
}

graph::Tensor transposed(const graph::Tensor& matrix) {
    const std::int64_t rows = matrix.dims()[0];
    const std::int64_t columns = matrix.dims()[1];
    graph::Tensor out(graph::ElementType::f32, {columns, rows});
    const auto from = matrix.values<float>();
    auto to = out.mutable_values<float>();
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            to[static_cast<std::size_t>(j * rows + i)] = from[static_cast<std::size_t>(i * columns + j)];
    return out;
}

Result<graph::Graph> gpt(std::string_view name, const Options& options, const TransformerShape& shape) {
    VIRIDIAN_TRY(Transformer net, Transformer::of(name, shape, options));
    graph::Graph& g = net.graph();
    const std::int64_t hidden = net.shape().hidden;
    const ValueId ids = net.tokens("input_ids");
    const ValueId words = net.weight("wte.weight", {shape.vocabulary, hidden}, 0.05);
    const ValueId places = net.weight("wpe.weight", {shape.positions, hidden}, 0.02);
    const ValueId word = net.embedding("wte", words, ids);
    const ValueId place = net.embedding("wpe", places, net.position_ids("position_ids"));
    ValueId x = net.dropout("drop", g.add(graph::op::Add, {word, place}, {}, "embeddings"));
    for (std::int64_t i = 0; i < net.shape().layers; ++i) x = block(net, fmt::format("h.{}", i), x);
    x = net.layer_norm("ln_f", x, hidden);
    const ValueId head =
        net.training()  // training changes the embeddings and the output matrix together
            ? g.add(graph::op::Transpose, {words}, {{"perm", Dims{1, 0}}}, "lm_head.Transpose")
            : g.add_constant("lm_head.weight", transposed(*g.constant(words)));
    const ValueId logits = g.add(graph::op::MatMul, {x, head}, {}, "lm_head");
    return std::move(net).finish({{logits, "logits"}});
}

}  // namespace

Result<graph::Graph> gpt2(const Options& options) {
    return gpt("gpt2", options, {.positions = 1024, .vocabulary = 50257, .epsilon = 1e-5});
}

Result<graph::Graph> gpt2_medium(const Options& options) {
    return gpt("gpt2_medium", options,
               {.layers = 24, .hidden = 1024, .positions = 1024, .vocabulary = 50257, .epsilon = 1e-5});
}

Result<graph::Graph> small_transformer(const Options& options) {
    return gpt(
        "small_transformer", options,
        {.layers = 2, .hidden = 128, .positions = 128, .vocabulary = 256, .epsilon = 1e-5, .head = 32});
}

}  // namespace viridian::zoo
