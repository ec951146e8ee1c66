#pragma once
// Opens a trace of any known format, by content: Viridian's own (binary, JSON), PyTorch (Kineto, legacy),
// ONNX Runtime, TensorFlow (timeline, trace.json), Chrome JSON; each plain, gzip or zstd.
#include <memory>

#include "viridian/trace/join/sorter.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::trace {

struct ReadOptions {
    SpillOptions spill;     // memory for sorting and joins, and the folder for data that exceeds it
    Nanoseconds shift = 0;  // added to every time, for traces whose clock has no epoch
};

// Returns a source of the trace in the file `path`. Errors: file_not_found, file_unreadable, malformed (not a
// trace). JSON is read to its end by the first `next`, which may also fail with malformed (no readable
// event), disk_full and file_not_writable (spilling).
[[nodiscard]] Result<std::unique_ptr<Source>> open(const Path& path, const ReadOptions& options = {});
// Returns a source of the trace in `text`, which must outlive the source. `name` is the name of the trace.
[[nodiscard]] Result<std::unique_ptr<Source>> open_text(std::string_view text, std::string_view name,
                                                        const ReadOptions& options = {});

}  // namespace viridian::trace
