#pragma once
// Writes the texts that `viridian` prints without a command: the list of commands, and its version.
#include <span>
#include <string>

#include "viridian/base/json_fwd.hpp"
#include "viridian/cli/command.hpp"

namespace viridian::cli {

// Returns the list of every command by group with its summary, and a hint how to learn more.
[[nodiscard]] std::string overview_text(std::span<const CommandGroup> groups);
// Returns the list as the object of `--json`.
[[nodiscard]] Json overview_json(std::span<const CommandGroup> groups);

// Returns the version on the first line, then the processor and those of its instruction sets that Viridian
// knows (base/system/machine.hpp).
[[nodiscard]] std::string version_text();
// Returns the version alone, "0.1.0".
[[nodiscard]] std::string version_number();

}  // namespace viridian::cli
