#pragma once
// Values of constant expressions that were met before, by operator, attributes and content: a search that
// meets the same weights in hundreds of graphs computes each expression once. Or not at all: a stand-in is a
// tensor of the right type whose bytes name the expression and are zero otherwise. It takes a page of memory
// and tells itself from every other; its numbers mean nothing. Whoever keeps a graph made with stand-ins
// follows its certificate once more without them (rewrite/retrace.hpp).
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "viridian/graph/graph.hpp"

namespace viridian::rewrite {

enum class Large { computed, stand_in };

class FoldCache {
  public:
    explicit FoldCache(Large large = Large::computed) : large_(large) {}

    // Results of `node` on the constants that it reads; of more than 65,536 elements, stand-ins where asked
    // for. Its errors are those of evaluation.
    [[nodiscard]] Result<std::vector<graph::Tensor>> evaluate(const graph::Graph& graph,
                                                              const graph::Node& node);

  private:
    struct Recipe {
        std::shared_ptr<const graph::Graph> alone;
        std::size_t output = 0;
    };
    // What stand-ins stand for, by their bytes: expressions share parts, and each is computed once.
    using Computed = std::unordered_map<const std::byte*, graph::Tensor>;
    // What a stand-in stands for; any other tensor itself.
    [[nodiscard]] Result<graph::Tensor> real(const graph::Tensor& tensor, Computed& met) const;
    [[nodiscard]] Result<std::vector<graph::Tensor>> computed(graph::Graph alone, Computed& met) const;
    // Of a stand-in, in the shape that it was made in, where it is a result of this operator; else null.
    [[nodiscard]] const Recipe* recipe(const graph::Tensor& tensor, std::string_view op) const;
    // The parts, of a split of their concatenation; the whole, of a concatenation of all its parts.
    [[nodiscard]] std::optional<std::vector<graph::Tensor>> undone(const graph::Graph& alone) const;
    [[nodiscard]] std::vector<graph::Tensor> stand_ins(const graph::Graph& alone, std::uint64_t key);

    static constexpr std::int64_t most_bytes = std::int64_t{512} << 20;  // what is new after that is not kept
    Large large_;
    std::unordered_map<std::uint64_t, std::vector<graph::Tensor>> known_;
    std::unordered_map<const std::byte*, Recipe> recipes_;  // of stand-ins, by their bytes
    std::int64_t bytes_ = 0;
};

// The same without keeping anything.
[[nodiscard]] Result<std::vector<graph::Tensor>> evaluate_constants(const graph::Graph& graph,
                                                                    const graph::Node& node);

}  // namespace viridian::rewrite
