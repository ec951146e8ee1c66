#pragma once
// Builds transformers layer by layer, decomposed as PyTorch exports them at operator set 17: linear maps are
// MatMul and Add, attention is Reshape, Transpose, MatMul and Softmax, and GELU is written with Erf or Tanh.
#include "viridian/zoo/weights.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::zoo {

// TransformerShape holds the published sizes of a network.
struct TransformerShape {
    std::int64_t layers = 12;
    std::int64_t hidden = 768;     // width of a token
    std::int64_t positions = 512;  // longest sequence
    std::int64_t vocabulary = 30522;
    double epsilon = 1e-12;  // of layer normalisation
    std::int64_t head = 64;  // width of a head
    double dropout = 0.1;    // rate of every dropout of the training form
    [[nodiscard]] std::int64_t heads() const { return hidden / head; }
};

// Transformer is the network under construction. In all functions `name` is the name of the new node or
// weight. A weight or constant that was made before under the same name is used again.
class Transformer {
  public:
    // Begins a network of the shape `published`, changed by the layers, width, heads and sequence of the
    // options.
    // Errors: invalid_argument.
    static Result<Transformer> of(std::string_view name, const TransformerShape& published,
                                  const Options& options);

    [[nodiscard]] const TransformerShape& shape() const { return shape_; }
    [[nodiscard]] graph::Graph& graph() { return graph_; }

    // Adds an input of token numbers or flags, i64 [batch, sequence].
    graph::ValueId tokens(const std::string& name);
    // Adds an input of `count` tokens, f32 [batch, count, hidden].
    graph::ValueId features(const std::string& name, std::int64_t count);
    // Add a weight with mean 0 and the standard deviation `deviation`, a scalar constant, and a vector of
    // integers.
    graph::ValueId weight(const std::string& name, graph::Dims dims, double deviation);
    graph::ValueId scalar(const std::string& name, float value);
    graph::ValueId integers(const std::string& name, const graph::Dims& values);
    // Adds the constant positions 0 … sequence − 1, i64 [1, sequence].
    graph::ValueId position_ids(const std::string& name);

    // Adds the lookup of `ids` in `table`.
    graph::ValueId embedding(const std::string& name, graph::ValueId table, graph::ValueId ids);
    // Adds x · W + b over the last axis, which has `from` entries before and `to` after. W has the standard
    // deviation gain / √from.
    graph::ValueId linear(const std::string& name, graph::ValueId x, std::int64_t from, std::int64_t to,
                          double gain = 1);
    graph::ValueId layer_norm(const std::string& name, graph::ValueId x, std::int64_t width);
    graph::ValueId gelu(const std::string& name, graph::ValueId x);       // x/2 · (1 + erf(x/√2))
    graph::ValueId tanh_gelu(const std::string& name, graph::ValueId x);  // its approximation by tanh
    // Adds a dropout of the published rate in the training form, and nothing otherwise.
    graph::ValueId dropout(const std::string& name, graph::ValueId x);
    // Splits `x`, [batch, count, hidden], into [batch, count, heads, head] and transposes it by `order`.
    // `count` is the sequence unless it is given.
    graph::ValueId split_heads(const std::string& name, graph::ValueId x, const graph::Dims& order,
                               std::int64_t count = 0);
    // Returns the square root of the width of a head, by which scores are divided.
    [[nodiscard]] float root_of_head() const;
    // Replaces scores, [batch, heads, sequence, sequence], of later keys by the lowest float.
    graph::ValueId hide_later(const std::string& name, graph::ValueId scores);
    // Turns `x`, [batch, heads, sequence, head], into [batch, sequence, hidden].
    graph::ValueId merge_heads(const std::string& name, graph::ValueId x);
    // Adds the tanh of a linear map of the first token of `x` (BERT's pooler).
    graph::ValueId pool_first(const std::string& name, graph::ValueId x);

    // Makes `outputs` the network's outputs under these names, infers every type and returns the graph.
    // Errors: those of infer_types.
    Result<graph::Graph> finish(std::vector<std::pair<graph::ValueId, std::string>> outputs) &&;

    [[nodiscard]] std::int64_t batch() const { return batch_; }
    [[nodiscard]] std::int64_t sequence() const { return sequence_; }
    [[nodiscard]] bool training() const { return options_.training; }

  private:
    Transformer(const TransformerShape& shape, const Options& options)
        : options_(options), shape_(shape), weights_(options.seed) {}
    // Returns the value that was made before under this name, or the new one that `make()` returns.
    template <class Make>
    graph::ValueId once(const std::string& name, Make make);

    Options options_;
    TransformerShape shape_;
    Weights weights_;
    std::int64_t batch_ = 1;
    std::int64_t sequence_ = 128;
    graph::Graph graph_;
    std::map<std::string, graph::ValueId> made_;
};

}  // namespace viridian::zoo
