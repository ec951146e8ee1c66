#pragma once
// A load played to the scripted NVML: a file of steps (int64 Unix nanoseconds, double watts: 16 bytes each,
// in time order), that may grow while it is read and may lie in the future. Power holds between steps; before
// the first and after the last it is what they say.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

class FakeLoad {
  public:
    explicit FakeLoad(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
    FakeLoad(const FakeLoad&) = delete;
    FakeLoad& operator=(const FakeLoad&) = delete;
    ~FakeLoad() {
        if (file_ >= 0) ::close(file_);
    }

    double watts(std::int64_t time) {
        refresh();
        const std::size_t i = before(time);
        return steps_.empty() ? 0.0 : steps_[i].watts;
    }
    // Joules from the first step to `time`; what lies before the first step has its power.
    double joules(std::int64_t time) {
        refresh();
        if (steps_.empty()) return 0.0;
        const std::size_t i = before(time);
        return sums_[i] + steps_[i].watts * 1e-9 * static_cast<double>(time - steps_[i].time);
    }
    double mean(std::int64_t begin, std::int64_t end) {
        return end > begin ? (joules(end) - joules(begin)) / (1e-9 * static_cast<double>(end - begin))
                           : watts(end);
    }

  private:
    struct Step {
        std::int64_t time;
        double watts;
    };
    // The last step at or before `time`, else the first.
    std::size_t before(std::int64_t time) const {
        const auto after = std::upper_bound(steps_.begin(), steps_.end(), time,
                                            [](std::int64_t t, const Step& step) { return t < step.time; });
        return after == steps_.begin() ? 0 : static_cast<std::size_t>(after - steps_.begin()) - 1;
    }
    void refresh() {
        Step chunk[512];
        for (;;) {
            const ssize_t got = ::pread(file_, chunk, sizeof chunk, offset_);
            if (got < static_cast<ssize_t>(sizeof(Step))) return;
            const std::size_t whole = static_cast<std::size_t>(got) / sizeof(Step);
            for (std::size_t i = 0; i < whole; ++i) {
                const double sum =
                    steps_.empty()
                        ? 0.0
                        : sums_.back() + steps_.back().watts * 1e-9 *
                                             static_cast<double>(chunk[i].time - steps_.back().time);
                steps_.push_back(chunk[i]);
                sums_.push_back(sum);
            }
            offset_ += static_cast<off_t>(whole * sizeof(Step));
        }
    }

    int file_;
    off_t offset_ = 0;
    std::vector<Step> steps_;
    std::vector<double> sums_;
};
