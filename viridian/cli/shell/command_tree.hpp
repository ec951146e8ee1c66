#pragma once
// A CommandTree describes a command, its options and its subcommands as plain data. Completions and manual
// pages are made from it, and App::tree (options.hpp) makes it from what the commands declared, so that they
// cannot differ from `--help`.
#include <string>
#include <vector>

namespace viridian::cli {

struct OptionText {
    std::vector<std::string> names;  // "-o", "--output"; empty for an argument without dashes
    std::string argument;            // name of an argument without dashes: "MODEL"
    std::string value;               // kind of its value, "TEXT"; empty for a flag
    std::string description;
    std::vector<std::string> choices;  // the words that it takes, if it takes only these
    bool required = false;
};

struct CommandTree {
    std::string name;     // of the command alone: "plan"
    std::string summary;  // one line
    std::string footer;   // examples, notes
    std::vector<OptionText> options;
    std::vector<CommandTree> below;
};

}  // namespace viridian::cli
