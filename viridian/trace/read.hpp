#pragma once
// Opens a trace of any known format, by content: Viridian's own (binary, JSON), PyTorch (Kineto, legacy),
// ONNX Runtime, TensorFlow (timeline, trace.json), Chrome JSON; each plain, gzip or zstd.
#include <memory>

#include "viridian/trace/join/sorter.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::trace {

struct ReadOptions {
    SpillOptions spill;     // where sorting and joins go when they do not fit in memory
    Nanoseconds shift = 0;  // added to every time: for traces whose clock has no epoch
};

// Errors: file_not_found, file_unreadable, malformed (no event in it), and when spilling disk_full,
// file_not_writable. JSON is read to its end by the first `next`.
[[nodiscard]] Result<std::unique_ptr<Source>> open(const Path& path, const ReadOptions& options = {});
// Reads a trace from memory; `text` must outlive the source.
[[nodiscard]] Result<std::unique_ptr<Source>> open_text(std::string_view text, std::string_view name,
                                                        const ReadOptions& options = {});

}  // namespace viridian::trace
