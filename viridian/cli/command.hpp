#pragma once
// Defines Command: one command of the program, such as `viridian profile`. Each command has a source file of
// its own, which defines one `Command`; `commands.cpp` declares and lists them all. To add a command, write
// its source, its two lines in `commands.cpp`, and its test.
#include <functional>
#include <string>
#include <vector>

#include "viridian/base/json.hpp"
#include "viridian/cli/options.hpp"

namespace viridian::cli {

// An Answer is the output of a command that worked. A command that fails returns an Error instead.
struct Answer {
    Json json;         // the one object that `--json` prints
    std::string text;  // the text that people get otherwise
    // The program's exit code. It is not 0 if there is an answer and yet a failure, as when the program that
    // `record` runs fails.
    int exit_code = 0;
};

// An Action runs a command after its options are parsed.
using Action = std::function<Result<Answer>()>;

struct Command {
    std::string name;
    std::string summary;  // one line of the overview and of --help
    std::string example;  // a whole command line
    // Adds the command's options to `app` and returns its action.
    std::function<Action(App app)> define;
};

struct CommandGroup {
    std::string title;  // "Try it"
    std::vector<Command> commands;
};

// Returns all commands, in the order of the overview (README.md).
[[nodiscard]] std::vector<CommandGroup> command_groups();

}  // namespace viridian::cli
