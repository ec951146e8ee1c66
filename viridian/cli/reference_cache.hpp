#pragma once
// What models mean on given inputs, computed once by the reference kernels and kept beside the cost database:
// a later proof compares with the same numbers without waiting for them. An entry is found by the graph's
// structural hash (weights by content), the content of the inputs and the build of this program, so other
// kernels never answer for these. A damaged entry is computed anew.
#include <optional>

#include "viridian/base/file.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::cli {

using TensorSets = std::vector<std::vector<graph::Tensor>>;

struct ReferenceOutputs {
    TensorSets outputs;  // one list per set of inputs
    int reused = 0;      // sets that were found
};

class ReferenceCache {
  public:
    // `build` "" keeps nothing. Beyond `most` bytes the entries longest unused go.
    ReferenceCache(Path folder, std::string build, std::uint64_t most = std::uint64_t{256} << 20)
        : folder_(std::move(folder)), build_(std::move(build)), most_(most) {}

    // Found, or computed on up to `threads` threads and kept. Errors: those of graph::evaluate; that it
    // cannot be kept is none.
    [[nodiscard]] Result<ReferenceOutputs> outputs(const graph::Graph& graph, const TensorSets& inputs,
                                                   int threads) const;

  private:
    [[nodiscard]] std::optional<std::vector<graph::Tensor>> find(const Path& file) const;
    void keep(const Path& file, const std::vector<graph::Tensor>& outputs) const;
    void drop_oldest() const;

    Path folder_;
    std::string build_;
    std::uint64_t most_;
};

}  // namespace viridian::cli
