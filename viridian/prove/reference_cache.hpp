#pragma once
// A ReferenceCache keeps the outputs of models on given inputs, as the reference kernels compute them, in
// files beside the cost database, so that a later proof need not compute them again. An entry is found by
// the graph's structural hash (weights by content), the content of the inputs and the build of this
// program, so another build's kernels never answer for these. A damaged entry is computed anew.
#include <optional>

#include "viridian/base/file.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::prove {

// TensorSets hold one list of tensors for each set of inputs.
using TensorSets = std::vector<std::vector<graph::Tensor>>;

// ReferenceOutputs are the outputs of a model, with how many sets were not computed now.
struct ReferenceOutputs {
    TensorSets outputs;  // one list per set of inputs
    int reused = 0;      // sets that were found
};

class ReferenceCache {
  public:
    // Keeps entries in `folder`, for the program `build`. With an empty `build` nothing is kept. Beyond
    // `most` bytes the entries that were unused longest are removed.
    ReferenceCache(Path folder, std::string build, std::uint64_t most = std::uint64_t{256} << 20)
        : folder_(std::move(folder)), build_(std::move(build)), most_(most) {}

    // Returns the outputs for every set in `inputs`: found, or computed on up to `threads` threads and kept.
    // Errors: those of graph::evaluate; that an entry cannot be kept is no error.
    [[nodiscard]] Result<ReferenceOutputs> outputs(const graph::Graph& graph, const TensorSets& inputs,
                                                   int threads) const;

  private:
    // Reads an entry. Returns nothing if there is none or it is damaged.
    [[nodiscard]] std::optional<std::vector<graph::Tensor>> find(const Path& file) const;
    // Writes an entry, unless it takes more than a quarter of the limit or cannot be written.
    void keep(const Path& file, const std::vector<graph::Tensor>& outputs) const;
    // Removes the entries that were unused longest while all together take more than the limit.
    void drop_oldest() const;

    Path folder_;
    std::string build_;
    std::uint64_t most_;
};

}  // namespace viridian::prove
