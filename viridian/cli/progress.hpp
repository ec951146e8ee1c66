#pragma once
// One line on stderr that says where long work is, when stderr is a terminal; silent else.
#include <chrono>
#include <string>

namespace viridian::cli {

class Progress {
  public:
    Progress();
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    // Redrawn at most ten times a second.
    void show(const std::string& what);
    void clear();

  private:
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point last_{};
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace viridian::cli
