#pragma once
// The layers of transformers, decomposed as PyTorch's export at operator set 17 leaves them: MatMul and Add,
// attention as Reshape, Transpose, MatMul, Softmax; GELU by Erf or Tanh.
#include "viridian/zoo/weights.hpp"
#include "viridian/zoo/zoo.hpp"

namespace viridian::zoo {

struct TransformerShape {
    std::int64_t layers = 12;
    std::int64_t hidden = 768;
    std::int64_t positions = 512;  // longest sequence
    std::int64_t vocabulary = 30522;
    double epsilon = 1e-12;
    static constexpr std::int64_t head = 64;
    [[nodiscard]] std::int64_t heads() const { return hidden / head; }
};

class Transformer {
  public:
    // `published` with the options' layers, hidden and sequence. Errors: invalid_argument.
    static Result<Transformer> of(std::string_view name, const TransformerShape& published,
                                  const Options& options);

    [[nodiscard]] const TransformerShape& shape() const { return shape_; }
    [[nodiscard]] graph::Graph& graph() { return graph_; }

    // An input of token numbers or flags, i64 [batch, sequence].
    graph::ValueId tokens(const std::string& name);
    graph::ValueId weight(const std::string& name, graph::Dims dims, double deviation);
    graph::ValueId scalar(const std::string& name, float value);
    graph::ValueId integers(const std::string& name, const graph::Dims& values);
    // Positions 0 … sequence − 1, [1, sequence].
    graph::ValueId position_ids(const std::string& name);

    graph::ValueId embedding(const std::string& name, graph::ValueId table, graph::ValueId ids);
    // x · W + b over the last axis. `gain` scales the variance that W keeps.
    graph::ValueId linear(const std::string& name, graph::ValueId x, std::int64_t from, std::int64_t to,
                          double gain = 1);
    graph::ValueId layer_norm(const std::string& name, graph::ValueId x, std::int64_t width);
    graph::ValueId gelu(const std::string& name, graph::ValueId x);       // x/2 · (1 + erf(x/√2))
    graph::ValueId tanh_gelu(const std::string& name, graph::ValueId x);  // its approximation by tanh
    // From [batch, sequence, hidden] to [batch, heads, …]: `order` is the transposition after the split.
    graph::ValueId split_heads(const std::string& name, graph::ValueId x, const graph::Dims& order);
    graph::ValueId merge_heads(const std::string& name, graph::ValueId x);
    // Tanh of a linear map of the first token.
    graph::ValueId pool_first(const std::string& name, graph::ValueId x);

    Result<graph::Graph> finish(std::vector<std::pair<graph::ValueId, std::string>> outputs) &&;

    [[nodiscard]] std::int64_t batch() const { return batch_; }
    [[nodiscard]] std::int64_t sequence() const { return sequence_; }

  private:
    Transformer(const TransformerShape& shape, std::uint64_t seed) : shape_(shape), weights_(seed) {}
    // The value made before under this name, or a new one.
    template <class Make>
    graph::ValueId once(const std::string& name, Make make);

    TransformerShape shape_;
    Weights weights_;
    std::int64_t batch_ = 1;
    std::int64_t sequence_ = 128;
    graph::Graph graph_;
    std::map<std::string, graph::ValueId> made_;
};

}  // namespace viridian::zoo
