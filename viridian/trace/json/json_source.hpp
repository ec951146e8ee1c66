#pragma once
// Makes a Source (source.hpp) of a JSON trace, whatever its format.
#include <memory>
#include <string>

#include "viridian/trace/bytes.hpp"
#include "viridian/trace/formats/formats.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::trace {

// Returns a source that reads `bytes` as `format`. `name` is the name of the trace (`Trace::source`). The
// first `next` reads the text to its end.
[[nodiscard]] std::unique_ptr<Source> json_source(std::unique_ptr<Bytes> bytes, const Format& format,
                                                  std::string name, const ReadOptions& options);

}  // namespace viridian::trace
