#pragma once
// Reads the JSON text of a safetensors header into its entries, one event of the JSON parser at a time: no
// document is built, and a name that occurs twice is seen.
#include "viridian/train/checkpoint/safetensors_header.hpp"

namespace viridian::train {

// Reads the entries in the order of the text. Their places are not checked. Errors: malformed,
// limit_exceeded (more than 32 dimensions).
[[nodiscard]] Result<SafetensorsHeader> read_header_entries(std::string_view json, std::string_view file);

}  // namespace viridian::train
