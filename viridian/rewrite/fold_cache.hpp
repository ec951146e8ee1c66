#pragma once
// A FoldCache keeps the values of constant expressions, by operator, attributes and content, so that a
// search that meets the same weights in hundreds of graphs computes each expression once. On request it
// does not even compute large results, but returns stand-ins: tensors of the right type whose bytes name
// the expression and are zero otherwise. A stand-in takes one page of memory and differs from every other;
// its numbers mean nothing. Code that keeps a graph made with stand-ins follows its certificate once more
// with the weights (retrace.hpp).
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "viridian/graph/graph.hpp"

namespace viridian::rewrite {

namespace op = graph::op;

// Large says whether large results are computed or stand-ins.
enum class Large { computed, stand_in };

class FoldCache {
  public:
    explicit FoldCache(Large large = Large::computed) : large_(large) {}

    // Returns the results of `node`, which reads constants alone. With Large::stand_in, results of more than
    // 65,536 elements are stand-ins. Errors: those of evaluation.
    [[nodiscard]] Result<std::vector<graph::Tensor>> evaluate(const graph::Graph& graph,
                                                              const graph::Node& node);

  private:
    // A Recipe is the graph of constants that computes a stand-in, and which of its outputs that is.
    struct Recipe {
        std::shared_ptr<const graph::Graph> alone;
        std::size_t output = 0;
    };
    // Computed holds the tensors that stand-ins stand for, by the stand-ins' bytes: expressions share
    // parts, and each is computed once.
    using Computed = std::unordered_map<const std::byte*, graph::Tensor>;
    // Returns the tensor that a stand-in stands for, and any other tensor itself.
    [[nodiscard]] Result<graph::Tensor> real(const graph::Tensor& tensor, Computed& met) const;
    // Returns the outputs of `alone`, a graph whose constants may be stand-ins.
    [[nodiscard]] Result<std::vector<graph::Tensor>> computed(graph::Graph alone, Computed& met) const;
    // Returns how a stand-in is computed, if it is a result of `op` in the shape that it was made in; else
    // null.
    [[nodiscard]] const Recipe* recipe(const graph::Tensor& tensor, graph::KnownOperator op) const;
    // Returns the parts if `alone` splits their concatenation, and the whole if it concatenates all its
    // parts.
    [[nodiscard]] std::optional<std::vector<graph::Tensor>> undone(const graph::Graph& alone) const;
    // Returns stand-ins for the outputs of `alone`, whose bytes name the expression by `key`.
    [[nodiscard]] std::vector<graph::Tensor> stand_ins(const graph::Graph& alone, std::uint64_t key);

    // Beyond this size, the cache does not keep new results.
    static constexpr std::int64_t most_bytes = std::int64_t{512} << 20;
    Large large_;
    std::unordered_map<std::uint64_t, std::vector<graph::Tensor>> known_;
    std::unordered_map<const std::byte*, Recipe> recipes_;  // of stand-ins, by their bytes
    std::int64_t bytes_ = 0;
};

// Computes the results of `node`, which reads constants of `graph` alone, without keeping anything.
[[nodiscard]] Result<std::vector<graph::Tensor>> evaluate_constants(const graph::Graph& graph,
                                                                    const graph::Node& node);

}  // namespace viridian::rewrite
