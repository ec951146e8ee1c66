#pragma once
#include <memory>
#include <string>

#include "viridian/trace/bytes.hpp"
#include "viridian/trace/formats.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::trace {

// Reads `bytes` as `format`.
[[nodiscard]] std::unique_ptr<Source> json_source(std::unique_ptr<Bytes> bytes, const Format& format,
                                                  std::string name, const ReadOptions& options);

}  // namespace viridian::trace
