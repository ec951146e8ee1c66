#pragma once
// Placement says on which CPU package a thread ran, so that on a machine with several packages an event is
// charged to the right one: the package that its thread was on when the event began. It reads the
// `thread_cpu` readings and the `# cpu_package CPU PACKAGE` lines of the power log.
#include <map>
#include <string>
#include <vector>

#include "viridian/meter/log/power_log.hpp"

namespace viridian::account {

class Placement {
  public:
    // Reads `log`, which must outlive this object.
    explicit Placement(const meter::PowerLog& log);
    // Returns true if the machine has one package or the log says nothing about threads.
    [[nodiscard]] bool empty() const { return packages_ < 2 || threads_.empty(); }
    // Returns the device ("cpu:1") on which `thread` was at `time_ns` (Unix time), or nullptr if that is not
    // known. Times must ascend for each thread.
    [[nodiscard]] const std::string* device_of(std::int64_t thread, std::int64_t time_ns);

  private:
    struct Thread {
        const std::vector<meter::Reading>* readings = nullptr;
        std::size_t at = 0;
    };
    std::map<std::int64_t, Thread> threads_;
    std::map<std::int64_t, std::string> device_of_cpu_;
    std::size_t packages_ = 0;
};

}  // namespace viridian::account
