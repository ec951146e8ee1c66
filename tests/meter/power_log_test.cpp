#include "viridian/meter/log/power_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/meter/fake_tree.hpp"
#include "viridian/base/random.hpp"
#include "viridian/meter/curve/interval_energy.hpp"
#include "viridian/meter/log/gunzip.hpp"

namespace viridian::meter {
namespace {

using testing::HasSubstr;

const std::string header = std::string(power_log_header) + "\n";

std::string gzip_text(const std::string& text) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    std::string packed(text.size() + 1000, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

TEST(PowerLog, ReadsBackWhatItWrites) {
    const tests::FakeTree tree;
    Random random(1);
    const std::vector<Channel> channels = {
        {"powercap", "cpu:0", Scope::package, Kind::energy_uj, 0},
        {"nvml", "cuda:0", Scope::gpu, Kind::average_uw, 0},
        {"process", "tid:7", Scope::process, Kind::thread_cpu, 0},
    };
    std::vector<std::vector<Reading>> expected(3);
    auto writer = PowerLogWriter::create(tree.root() / "power.csv");
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->note("wrap_uj powercap cpu:0 package 262143328850").ok());
    ASSERT_TRUE(writer->note("anything\nelse").ok());
    std::int64_t time = 1'700'000'000'000'000'000;
    for (int i = 0; i < 5000; ++i) {
        time += random.between(1, 5'000'000);
        const auto channel = static_cast<std::uint32_t>(random.below(3));
        const Sample sample{channel, time, 0, random.between(0, 1LL << 50), channel == 1 ? 100'000'000 : 0};
        ASSERT_TRUE(writer->add(channels, {&sample, 1}).ok());
        expected[channel].push_back({sample.time_ns, sample.value, sample.window_ns});
    }
    ASSERT_TRUE(writer->flush().ok());
    const auto log = read_power_log(tree.root() / "power.csv");
    ASSERT_TRUE(log.ok()) << log.error().text();
    ASSERT_EQ(log->series.size(), 3U);
    EXPECT_TRUE(log->warnings.empty());
    for (std::size_t i = 0; i < 3; ++i) {
        const Series* series = log->find(channels[i].device, channels[i].scope, channels[i].kind);
        ASSERT_NE(series, nullptr);
        EXPECT_EQ(series->readings, expected[i]);
    }
    EXPECT_EQ(log->find("cpu:0", Scope::package, Kind::energy_uj)->channel.wrap_uj, 262143328850);
    EXPECT_THAT(log->metadata, testing::Contains("anything else"));
}

TEST(PowerLog, ReadsGzip) {
    // header, then "1,m,cuda:0,gpu,power_uw,5,0"
    const std::string packed =
        gzip_text(header + "1,m,cuda:0,gpu,power_uw,5,0\n2,m,cuda:0,gpu,power_uw,6,0\n");
    const tests::FakeTree tree;
    ASSERT_TRUE(write_file(tree.root() / "power.csv.gz", packed).ok());
    const auto log = read_power_log(tree.root() / "power.csv.gz");
    ASSERT_TRUE(log.ok());
    ASSERT_EQ(log->series.size(), 1U);
    EXPECT_EQ(log->series[0].readings.size(), 2U);
    EXPECT_EQ(gunzip(gzip_text("first ") + gzip_text("") + gzip_text("second"), "members").value(),
              "first second");
    EXPECT_EQ(gunzip(gzip_text("first") + std::string(8, '\0'), "padded").value(), "first");
    EXPECT_EQ(gunzip(gzip_text("first") + gzip_text("second").substr(0, 12), "cut").error().code,
              ErrorCode::malformed);
    ASSERT_TRUE(write_file(tree.root() / "cut.csv.gz", packed.substr(0, packed.size() - 12)).ok());
    EXPECT_EQ(read_power_log(tree.root() / "cut.csv.gz").error().code, ErrorCode::malformed);
    EXPECT_EQ(gunzip(gzip_text(std::string(std::size_t{1} << 20, 'x')), "large", 1000).error().code,
              ErrorCode::limit_exceeded);
    EXPECT_EQ(gunzip(gzip_text(std::string(std::size_t{1} << 20, 'x')), "large")->size(),
              std::size_t{1} << 20);
}

TEST(PowerLog, UndoesStepsOfTheClock) {
    const std::string text = "# monotonic_offset_ns 1000\n" + header +
                             "5000,m,cpu:0,package,energy_uj,1,0\n"
                             "# monotonic_offset_ns -3600000000000\n"
                             "6000,m,cpu:0,package,energy_uj,2,0\n";
    const auto log = parse_power_log(text, "log");
    ASSERT_TRUE(log.ok()) << log.error().text();
    EXPECT_EQ(log->clock_steps, 1U);
    EXPECT_EQ(log->series[0].readings[1].time_ns, 6000 + 3'600'000'001'000);
}

TEST(PowerLog, ACutLastLineIsAWarning) {
    const auto log = parse_power_log(header + "5000,m,cpu:0,package,energy_uj,1,0\n9000,m,cpu:0,pack", "log");
    ASSERT_TRUE(log.ok());
    ASSERT_EQ(log->warnings.size(), 1U);
    EXPECT_EQ(log->series[0].readings.size(), 1U);
}

TEST(PowerLog, Rejects) {
    const auto message = [](const std::string& text) {
        const auto log = parse_power_log(text, "log");
        return log.ok() ? std::string("accepted") : log.error().text();
    };
    EXPECT_THAT(message(""), HasSubstr("before any header"));
    EXPECT_THAT(message("time,watts\n1,2\n"), HasSubstr("should be the header"));
    EXPECT_THAT(message(header + "1,m,cpu:0,package,energy_uj,1\n"),
                HasSubstr("line 2 does not have 7 fields"));
    EXPECT_THAT(message(header + "1,m,cpu:0,planet,energy_uj,1,0\n"), HasSubstr("unknown scope `planet`"));
    EXPECT_THAT(message(header + "1,m,cpu:0,package,calories,1,0\n"), HasSubstr("unknown kind `calories`"));
    EXPECT_THAT(message(header + "soon,m,cpu:0,package,energy_uj,1,0\n"), HasSubstr("time `soon`"));
    EXPECT_THAT(message(header + "1,m,cpu:0,package,energy_uj,nan,0\n"), HasSubstr("value `nan`"));
    EXPECT_THAT(message(header + "1,m,cpu:0,package,energy_uj,-4,0\n"), HasSubstr("negative counter"));
    EXPECT_THAT(message("# wrap_uj m cpu:0 package -1\n" + header), HasSubstr("wrap"));
    EXPECT_THAT(message(header + "9,m,cpu:0,package,energy_uj,1,0\n1,m,cpu:0,package,energy_uj,1,0\n"),
                HasSubstr("out of time order"));
}

TEST(PowerLog, AFullDiskKeepsWholeLines) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
    auto writer = PowerLogWriter::create("/dev/full");
    ASSERT_TRUE(writer.ok());
    const std::vector<Channel> channels = {{"m", "cpu:0", Scope::package, Kind::energy_uj, 0}};
    const Sample sample{0, 1, 1, 1, 0};
    ASSERT_TRUE(writer->add(channels, {&sample, 1}).ok());
    const auto full = writer->flush();
    ASSERT_FALSE(full.ok());
    EXPECT_EQ(full.error().code, ErrorCode::disk_full);
    EXPECT_FALSE(writer->add(channels, {&sample, 1}).ok());
}

TEST(Counter, OneWrapIsCorrectedAResetIsNot) {
    EXPECT_EQ(counter_difference(10, 30, 0), 20);
    EXPECT_EQ(counter_difference(990, 5, 1000), 15);
    EXPECT_EQ(counter_difference(990, 5, 0), std::nullopt);
    EXPECT_EQ(counter_difference(2000, 5, 1000), std::nullopt);
}

}  // namespace
}  // namespace viridian::meter
