#pragma once
// Reads and writes Viridian's compact binary trace (docs/trace.md, "Binary"). The file is lossless: the eight
// bytes "VIRTRC01", then blocks; each is a kind byte ('E' events by rows, 'C' events by columns, 'F' footer),
// two varints (bytes plain, bytes packed) and one zstd frame with a checksum. A block of events brings the
// names, paths, devices and lanes that are new in it, so that a cut file is readable up to the cut.
#include <memory>
#include <string>
#include <string_view>

#include "viridian/trace/bytes.hpp"
#include "viridian/trace/read.hpp"
#include "viridian/trace/write/out.hpp"

namespace viridian::trace {

inline constexpr std::string_view binary_magic = "VIRTRC01";
// Returns true if a file that begins with the bytes `first` is a binary trace.
[[nodiscard]] inline bool is_binary(std::string_view first) { return first.starts_with(binary_magic); }

// Returns a source that reads `bytes`. `name` is the name of the trace.
[[nodiscard]] std::unique_ptr<Source> binary_source(std::unique_ptr<Bytes> bytes, std::string name,
                                                    const ReadOptions& options);
// Packing says how blocks are packed: `fast` stores rows while a program runs; `small` stores columns at
// zstd's level 19, for files that are kept.
enum class Packing : std::uint8_t { fast, small };

// Returns a sink that writes events into `out`. They must come in order of time. Errors of the sink: those of
// `out`; mismatch if the order is broken.
[[nodiscard]] std::unique_ptr<Sink> binary_sink(std::unique_ptr<Out> out, Packing packing = Packing::fast);

// Reads `source` to its end into the binary file `path`. Errors: those of the source and of writing.
[[nodiscard]] Result<void> write_viridian(Source& source, const Path& path);

// Returns the bytes of one block as they stand in the file. `level` is zstd's.
[[nodiscard]] std::string binary_block(char kind, std::string_view payload, int level = 1);

}  // namespace viridian::trace
