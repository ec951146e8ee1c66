#pragma once
// Bounds the memory that parsing a hostile model file could take.
#include "viridian/base/result.hpp"

namespace viridian::onnx {

// Walks a serialised ModelProto without building it and adds up the memory that its messages and strings
// would occupy, because the two bytes of an empty message become hundreds. `name` stands for the model in
// errors. Errors: limit_exceeded above `most_bytes`, malformed if the wire format is broken or nests deeper
// than 100.
[[nodiscard]] Result<void> check_wire_budget(std::string_view bytes, std::string_view name,
                                             std::int64_t most_bytes = std::int64_t{1} << 30);

}  // namespace viridian::onnx
