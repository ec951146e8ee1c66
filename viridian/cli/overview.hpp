#pragma once
// Writes what `viridian` prints without a command: the list of commands, or its version and the processor.
#include <span>
#include <string>

#include "viridian/base/json_fwd.hpp"
#include "viridian/cli/command.hpp"

namespace viridian::cli {

// Every command by group, with its summary, and how to learn more.
[[nodiscard]] std::string overview_text(std::span<const CommandGroup> groups);
// The same as the object of `--json`.
[[nodiscard]] Json overview_json(std::span<const CommandGroup> groups);

// The version on the first line, then the processor and the instruction sets that kernels can use on this
// machine.
[[nodiscard]] std::string version_text();

}  // namespace viridian::cli
