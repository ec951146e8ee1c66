#include "viridian/base/system/memory_limit.hpp"

#include <gtest/gtest.h>

#include <new>

#include "tests/meter/fake_tree.hpp"
#include "viridian/base/units_text.hpp"

namespace viridian {
namespace {

using meter::tests::FakeTree;

constexpr const char* meminfo =
    "MemTotal:  8000 kB\nMemFree:  10 kB\nMemAvailable:    4000 kB\nCached:  7 kB\n";

std::int64_t available(const FakeTree& tree) {
    const std::optional<Bytes> bytes = available_memory(tree.root());
    return bytes ? bytes->value : -1;
}

TEST(AvailableMemory, IsWhatTheKernelCallsAvailable) {
    const FakeTree tree;
    EXPECT_EQ(available(tree), -1);  // the machine does not say
    tree.write("proc/meminfo", "MemTotal: 8000 kB\n");
    EXPECT_EQ(available(tree), -1);
    tree.write("proc/meminfo", meminfo);
    EXPECT_EQ(available(tree), 4000 * 1024);
    EXPECT_GT(available_memory()->value, 0);  // of this machine
}

TEST(AvailableMemory, AGroupOfVersion2AndThoseAboveItBoundIt) {
    const FakeTree tree;
    tree.write("proc/meminfo", meminfo);
    tree.write("proc/self/cgroup", "0::/work/job\n");
    EXPECT_EQ(available(tree), 4000 * 1024);  // no files: no bound
    const auto group = [&](const std::string& name, const char* limit, const char* used, const char* cache) {
        tree.write("sys/fs/cgroup/" + name + "memory.max", limit);
        tree.write("sys/fs/cgroup/" + name + "memory.current", used);
        tree.write("sys/fs/cgroup/" + name + "memory.stat",
                   std::string("anon 5\nfile 900\ninactive_file ") + cache + "\nactive_file 1\n");
    };
    group("work/job/", "1000000\n", "300000\n", "100000");
    EXPECT_EQ(available(tree), 800'000);  // the page cache that is not used is given back first
    group("work/job/", "max\n", "300000\n", "100000");
    EXPECT_EQ(available(tree), 4000 * 1024);
    group("work/", "2000000\n", "1900000\n", "0");
    EXPECT_EQ(available(tree), 100'000);
    group("work/", "2000000\n", "2500000\n", "0");
    EXPECT_EQ(available(tree), 0);
}

TEST(AvailableMemory, AGroupOfVersion1BoundsItAlsoUnderTheNamesOfAHost) {
    const FakeTree tree;
    tree.write("proc/meminfo", meminfo);
    tree.write("proc/self/cgroup", "9:cpu,cpuacct:/a\n4:memory:/docker/0123\n0::/\n");
    const auto group = [&](const std::string& name, const char* limit, const char* used) {
        tree.write("sys/fs/cgroup/memory/" + name + "memory.limit_in_bytes", limit);
        tree.write("sys/fs/cgroup/memory/" + name + "memory.usage_in_bytes", used);
        tree.write("sys/fs/cgroup/memory/" + name + "memory.stat", "cache 1\ntotal_inactive_file 4096\n");
    };
    group("docker/0123/", "100000\n", "10000\n");
    EXPECT_EQ(available(tree), 100'000 - 10'000 + 4096);
    group("docker/0123/", "9223372036854771712\n", "10000\n");  // none
    EXPECT_EQ(available(tree), 4000 * 1024);
    tree.write("proc/self/cgroup", "4:memory:/elsewhere/9\n");  // the host's name, which a container lacks
    group("", "50000\n", "10000\n");
    EXPECT_EQ(available(tree), 50'000 - 10'000 + 4096);
}

TEST(AvailableMemory, OnlyWhatIsLargeIsCheckedAndThenAgainstIt) {
    EXPECT_NO_THROW(require_memory(Bytes(0)));
    EXPECT_NO_THROW(require_memory(Bytes(1 << 20)));
    EXPECT_THROW(require_memory(Bytes(std::int64_t{1} << 60)), std::bad_alloc);
    EXPECT_LT(usual_memory_limit().value, available_memory()->value + (std::int64_t{1} << 32));
}

TEST(Size, IsReadWithAndWithoutAUnitAndWrittenForPeople) {
    for (const auto& [text, bytes] : {std::pair<std::string_view, std::int64_t>{"1", 1},
                                      {"4GiB", std::int64_t{4} << 30},
                                      {"4 gib", std::int64_t{4} << 30},
                                      {"1.5KiB", 1536},
                                      {"500MB", 500'000'000},
                                      {"1e3", 1000},
                                      {"2TiB", std::int64_t{2} << 40},
                                      {"12b", 12}}) {
        const Result<Bytes> size = parse_size(text);
        ASSERT_TRUE(size.ok()) << text;
        EXPECT_EQ(size->value, bytes) << text;
    }
    for (const char* bad : {"", "0", "-1", "0.5", "1.5", "GiB", "4Gi", "4G", "4GiBs", "nan", "inf", "1e30",
                            "0x10", "9999999TiB", "+4", "1,5GiB"})
        EXPECT_FALSE(parse_size(bad).ok()) << bad;
    EXPECT_EQ(parse_size("much").error().text(),
              "`much` is not a size of memory. write a size such as 4GiB, 500MB or 1000000.");
    EXPECT_EQ(size_text(Bytes(1023)), "1023 bytes");
    EXPECT_EQ(size_text(Bytes(1024)), "1.0 KiB");
    EXPECT_EQ(size_text(Bytes(std::int64_t{1536} << 20)), "1.5 GiB");
    EXPECT_EQ(size_text(Bytes(std::int64_t{640} << 30)), "640 GiB");
    EXPECT_EQ(size_text(Bytes(1025)), "1.0 KiB");
    EXPECT_EQ(size_text_up(Bytes(1023)), "1023 bytes");
    EXPECT_EQ(size_text_up(Bytes(1024)), "1.0 KiB");
    EXPECT_EQ(size_text_up(Bytes(1025)), "1.1 KiB");
    EXPECT_EQ(size_text_up(Bytes((std::int64_t{640} << 30) + 1)), "641 GiB");
}

}  // namespace
}  // namespace viridian
