#pragma once
// Lists the files that a command on a model reads, so that its outputs do not replace them.
#include "viridian/base/output_paths.hpp"
#include "viridian/session/open.hpp"

namespace viridian::cli {

// Returns the model, the cost database, and the files of `inputs` (as --inputs takes them: NAME=FILE, FILE or
// FOLDER).
[[nodiscard]] std::vector<Path> files_read(const session::ModelOptions& options,
                                           const std::vector<std::string>& inputs);

}  // namespace viridian::cli
