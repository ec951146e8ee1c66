#pragma once
#include "viridian/base/result.hpp"

namespace viridian::onnx {

// Walks a serialised ModelProto without building it and adds up what its messages and strings would occupy:
// two bytes of an empty message become hundreds in memory. Errors: limit_exceeded beyond `most_bytes`,
// malformed where the wire format is broken or nests deeper than 100.
[[nodiscard]] Result<void> check_wire_budget(std::string_view bytes, std::string_view name,
                                             std::int64_t most_bytes = std::int64_t{1} << 30);

}  // namespace viridian::onnx
