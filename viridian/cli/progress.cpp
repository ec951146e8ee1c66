#include "viridian/cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace viridian::cli {

namespace {

Verbosity chosen_verbosity = Verbosity::normal;

bool erases_lines() {
    const char* const kind = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

}  // namespace

Verbosity verbosity() { return chosen_verbosity; }
void set_verbosity(Verbosity verbosity) { chosen_verbosity = verbosity; }

Progress::Progress() : terminal_(erases_lines()) {}
Progress::~Progress() { clear(); }

void Progress::show(const std::string& what) {
    const auto now = std::chrono::steady_clock::now();
    const bool verbose = chosen_verbosity == Verbosity::verbose;
    if (chosen_verbosity == Verbosity::quiet || (!terminal_ && !verbose)) return;
    if (last_ != std::chrono::steady_clock::time_point{} &&
        now - last_ < std::chrono::milliseconds(terminal_ ? 100 : 1000))
        return;
    last_ = now;
    if (!terminal_) {
        fmt::print(stderr, "{:3} s  {}\n",
                   std::chrono::duration_cast<std::chrono::seconds>(now - start_).count(), what);
        return;
    }
    winsize size{};
    const std::size_t width =
        ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - start_).count();
    std::string line = fmt::format("{:3} s  {}", seconds, what);
    if (line.size() > width - 1) {  // leaves out whole parts, if there are several
        const std::size_t comma = line.rfind(", ", width - 1);
        line.resize(comma == std::string::npos ? width - 1 : comma);
    }
    fmt::print(stderr, "\r\033[K{}", line);
    std::fflush(stderr);
    shown_ = true;
}

void Progress::clear() {
    if (shown_) fmt::print(stderr, "\r\033[K");
    shown_ = false;
}

}  // namespace viridian::cli
