#pragma once
// Progress shows in one line on stderr how far long work has come. The line is shown only if stderr is a
// terminal.
#include <chrono>
#include <string>

namespace viridian::cli {

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
