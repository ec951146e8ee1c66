#pragma once
// One file per command. A command is a name, a sentence, its options and one straight function that returns
// an exit code's worth of Result. `commands.cpp` lists them all.
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "viridian/base/json.hpp"

namespace viridian::cli {

// What a command says: `json` is the one object of --json, `text` is what people read. Errors go by Result.
struct Answer {
    Json json;
    std::string text;
    int exit_code = 0;  // doctor-like commands may answer and still fail
};

struct Command {
    std::string name;
    std::string summary;
    std::string example;
    // Adds options to `app`; returns what to run once they are parsed.
    std::function<std::function<Result<Answer>()>(CLI::App& app)> define;
};

// In the order of --help (docs/architecture.md, "Command line").
[[nodiscard]] std::vector<Command> commands();

}  // namespace viridian::cli
