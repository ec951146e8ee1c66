#pragma once
// Viridian's compact binary trace (docs/trace.md, "Binary"): the eight bytes "VIRTRC01", then blocks; each is
// a kind byte ('E' events by rows, 'C' events by columns, 'F' footer), two varints (bytes plain, bytes
// packed) and one zstd frame with a checksum. A block of events brings the names, paths, devices and lanes
// that are new in it, so that a cut file is readable up to the cut. Lossless.
#include <memory>
#include <string>
#include <string_view>

#include "viridian/trace/bytes.hpp"
#include "viridian/trace/out.hpp"
#include "viridian/trace/read.hpp"

namespace viridian::trace {

inline constexpr std::string_view binary_magic = "VIRTRC01";
[[nodiscard]] inline bool is_binary(std::string_view first) { return first.starts_with(binary_magic); }

[[nodiscard]] std::unique_ptr<Source> binary_source(std::unique_ptr<Bytes> bytes, std::string name,
                                                    const ReadOptions& options);
// How blocks are packed: `fast` by rows as a program runs, `small` by columns and zstd's level 19 for
// keeping.
enum class Packing : std::uint8_t { fast, small };

// Events must come in time order. Errors: those of `out`; mismatch when the order is broken.
[[nodiscard]] std::unique_ptr<Sink> binary_sink(std::unique_ptr<Out> out, Packing packing = Packing::fast);

// Everything of `source` into a binary file.
[[nodiscard]] Result<void> write_viridian(Source& source, const Path& path);

// One block as it stands in the file.
[[nodiscard]] std::string binary_block(char kind, std::string_view payload, int level = 1);

}  // namespace viridian::trace
