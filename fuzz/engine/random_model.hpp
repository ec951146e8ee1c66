#pragma once
// Builds models that nobody exported: graphs out of all operators that Viridian knows.
#include <string>

#include "viridian/base/random.hpp"

namespace viridian::fuzz {

// Returns the bytes of a model of one to eight nodes. Most nodes pass type inference; some have hostile
// attributes and need not. The result is empty if ONNX cannot express the graph.
[[nodiscard]] std::string random_model(Random& random);

}  // namespace viridian::fuzz
