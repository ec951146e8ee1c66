#pragma once
// What a command of the program is. Each command has a source file of its own, which defines one `Command`;
// `commands.cpp` declares and lists them all. To add a command, write its source, its two lines in
// `commands.cpp`, and its test.
#include <functional>
#include <string>
#include <vector>

#include "viridian/base/json.hpp"
#include "viridian/cli/options.hpp"

namespace viridian::cli {

// What a command answers: `json` is the one object that `--json` prints, `text` is what people read. Errors
// are returned as Result instead.
struct Answer {
    Json json;
    std::string text;
    int exit_code = 0;  // not 0 if the command answers and yet fails, as `record` does with its program
};

using Action = std::function<Result<Answer>()>;

struct Command {
    std::string name;
    std::string summary;  // one line of the overview and of --help
    std::string example;  // a whole command line
    // Adds the command's options to `app` and returns what runs after they are parsed.
    std::function<Action(App app)> define;
};

struct CommandGroup {
    std::string title;  // "Try it"
    std::vector<Command> commands;
};

// All commands, in the order of the overview (README.md).
[[nodiscard]] std::vector<CommandGroup> command_groups();

}  // namespace viridian::cli
