#pragma once
// Lists the formats in which a trace can be written, and finds the format that the name of a file asks for.
// Commands that write traces call `format_of_name` before they begin to work, so that an unknown name costs
// no time.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/trace/binary/binary.hpp"

namespace viridian::trace {

enum class OutputFormat : std::uint8_t { binary, json, csv, folded, speedscope, pprof };

// Returns the names of all formats, as a user gives them to `--to`.
[[nodiscard]] std::vector<std::string> output_format_names();

// Returns the format called `name`. Errors: invalid_argument, with the known names.
[[nodiscard]] Result<OutputFormat> format_called(std::string_view name);

// Returns the format that the end of the name of `file` means: .vtrace (binary), .speedscope.json, .json,
// .csv, .folded or .pb (pprof); any of them may be followed by .gz or .zst. Errors: invalid_argument, with
// the known endings.
[[nodiscard]] Result<OutputFormat> format_of_name(const Path& file);

// Reads `source` to its end and writes it to `file`, compressed when the name ends in .gz or .zst. `packing`
// applies to the binary format. Errors: those of the source and of writing.
[[nodiscard]] Result<void> write_as(Source& source, const Path& file, OutputFormat format,
                                    Packing packing = Packing::fast);

}  // namespace viridian::trace
