#include "viridian/cli/terminal_listener.hpp"

#include <fmt/format.h>

namespace viridian::cli {

void TerminalListener::note(const std::string& text) {
    if (verbosity() != Verbosity::quiet) warning_line(text);
}

void TerminalListener::warning_line(const std::string& text) {
    progress_.clear();
    fmt::print(stderr, "{}\n", text);
}

}  // namespace viridian::cli
