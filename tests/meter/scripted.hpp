#pragma once
// A powercap tree whose counters are what the test writes, and a monitor's meters over it.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/meter/fake_tree.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::meter::tests {

class Scripted {
  public:
    Scripted() {
        tree.zone("intel-rapl:0", "package-0", 0, 262'143'328'850);
        tree.zone("intel-rapl:0:0", "dram", 0, 65'712'999'613);
        tree.zone("intel-rapl:0:1", "core", 0, 262'143'328'850);
        package(1'000);
        dram(2'000);
    }
    void package(long long microjoules) const { put("intel-rapl:0", microjoules); }
    void dram(long long microjoules) const { put("intel-rapl:0:0", microjoules); }
    void core(long long microjoules) const { put("intel-rapl:0:1", microjoules); }
    // As a device that is unplugged: what was open reads nothing, and it cannot be opened again.
    void package_vanishes() const {
        const auto file = path("intel-rapl:0");
        std::filesystem::resize_file(file, 0);
        std::filesystem::remove(file);
    }
    [[nodiscard]] std::vector<Meter> meters() const {
        MeterPaths paths;
        paths.root = tree.root();
        auto meter = meter::open("powercap", paths);
        EXPECT_TRUE(meter.ok());
        std::vector<Meter> all;
        if (meter.ok()) all.push_back(std::move(*meter));
        return all;
    }
    tests::FakeTree tree;

  private:
    [[nodiscard]] std::filesystem::path path(const std::string& id) const {
        return tree.root() / "sys/class/powercap" / id / "energy_uj";
    }
    // In place and always as long, so that the meter's open file shows the old number or the new.
    void put(const std::string& id, long long microjoules) const {
        const int file = ::open(path(id).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        const std::string text = fmt::format("{:015}\n", microjoules);
        EXPECT_EQ(::pwrite(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
        ::close(file);
    }
};

// Waits for what must come; a test's own limit ends what does not.
template <class Condition>
void until(const Condition& condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace viridian::meter::tests
