#include "viridian/base/system/limits.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.hpp"
#include "viridian/base/system/machine.hpp"

namespace viridian {
namespace {

// A folder with the files of /proc/self and /sys/fs/cgroup that a test writes.
class GroupLimitsTest : public testing::Test {
  protected:
    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    const tests::TemporaryFolder folder_;
    const Path& root_ = folder_.path();
};

TEST_F(GroupLimitsTest, OfVersion2AreTheLeastOnTheWayToTheRoot) {
    write("proc/self/cgroup", "0::/service/task\n");
    write("sys/fs/cgroup/service/task/cpu.max", "max 100000\n");
    write("sys/fs/cgroup/service/task/memory.max", "3000000000\n");
    write("sys/fs/cgroup/service/cpu.max", "250000 100000\n");
    write("sys/fs/cgroup/service/memory.max", "2000000000\n");
    write("sys/fs/cgroup/cpu.max", "400000 100000\n");
    write("sys/fs/cgroup/memory.max", "max\n");
    EXPECT_EQ(group_limits(root_).processors, 2.5);
    EXPECT_EQ(group_limits(root_).memory, Bytes(2000000000));
}

TEST_F(GroupLimitsTest, OfVersion1StandInAHierarchyForEachController) {
    write("proc/self/cgroup", "7:memory:/box\n3:cpu,cpuacct:/box\n1:name=systemd:/box\n");
    write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "150000\n");
    write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "50000\n");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1073741824\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(group_limits(root_).processors, 3.0);
    EXPECT_EQ(group_limits(root_).memory, Bytes(1073741824));
}

TEST_F(GroupLimitsTest, OfAContainerThatIsToldItsPathOnTheHost) {
    write("proc/self/cgroup", "4:memory:/docker/0123\n2:cpu:/docker/0123\n0::/docker/0123\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    write("sys/fs/cgroup/unified/memory.max", "4096\n");
    EXPECT_EQ(group_limits(root_).processors, 0.5);
    EXPECT_EQ(group_limits(root_).memory, Bytes(4096));
}

TEST_F(GroupLimitsTest, WhatCannotBeReadLimitsNothing) {
    EXPECT_FALSE(group_limits(root_).processors || group_limits(root_).memory);
    write("proc/self/cgroup", "nonsense\n0:\n0::\n0::/there\n4:memory:/there\n");
    write("sys/fs/cgroup/there/cpu.max", "many 100000\n");
    write("sys/fs/cgroup/there/memory.max", "-5\n");
    write("sys/fs/cgroup/cpu.max", "200000\n");
    write("sys/fs/cgroup/memory/there/memory.limit_in_bytes", "12 ounces");  // the number counts
    EXPECT_FALSE(group_limits(root_).processors);
    EXPECT_EQ(group_limits(root_).memory, Bytes(12));
}

int threads_of(const ThreadDefaults& defaults) { return *default_threads(defaults); }

TEST(DefaultThreads, TakeTheFirstThatIsGiven) {
    EXPECT_EQ(threads_of({"3", "5", 1.0, 8}), 3);
    EXPECT_EQ(threads_of({"", "5", 1.0, 8}), 5);
    EXPECT_EQ(threads_of({"", "", 6.0, 8}), 6);
    EXPECT_EQ(threads_of({"", "", std::nullopt, 8}), 8);
}

TEST(DefaultThreads, RoundAQuotaDownAndStayWithinTheCores) {
    EXPECT_EQ(threads_of({"", "", 2.9, 8}), 2);
    EXPECT_EQ(threads_of({"", "", 0.5, 8}), 1);
    EXPECT_EQ(threads_of({"", "", 64.0, 8}), 8);
}

TEST(DefaultThreads, ReadTheFirstNumberOfOpenMpsListAndIgnoreOtherWords) {
    EXPECT_EQ(threads_of({"", "4,2", std::nullopt, 8}), 4);
    for (const char* other : {"many", "0", "-1", "4 2", "2000"})
        EXPECT_EQ(threads_of({"", other, std::nullopt, 8}), 8) << other;
}

TEST(DefaultThreads, RefuseOtherWordsInTheVariableOfOurOwn) {
    for (const std::string words : {"many", "0", "1025", "2,1", " 2"}) {
        const auto threads = default_threads(ThreadDefaults{words, "5", 1.0, 8});
        ASSERT_FALSE(threads.ok()) << words;
        EXPECT_EQ(threads.error().text(), "the environment variable VIRIDIAN_THREADS is `" + words +
                                              "`. set it to a number from 1 to 1024, or unset it.");
    }
}

TEST(Machine, HasNoMoreMemoryThanItsGroupsAllow) {
    const auto limit = group_limits().memory;
    EXPECT_TRUE(!limit || this_machine().memory <= *limit);
    EXPECT_GT(this_machine().memory, Bytes(0));
}

}  // namespace
}  // namespace viridian
