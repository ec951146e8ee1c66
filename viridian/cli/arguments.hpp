#pragma once
// Puts the words of the command line into the order that the parser takes, and explains words that it did
// not understand.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::cli {

// Brings the words after the program's name into the order that the parser takes: `--json` moves from before
// the command to behind it, `help COMMAND...` becomes `COMMAND... --help`, `help` alone becomes
// nothing, and `version` becomes `--version`.
[[nodiscard]] std::vector<std::string> arranged(std::span<const char* const> words);

// True if `--json` is among the words before `--`.
[[nodiscard]] bool wants_json(std::span<const std::string> words);

// The error for a first word that is none of `commands`. It names the nearest command; a model or a plan is
// answered with the command that runs it.
[[nodiscard]] Error unknown_command(std::string_view word, std::span<const std::string> commands);

// The error for `words` that `command` ("pipeline plan") did not take, in their order. An unknown option
// comes first; its error names the nearest of the command's `options` ("--threads", "-o").
[[nodiscard]] Error unknown_words(std::string_view command, std::span<const std::string> words,
                                  std::span<const std::string> options);

}  // namespace viridian::cli
