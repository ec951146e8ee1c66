#pragma once
// The files that `optimize` writes: the model OUT.onnx, beside it its plan, page, certificate and bf16 form,
// and the prices of --record. Names are checked before anything is measured; each file is written whole in a
// folder beside OUT.onnx, and all take their names together at the end.
#include <optional>

#include "viridian/base/destination.hpp"
#include "viridian/base/json.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::cli {

struct OptimizeContents {
    const graph::Graph& model;
    std::optional<graph::Graph> bf16;  // the model with Casts, where the plan rounds
    std::string plan, page, certificate, record;
    std::optional<graph::Graph> bf16_weights = std::nullopt;  // with its weights alone in bf16
};

class OptimizeFiles {
  public:
    // `reads`: what the command reads, and must not replace. Errors: invalid_argument (no .onnx, two files of
    // one name, a file it reads), file_not_writable.
    static Result<OptimizeFiles> make(const std::string& output, const std::string& record, bool bf16,
                                      const std::vector<Path>& reads);

    [[nodiscard]] Json json(bool with_bf16) const;
    [[nodiscard]] Result<void> write(const OptimizeContents& contents) const;

  private:
    Path model_, plan_, page_, certificate_, bf16_, bf16_weights_, record_;
};

}  // namespace viridian::cli
