#pragma once
// Reads from a model which node feeds which, for the diagrams of traces that do not record it.
#include "viridian/account/result.hpp"
#include "viridian/base/file.hpp"

namespace viridian::cli {

// One flow per edge between nodes of an .onnx file, by their names. Errors: those of reading the file.
[[nodiscard]] Result<std::vector<account::Flow>> model_flows(const Path& model);

}  // namespace viridian::cli
