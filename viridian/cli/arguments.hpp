#pragma once
// Puts the words of the command line into the order that the parser takes, and explains words that it did
// not understand.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::cli {

// Returns `words`, those after the program's name, in the order that the parser takes: `--json`, `--quiet`
// and
// `--verbose` move from before the command to after it, `help COMMAND...` becomes `COMMAND... --help`, `help`
// alone becomes nothing, and `version` becomes `--version`.
[[nodiscard]] std::vector<std::string> arranged(std::span<const char* const> words);

// Returns true for the flags that every command takes: `--json`, `-q`, `-v` and their long names.
[[nodiscard]] bool is_for_every_command(const std::string& word);

// Returns true if `--json` is among the words before `--`.
[[nodiscard]] bool wants_json(std::span<const std::string> words);

// Returns the error for a first word that is none of `commands`. It names the nearest command, if one is
// near. If the word is a model or a plan, it names the command that runs it.
[[nodiscard]] Error unknown_command(std::string_view word, std::span<const std::string> commands);

// Returns the error for `words`, in their order, which `command` ("pipeline plan") did not take. If there is
// an unknown option, the error is about the first one and names the nearest of the command's `options`
// ("--threads", "-o").
[[nodiscard]] Error unknown_words(std::string_view command, std::span<const std::string> words,
                                  std::span<const std::string> options);

}  // namespace viridian::cli
