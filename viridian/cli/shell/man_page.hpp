#pragma once
// Writes manual pages of the commands, as man(7) reads them.
#include <string>
#include <vector>

#include "viridian/cli/shell/command_tree.hpp"

namespace viridian::cli {

// Returns the page of the command that `path` leads to: {} is the program, {"account", "diff"} a subcommand.
// The path must exist. `version` stands in its footer.
[[nodiscard]] std::string man_page(const CommandTree& root, const std::vector<std::string>& path,
                                   const std::string& version);

// Returns the name of the page: "viridian-account-diff".
[[nodiscard]] std::string man_name(const std::vector<std::string>& path);

// Returns the paths of all commands, the program's first.
[[nodiscard]] std::vector<std::vector<std::string>> command_paths(const CommandTree& root);

}  // namespace viridian::cli
