#pragma once
// OptimizeFiles write the files of `optimize`: the model OUT.onnx, beside it its plan, page, certificate
// and bf16 forms, and the prices of --record. make() checks the names before anything is measured. write()
// first writes every file except that of --record whole into a folder beside OUT.onnx; at the end they all
// take their names together.
#include "viridian/base/destination.hpp"
#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/optimize/result.hpp"

namespace viridian::optimize {

class OptimizeFiles {
  public:
    // Derives the names from `output`, which ends in .onnx, and checks them. `record` is the file of
    // --record, or "". With `bf16` the names of the bf16 forms are checked too. `reads` are the files that
    // the command reads and must not replace. Errors: invalid_argument (no .onnx, two files of one name, a
    // file that the command reads), file_not_writable.
    static Result<OptimizeFiles> make(const std::string& output, const std::string& record, bool bf16,
                                      const std::vector<Path>& reads);

    // Returns the names for the member `files` of the result, with those of the bf16 models if the plan
    // uses bf16.
    [[nodiscard]] Json json(const Optimized& result) const;
    // Writes all files. If the result keeps the original, OUT.onnx is the model as it was given, and a plan
    // or certificate of that name is removed. `page` is the HTML text of the page. Errors: broken_invariant
    // (the written model does not fit its plan), file_not_writable, disk_full, and those of onnx::save.
    [[nodiscard]] Result<void> write(const Optimized& result, const std::string& page) const;

  private:
    // Writes the optimised model, its plan, its certificate and its bf16 forms into `folder`.
    Result<void> stage_plan(const Optimized& result, const Path& folder) const;

    Path model_, plan_, page_, certificate_, bf16_, bf16_weights_, record_;
};

}  // namespace viridian::optimize
