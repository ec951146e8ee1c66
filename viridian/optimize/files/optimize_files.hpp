#pragma once
// Writes the files of `optimize`: the model OUT.onnx, beside it its plan, page, certificate and bf16 form,
// and the prices of --record. Names are checked before anything is measured; each file is written whole in a
// folder beside OUT.onnx, and all take their names together at the end.
#include "viridian/base/destination.hpp"
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/optimize/result.hpp"

namespace viridian::optimize {

class OptimizeFiles {
  public:
    // `reads`: what the command reads, and must not replace. Errors: invalid_argument (no .onnx, two files of
    // one name, a file it reads), file_not_writable.
    static Result<OptimizeFiles> make(const std::string& output, const std::string& record, bool bf16,
                                      const std::vector<Path>& reads);

    // The names as the result has them under `files`; those of the bf16 models if the plan uses bf16.
    [[nodiscard]] Json json(const Optimized& result) const;
    // `page` is the HTML text.
    [[nodiscard]] Result<void> write(const Optimized& result, const std::string& page) const;

  private:
    Path model_, plan_, page_, certificate_, bf16_, bf16_weights_, record_;
};

}  // namespace viridian::optimize
