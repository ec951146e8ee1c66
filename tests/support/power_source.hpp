#pragma once
// A powercap tree whose counters rise with the watts that the program sets, as those of a processor do.
#include <fcntl.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "tests/meter/fake_tree.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::meter::tests {

class PowerSource {
  public:
    static constexpr double idle_watts = 5;

    // Two packages; the second one draws `watts`, the first one always idles.
    PowerSource() {
        tree_.zone("intel-rapl:0", "package-0", 0, range);
        tree_.zone("intel-rapl:1", "package-1", 0, range);
        for (const int package : {0, 1})
            files_[package] = ::open(
                (tree_.root() / fmt::format("sys/class/powercap/intel-rapl:{}/energy_uj", package)).c_str(),
                O_WRONLY | O_CLOEXEC);
        renew();  // the thread may start late
        thread_ = std::thread([this] { run(); });
    }
    ~PowerSource() {
        ends_ = true;
        thread_.join();
        for (const int file : files_) ::close(file);
    }
    PowerSource(const PowerSource&) = delete;
    PowerSource& operator=(const PowerSource&) = delete;

    [[nodiscard]] MeterPaths paths() const { return {.root = tree_.root()}; }
    [[nodiscard]] const FakeTree& tree() const { return tree_; }
    // Lets the second package draw `watts` from now on. What it drew before is in the counter when this
    // returns, so the counter is right however late its thread gets a processor.
    void draw(double watts) {
        const std::lock_guard lock(mutex_);
        renew();
        watts_ = watts;
    }
    // Lets the second counter wrap once its package has drawn so much more.
    void wrap_after(double microjoules) {
        const std::lock_guard lock(mutex_);
        renew();
        energy_[1] = static_cast<double>(range) - microjoules;
        renew();
    }
    std::atomic<int> wraps = 0;        // of the second counter, so far
    std::atomic<bool> resets = false;  // lets the second counter begin anew
    std::atomic<bool> stops = false;   // lets the counters stand still

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr long long range = 262143328850;

    void run() {
        while (!ends_) {
            std::this_thread::sleep_for(std::chrono::microseconds(500));
            const std::lock_guard lock(mutex_);
            renew();
        }
    }

    // Adds what was drawn since the last renewal.
    void renew() {
        const auto now = Clock::now();
        const double elapsed = 1e6 * std::chrono::duration<double>(now - last_).count();
        last_ = now;
        if (stops) return;
        energy_[0] += idle_watts * elapsed;
        energy_[1] += watts_ * elapsed;
        if (resets.exchange(false)) energy_[1] = 0;
        if (energy_[1] >= static_cast<double>(range)) {
            energy_[1] -= static_cast<double>(range);
            ++wraps;
        }
        for (const int package : {0, 1}) {
            const std::string text = fmt::format("{:020}\n", static_cast<long long>(energy_[package]));
            (void)!::pwrite(files_[package], text.data(), text.size(), 0);
        }
    }

    std::mutex mutex_;
    Clock::time_point last_ = Clock::now();
    double energy_[2] = {1e9, 2e9};  // microjoules
    double watts_ = idle_watts;
    FakeTree tree_;
    int files_[2] = {-1, -1};
    std::atomic<bool> ends_ = false;
    std::thread thread_;
};

}  // namespace viridian::meter::tests
