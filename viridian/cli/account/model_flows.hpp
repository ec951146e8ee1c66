#pragma once
// Reads the data flow between the nodes of a model, for the diagrams of traces that do not record it.
#include "viridian/account/result.hpp"
#include "viridian/base/file.hpp"

namespace viridian::cli {

// Returns one flow per edge between nodes of the .onnx file `model`, by their names. Errors: those of reading
// the file.
[[nodiscard]] Result<std::vector<account::Flow>> model_flows(const Path& model);

}  // namespace viridian::cli
