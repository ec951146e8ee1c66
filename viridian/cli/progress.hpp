#pragma once
// Progress shows in one line on stderr how far long work has come. The line is shown if stderr is a terminal
// that can erase a line. With --verbose it is shown elsewhere too, once a second, each time in a new line.
#include <chrono>
#include <string>

namespace viridian::cli {

enum class Verbosity { quiet, normal, verbose };
// Return and set how much is said on stderr: `quiet` drops progress and notes, but neither warnings nor
// errors. run_cli sets it before a command runs.
[[nodiscard]] Verbosity verbosity();
void set_verbosity(Verbosity verbosity);

class Progress {
  public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Shows the seconds since construction and `what`, at most ten times a second.
    void show(const std::string& what);
    // Removes the line, so that something else can be printed.
    void clear();

  private:
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_{};
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace viridian::cli
