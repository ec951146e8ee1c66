#include "viridian/serve/metrics.hpp"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <array>

#include "tests/meter/scripted.hpp"

namespace viridian::serve {
namespace {

using meter::tests::Scripted;

struct Page {
    explicit Page(TotalsOptions options = {}, meter::MonitorOptions how = {})
        : monitor(script.meters(), std::move(how)) {
        auto opened = RunningTotals::open(monitor, std::move(options));
        if (!opened.ok()) ADD_FAILURE() << opened.error().text();
        totals = std::move(*opened);
    }
    [[nodiscard]] std::string text() const {
        return prometheus::TextSerializer().Serialize(Metrics(*totals).Collect());
    }
    // The value of `series`, a name and labels as they stand on the page.
    [[nodiscard]] double value(const std::string& series) const {
        const std::string page = "\n" + text();
        const std::size_t at = page.find("\n" + series + " ");
        if (at == std::string::npos) ADD_FAILURE() << series << " is not in\n" << page;
        return at == std::string::npos ? -1.0 : std::stod(page.substr(at + 2 + series.size()));
    }
    [[nodiscard]] bool has(const std::string& words) const { return text().find(words) != std::string::npos; }

    Scripted script;
    meter::Monitor monitor;
    std::unique_ptr<RunningTotals> totals;
};

const std::string package = R"(device="cpu:0",scope="package",provenance="measured:powercap"})";

TEST(Metrics, TheEnergyOfTheMachineHasNoJouleTwice) {
    const Page page;
    page.script.package(1'000 + 3'000'000);
    page.script.dram(2'000 + 500'000);
    page.script.core(2'000'000);
    EXPECT_EQ(page.value("viridian_energy_joules_total{" + package), 3.0);
    EXPECT_EQ(
        page.value(
            R"(viridian_energy_joules_total{device="cpu:0",scope="dram",provenance="measured:powercap"})"),
        0.5);
    EXPECT_FALSE(
        page.has(R"(viridian_energy_joules_total{device="cpu:0",scope="core")"));  // it is in the package
    EXPECT_EQ(page.value(R"(viridian_meter_energy_joules_total{device="cpu:0",scope="core",meter="powercap",)"
                         R"(kind="energy_uj",provenance="measured:powercap"})"),
              2.0);
    EXPECT_LE(page.value("viridian_energy_low_joules_total{" + package), 3.0);
    EXPECT_GE(page.value("viridian_energy_high_joules_total{" + package), 3.0);
    EXPECT_EQ(page.value(R"(viridian_meter_up{meter="powercap"})"), 1.0);
    EXPECT_TRUE(page.has("viridian_build_info{version=\""));
}

TEST(Metrics, NoCounterGoesBack) {
    const Page page;
    page.script.package(1'000 + 50'000'000);
    const auto all = [&] {
        return std::array{page.value("viridian_energy_low_joules_total{" + package),
                          page.value("viridian_energy_joules_total{" + package),
                          page.value("viridian_energy_high_joules_total{" + package)};
    };
    auto before = all();
    for (int i = 0; i < 20; ++i) {  // the meter stands still while time passes
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
        const auto now = all();
        for (std::size_t end = 0; end < now.size(); ++end) EXPECT_GE(now[end], before[end]) << end;
        before = now;
    }
}

TEST(Metrics, ASessionHasItsJoulesAndStaysForAWhileAfterItsEnd) {
    Page page({}, {.keep_ended = Seconds(0.05)});
    page.script.package(1'000 + 1'000'000);
    const auto started = page.monitor.start({.name = "train \"big\""});
    page.script.package(1'000 + 3'500'000);
    const std::string labels = R"({session="train \"big\"",number="1")";
    EXPECT_EQ(page.value("viridian_session_energy_joules_total" + labels + "," + package), 2.5);
    EXPECT_EQ(page.value("viridian_session_epochs_total" + labels + "}"), 0.0);
    ASSERT_TRUE(page.monitor.read(started->session).ok());
    ASSERT_TRUE(page.monitor.read(started->session, true).ok());  // a peek ends no epoch
    EXPECT_EQ(page.value("viridian_session_epochs_total" + labels + "}"), 1.0);
    page.script.package(1'000 + 4'000'000);
    ASSERT_TRUE(page.monitor.stop(started->session).ok());
    EXPECT_EQ(page.value("viridian_session_energy_joules_total" + labels + "," + package), 3.0);
    EXPECT_EQ(page.value("viridian_session_epochs_total" + labels + "}"), 2.0);
    EXPECT_GT(page.value("viridian_session_seconds_total" + labels + "}"), 0.0);
    EXPECT_EQ(page.value("viridian_sessions"), 0.0);
    EXPECT_FALSE(page.has(started->session));  // who knows the id may end a session
    page.script.package(1'000 + 9'000'000);
    EXPECT_EQ(page.value("viridian_session_energy_joules_total" + labels + "," + package), 3.0);
    meter::tests::until([&] {
        page.monitor.expire();
        return !page.has("viridian_session_energy");
    });
}

TEST(Metrics, ContainersShareTheEnergyOfTheProcessors) {
    const std::string id(64, 'c'), group = "sys/fs/cgroup/system.slice/docker-" + id + ".scope/cpu.stat";
    const meter::tests::FakeTree tree;
    const auto jiffies = [&](int busy, int idle) {
        tree.write("proc/stat",
                   fmt::format("cpu  {0} 0 0 {1} 0 0 0\ncpu0 {0} 0 0 {1} 0 0 0\nintr 1\n", busy, idle));
    };
    TotalsOptions options{.containers = true, .root = tree.root()};
    {
        Page without;
        const auto refused = RunningTotals::open(without.monitor, options);
        ASSERT_FALSE(refused.ok());
        EXPECT_NE(refused.error().text().find("without --containers"), std::string::npos);
        EXPECT_FALSE(without.has("viridian_container"));
    }
    jiffies(1000, 1000);
    tree.write("sys/fs/cgroup/cgroup.controllers", "cpu\n");
    tree.write(group, "usage_usec 5000000\n");
    const Page page(options);
    jiffies(1400, 1600);
    tree.write(group, "usage_usec 6000000\n");  // 1 s of 4 s busy
    page.script.package(1'000 + 8'000'000);
    const std::string labels = "{container_id=\"" + id + "\",pod_uid=\"\"",
                      all = labels + ",provenance=\"estimated:cpu-share of powercap\"}";
    EXPECT_DOUBLE_EQ(page.value("viridian_container_energy_joules_total" + all), 2.0);
    EXPECT_DOUBLE_EQ(page.value("viridian_container_energy_low_joules_total" + all), 8.0 * 0.1 / 2);
    EXPECT_DOUBLE_EQ(page.value("viridian_container_energy_high_joules_total" + all), 4.0);
    EXPECT_DOUBLE_EQ(page.value("viridian_container_cpu_seconds_total" + labels + "}"), 1.0);
}

TEST(Metrics, GramsAreThoseOfTheFileAndUnknownWhereItSaysNothing) {
    EXPECT_FALSE(Page().has("carbon"));
    const auto with = [](const std::string& rows) {
        return TotalsOptions{.carbon = *meter::CarbonFactors::parse(
                                 "# pue 1.5\ntime,gco2e_per_kwh,source\n" + rows, "grid.csv")};
    };
    const Page page(with(",360,a \"contract\"\n"));
    page.script.package(1'000 + 4'000'000);
    const std::string labels = R"({provenance="measured:powercap"})";
    EXPECT_DOUBLE_EQ(page.value("viridian_carbon_grams_total" + labels), 4.0 * 1e-4 * 1.5);
    EXPECT_DOUBLE_EQ(page.value("viridian_carbon_high_grams_total" + labels), 4.0 * 1e-4 * 1.5);
    EXPECT_EQ(page.value("viridian_carbon_unknown_joules_total"), 0.0);
    EXPECT_DOUBLE_EQ(page.value(R"(viridian_carbon_intensity_grams_per_joule{source="a \"contract\""})"),
                     1e-4);
    EXPECT_EQ(page.value("viridian_power_usage_effectiveness_ratio"), 1.5);

    const Page old(with("2020-01-01T00:00:00Z,300,x\n2020-01-01T01:00:00Z,300,x\n"));
    old.script.package(1'000 + 4'000'000);
    EXPECT_EQ(old.value("viridian_carbon_grams_total" + labels), 0.0);
    EXPECT_EQ(old.value("viridian_carbon_unknown_joules_total"), 4.0);
    EXPECT_FALSE(old.has("viridian_carbon_intensity"));
}

}  // namespace
}  // namespace viridian::serve
