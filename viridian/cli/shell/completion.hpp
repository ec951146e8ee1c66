#pragma once
// Writes scripts that complete the words of Viridian's command line in a shell.
#include <string>

#include "viridian/cli/shell/command_tree.hpp"

namespace viridian::cli {

// Return the script for a shell; `root` is the whole program. Words that the script does not know are
// completed as files.
[[nodiscard]] std::string bash_completion(const CommandTree& root);
[[nodiscard]] std::string zsh_completion(const CommandTree& root);
[[nodiscard]] std::string fish_completion(const CommandTree& root);

}  // namespace viridian::cli
