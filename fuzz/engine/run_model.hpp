#pragma once
// Takes the bytes of a model the way that `viridian run` and `viridian optimize` take a file.
#include <string_view>

#include "fuzz/engine/counts.hpp"

namespace viridian::fuzz {

// Reads, types, simplifies, plans and runs a model, and writes to `reached` how far it came before it was
// refused. Symbols of its inputs are bound to small numbers; prices, inputs and kernels follow from the
// bytes, so that equal bytes do the same. It runs as users run it, on usual and on hostile inputs, and then
// with every tensor beside a guard page. Models that would need more than 64 MiB or many operations are not
// run. An error of kind `bug` ends the process.
void run_model(std::string_view bytes, Stage& reached);

}  // namespace viridian::fuzz
