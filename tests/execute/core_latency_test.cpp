#include "viridian/execute/cpu/timing/core_latency.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "viridian/base/system/machine.hpp"

namespace viridian::execute::cpu {
namespace {

// Keeps the calling thread, and threads that it starts meanwhile, on one processor.
class OnOneProcessor {
  public:
    OnOneProcessor() {
        EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(physical_cpus()[0], &one);
        EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    }
    ~OnOneProcessor() { EXPECT_EQ(sched_setaffinity(0, sizeof before_, &before_), 0); }
    OnOneProcessor(const OnOneProcessor&) = delete;
    OnOneProcessor& operator=(const OnOneProcessor&) = delete;

  private:
    cpu_set_t before_{};
};

TEST(CoreLatency, IsZeroForOneThread) {
    Pool pool(1, {});
    EXPECT_EQ(core_to_core_latency(pool), Seconds());
}

// Each pass waits until the other thread's time slice is over, which no batch survives: without a bound the
// batches would end all the same, after seconds, and give a number.
TEST(CoreLatency, GivesUpOnThreadsThatShareAProcessor) {
    const int processor = physical_cpus()[0];
    const OnOneProcessor here;
    Pool pool(2, {processor, processor});
    EXPECT_EQ(core_to_core_latency(pool), Seconds());
}

}  // namespace
}  // namespace viridian::execute::cpu
