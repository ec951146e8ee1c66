#include "viridian/execute/cpu/timing/muster.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/pool/pool.hpp"

namespace viridian::execute::cpu {
namespace {

bool musters(Pool& pool) {
    bool met = false;
    const auto called = with_crew(pool, [&]() -> Result<void> {
        met = muster(pool.threads());
        return {};
    });
    EXPECT_TRUE(called.ok());
    return met;
}

TEST(Muster, OneThreadIsThere) {
    Pool pool(1, {});
    EXPECT_TRUE(musters(pool));
}

TEST(Muster, ThreadsWithAProcessorEachMeet) {
    const std::vector<int> processors = physical_cpus();
    if (processors.size() < 2) GTEST_SKIP() << "there is one processor";
    Pool pool(2, {processors[0], processors[1]});
    bool met = false;
    for (int i = 0; i < 10'000 && !met; ++i) met = musters(pool);  // other processes may be at work
    EXPECT_TRUE(met);
}

// The worker gets the processor after the caller has spun in vain.
TEST(Muster, ThreadsThatShareAProcessorDoNot) {
    const std::vector<int> processors = physical_cpus();
    if (processors.size() < 2) GTEST_SKIP() << "there is one processor";
    Pool pool(2, {processors[0], processors[0]});
    cpu_set_t before{}, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET(processors[0], &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_FALSE(musters(pool));
    EXPECT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace viridian::execute::cpu
