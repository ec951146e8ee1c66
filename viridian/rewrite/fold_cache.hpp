#pragma once
// Values of constant expressions that were computed before, by operator, attributes and content. A search
// that meets the same weights in hundreds of graphs computes each expression once.
#include <unordered_map>

#include "viridian/graph/graph.hpp"

namespace viridian::rewrite {

class FoldCache {
  public:
    // Results of `node` on the constants that it reads. Its errors are those of evaluation.
    [[nodiscard]] Result<std::vector<graph::Tensor>> evaluate(const graph::Graph& graph,
                                                              const graph::Node& node);

  private:
    static constexpr std::int64_t most_bytes = std::int64_t{512} << 20;  // what is new after that is not kept
    std::unordered_map<std::uint64_t, std::vector<graph::Tensor>> known_;
    std::int64_t bytes_ = 0;
};

// The same without keeping anything.
[[nodiscard]] Result<std::vector<graph::Tensor>> evaluate_constants(const graph::Graph& graph,
                                                                    const graph::Node& node);

}  // namespace viridian::rewrite
