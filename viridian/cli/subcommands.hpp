#pragma once
// Defines commands that consist of subcommands, as `account diff`, `pipeline plan` and `trace convert` do.
#include "viridian/cli/command.hpp"

namespace viridian::cli {

struct Subcommand {
    std::string name;
    std::string summary;
    std::string example;                    // a whole command line, or empty
    std::function<Action(App app)> define;  // adds the options to `app` and returns the action
};

// Adds `subcommands` to `app` and returns an action, which runs the subcommand that the user names. If the
// user names none, `otherwise` runs; if `otherwise` is empty, naming one is required.
[[nodiscard]] Action choose(App app, const std::vector<Subcommand>& subcommands, Action otherwise = {});

}  // namespace viridian::cli
