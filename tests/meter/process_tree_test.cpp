#include "viridian/meter/process_tree.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "tests/meter/fake_tree.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/proc_stat.hpp"

namespace viridian::meter {
namespace {

std::string stat_line(int pid, int user, int system, int cpu) {
    return fmt::format(
        "{} (a) b) S 1 1 1 0 -1 0 0 0 0 0 {} {} 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 {} 0 0 0 0 "
        "0\n",
        pid, user, system, cpu);
}

TEST(ProcessTree, TicksGoToThePackageTheThreadIsOn) {
    const tests::FakeTree tree;
    tree.write("proc/stat", "cpu  0 0 0 0\ncpu0 100 0 0 0 0 0 0\ncpu1 200 0 0 0 0 0 0\n");
    tree.write("sys/devices/system/cpu/cpu1/topology/physical_package_id", "1\n");
    tree.write("proc/5/task/5/stat", stat_line(5, 10, 1, 0));
    tree.write("proc/5/task/5/children", "6 ");
    tree.write("proc/6/task/6/stat", stat_line(6, 20, 0, 1));
    const auto meter = open_process_tree(5, tree.root());
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    const auto read = [&] {
        std::vector<Sample> samples;
        EXPECT_TRUE(meter->read(samples).ok());
        std::map<std::string, std::int64_t> values;
        for (const Sample& sample : samples) {
            const Channel& channel = meter->listed()[sample.channel];
            values[fmt::format("{} {}", channel.device, name_of(channel.scope))] = sample.value;
        }
        return values;
    };
    auto values = read();
    EXPECT_EQ(values["cpu:0 process"], 11);
    EXPECT_EQ(values["cpu:1 process"], 20);
    EXPECT_EQ(values["cpu:1 package"], 200);
    EXPECT_EQ(values["tid:6 process"], 1);
    tree.write("proc/5/task/5/stat", stat_line(5, 40, 1, 1));  // it migrated and worked there
    values = read();
    EXPECT_EQ(values["cpu:0 process"], 11);
    EXPECT_EQ(values["cpu:1 process"], 50);
    EXPECT_EQ(values["tid:5 process"], 1);
}

TEST(ProcessTree, AProcessThatIsGoneIsAnError) {
    const auto meter = open_process_tree(1 << 30);
    ASSERT_TRUE(meter.ok());
    std::vector<Sample> samples;
    EXPECT_FALSE(meter->read(samples).ok());
}

TEST(ProcessTree, CutLinesAreRefused) {
    EXPECT_FALSE(parse_thread_stat("").ok());
    EXPECT_FALSE(parse_thread_stat("5 (a").ok());
    EXPECT_FALSE(parse_thread_stat("5 (a) S 1 2 3").ok());
    CpuTimes times;
    EXPECT_FALSE(parse_cpu_times("intr 5\n", times).ok());
    EXPECT_FALSE(parse_cpu_times("cpu0 1 2\n", times).ok());
}

TEST(Hwmon, ReadsGpusAndLeavesOtherSensorsAlone) {
    const tests::FakeTree tree;
    tree.write("sys/class/hwmon/hwmon0/name", "coretemp\n");
    tree.write("sys/class/hwmon/hwmon0/power1_input", "1\n");
    tree.write("sys/class/hwmon/hwmon1/name", "amdgpu\n");
    tree.write("sys/class/hwmon/hwmon1/power1_average", "45000000\n");
    tree.write("sys/class/hwmon/hwmon1/power1_average_interval", "50\n");
    MeterPaths paths;
    paths.root = tree.root();
    const auto meter = open("hwmon", paths);
    ASSERT_TRUE(meter.ok()) << meter.error().text();
    std::vector<Sample> samples;
    ASSERT_TRUE(meter->read(samples).ok());
    ASSERT_EQ(samples.size(), 1U);
    EXPECT_EQ(samples[0].value, 45'000'000);
    EXPECT_EQ(samples[0].window_ns, 50'000'000);
}

TEST(Perf, NoEventsIsAnErrorNeverZero) {
    const tests::FakeTree tree;
    MeterPaths paths;
    paths.root = tree.root();
    EXPECT_EQ(open("perf", paths).error().code, ErrorCode::no_device);
}

// Some hypervisors show RAPL events that never count; the kernel's own dummy event does not either.
TEST(Perf, EventsThatNeverCountAreNoMeter) {
    tests::FakeTree tree;
    const std::string power = "sys/bus/event_source/devices/power/";
    tree.write(power + "type", "1\n");
    tree.write(power + "cpumask", "0\n");
    tree.write(power + "events/energy-pkg", "event=0x09\n");
    tree.write(power + "events/energy-pkg.scale", "2.3e-10\n");
    MeterPaths paths;
    paths.root = tree.root();
    const auto meter = open("perf", paths);
    ASSERT_FALSE(meter.ok());
    if (meter.error().code == ErrorCode::no_permission)
        GTEST_SKIP() << "perf events are not open to this user";
    EXPECT_EQ(meter.error().code, ErrorCode::no_device);
    EXPECT_NE(meter.error().message.find("do not count"), std::string::npos) << meter.error().text();
}

}  // namespace
}  // namespace viridian::meter
