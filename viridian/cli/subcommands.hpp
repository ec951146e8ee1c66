#pragma once
// A command of several: `account diff`, `pipeline plan`, `trace convert`.
#include "viridian/cli/command.hpp"

namespace viridian::cli {

using Action = std::function<Result<Answer>()>;

struct Subcommand {
    std::string name;
    std::string summary;
    std::string example;  // may be empty
    std::function<Action(CLI::App& app)> define;
};

// Adds them to `app`; returns what runs the one given, or `otherwise` where none is. Without `otherwise` one
// must be.
[[nodiscard]] Action choose(CLI::App& app, const std::vector<Subcommand>& subcommands, Action otherwise = {});

}  // namespace viridian::cli
