// Power logs of other programs. The samples were written for these tests after the formats' documentation.
#include "viridian/meter/foreign/foreign_log.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <ctime>

namespace viridian::meter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::int64_t noon_unix_seconds = 1'795'521'600;  // 2026-11-24 12:00:00 UTC

class ForeignLog : public testing::Test {
  protected:
    ForeignLog() {
        ::setenv("TZ", "UTC", 1);
        ::tzset();
    }
    static PowerLog read(std::string_view text, std::optional<std::int64_t> offset = std::nullopt) {
        auto log = parse_power_log(text, "log", offset);
        EXPECT_TRUE(log.ok()) << (log.ok() ? "" : log.error().text());
        return log.ok() ? std::move(log).value() : PowerLog{};
    }
    static std::string refused(std::string_view text) {
        const auto log = parse_power_log(text, "log");
        EXPECT_FALSE(log.ok());
        return log.ok() ? "" : log.error().text();
    }
    // "cuda:0 gpu average_uw: 0.5=61.35 0.6=62" : seconds after noon, watts or joules.
    static std::vector<std::string> lines(const PowerLog& log) {
        std::vector<std::string> out;
        for (const Series& series : log.series) {
            std::string line = fmt::format("{} {} {}:", series.channel.device, name_of(series.channel.scope),
                                           name_of(series.channel.kind));
            for (const Reading& reading : series.readings) {
                line += fmt::format(
                    " {:.6g}={:.6g}",
                    1e-9 * static_cast<double>(reading.time_ns - noon_unix_seconds * nanoseconds_per_second),
                    1e-6 * static_cast<double>(reading.value));
                if (reading.window_ns > 0)
                    line += fmt::format("/{:.6g}", 1e-9 * static_cast<double>(reading.window_ns));
            }
            out.push_back(line);
            EXPECT_TRUE(series.channel.logged);
        }
        return out;
    }
    static std::vector<std::string> warnings(const PowerLog& log) {
        std::vector<std::string> out;
        for (const Notice& notice : log.warnings)
            out.push_back(fmt::format("{} x{}", notice.what, notice.count));
        return out;
    }
};

TEST_F(ForeignLog, NvidiaSmi) {
    const PowerLog log = read(
        "timestamp, index, name, power.draw [W], power.draw.instant [W], temperature.gpu\n"
        "2026/11/24 12:00:00.500, 0, NVIDIA H100, 61.25 W, 60.00 W, 31\n"
        "2026/11/24 12:00:00.502, 1, NVIDIA H100, 70.00 W, [N/A], 31\n"
        "2026/11/24 12:00:01.000, 0, NVIDIA H100, 350.50 W, 400.00 W, 35\n"
        "2026/11/24 12:00:01.0");
    EXPECT_THAT(lines(log),
                ElementsAre("cuda:0 gpu average_uw: 0.5=61.25 1=350.5", "cuda:0 gpu power_uw: 0.5=60 1=400",
                            "cuda:1 gpu average_uw: 0.502=70"));
    EXPECT_THAT(warnings(log), ElementsAre("powers that the GPU does not tell were left out x1"));
    EXPECT_EQ(log.series[0].channel.provenance().text(), "logged:nvidia-smi");
    const PowerLog unnumbered = read(
        "timestamp, uuid, power.draw\n2026/11/24 12:00:00.000, GPU-b, 61\n2026/11/24 12:00:00.001, GPU-a, "
        "62\n"
        "2026/11/24 12:00:01.000, GPU-b, 63\n");
    EXPECT_THAT(lines(unnumbered),
                ElementsAre("cuda:0 gpu average_uw: 0=61 1=63", "cuda:1 gpu average_uw: 0.001=62"));
    EXPECT_THAT(
        refused("timestamp, power.draw [W]\n2026/11/24 12:00:00.5, 0, 61 W\n"),
        HasSubstr("`log` is not a whole log of nvidia-smi: line 2 does not have the header's fields"));
    EXPECT_THAT(refused("timestamp, power.draw [W]\n"), HasSubstr("without any reading"));
}

TEST_F(ForeignLog, NvidiaSmiDmon) {
    const PowerLog log = read(
        "#Date       Time        gpu    pwr  gtemp  mtemp     sm \n"
        "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      % \n"
        " 20261124   12:00:00      0     61     31      -      0 \n"
        " 20261124   12:00:00      1      -     31      -      0 \n\n"
        " 20261124   12:00:01      0    350     35      -     98 \n"
        "#Date       Time        gpu    pwr  gtemp  mtemp     sm \n"
        "#YYYYMMDD   HH:MM:SS    Idx      W      C      C      % \n"
        " 20261124   12:00:02      1    120     35      -     50 \n"
        " 20261124   12:0");
    EXPECT_THAT(lines(log), ElementsAre("cuda:0 gpu average_uw: 0=61 1=350", "cuda:1 gpu average_uw: 2=120"));
    EXPECT_THAT(warnings(log), ElementsAre("powers that the GPU does not tell were left out x1"));
    EXPECT_EQ(log.series[0].channel.provenance().text(), "logged:nvidia-smi");
    EXPECT_THAT(refused("# gpu    pwr  gtemp\n# Idx      W      C\n    0     61     31\n"),
                HasSubstr("log it by `nvidia-smi dmon -s p -o DT`"));
    EXPECT_THAT(refused("#Date Time gpu pwr\n20261124 12:00:00 0 61 7\n"),
                HasSubstr("line 2 has other columns than the header"));
    EXPECT_THAT(refused("#Date Time gpu pwr\n20261324 12:00:00 0 61\n"),
                HasSubstr("line 2 has other columns"));
}

TEST_F(ForeignLog, Dcgmi) {
    const PowerLog log = read(
        "1795521600.000100 #Entity   POWER    TOTEC\n"
        "1795521600.000100 ID        W        mJ\n"
        "1795521600.100000 GPU 0     61.250   1000000\n"
        "1795521600.100000 GPU 1     N/A      2000000\n"
        "1795521600.200000 GPU 0     62.000   1006200\n");
    EXPECT_THAT(lines(log),
                ElementsAre("cuda:0 gpu average_uw: 0.1=61.25 0.2=62",
                            "cuda:0 gpu energy_uj: 0.1=1000 0.2=1006.2", "cuda:1 gpu energy_uj: 0.1=2000"));
    EXPECT_THAT(refused("#Entity   POWER\nID   W\nGPU 0   61.250\n"), HasSubstr("ts %.s"));
    EXPECT_THAT(refused("1795521600.1 # Entity GPUTL\n1795521600.1 GPU 0 61\n"),
                HasSubstr("neither POWER nor TOTEC"));
}

TEST_F(ForeignLog, PerfStat) {
    const PowerLog log = read(
        "# started on Tue Nov 24 12:00:00 2026\n\n"
        "     0.500,10.00,Joules,power/energy-pkg/,500100200,100.00,,\n"
        "     0.500,<not counted>,Joules,power/energy-ram/,0,0.00,,\n"
        "     0.500,1200,,cycles,500100200,100.00,,\n"
        "     1.000,12.50,Joules,power/energy-pkg/,500100200,100.00,,\n"
        "     1.000,2.00,Joules,power/energy-ram/,500100200,100.00,,\n");
    EXPECT_THAT(lines(log),
                ElementsAre("cpu:0 package energy_uj: 0=0 0.5=10 1=22.5", "cpu:0 dram energy_uj: 0.5=0 1=2"));
    EXPECT_THAT(warnings(log),
                ElementsAre("the start of perf is known to the second only; --power-offset corrects it x1",
                            "intervals that were not counted were left out x1"));
    const PowerLog sockets = read(
        "1.0,S0,1,10,Joules,power/energy-pkg/,1,100.00,,\n1.0,S1,1,20,Joules,power/energy-pkg/,1,100.00,,\n",
        noon_unix_seconds * nanoseconds_per_second);
    EXPECT_THAT(lines(sockets),
                ElementsAre("cpu:0 package energy_uj: 0=0 1=10", "cpu:1 package energy_uj: 0=0 1=20"));
    EXPECT_THAT(refused("1.0,10,Joules,power/energy-pkg/,1,100.00,,\n"), HasSubstr("give --power-offset NS"));
    EXPECT_THAT(refused("893.33,Joules,power/energy-pkg/,20005559241,100.00,,\n"),
                HasSubstr("perf stat -I 100"));
}

TEST_F(ForeignLog, PerfStatForPeopleAndAsJson) {
    const std::vector<std::string> expected = {"cpu:0 package energy_uj: 0=0 0.5=10.25 1=1244.75",
                                               "cpu:0 dram energy_uj: 0=0 0.5=1.5"};
    EXPECT_EQ(lines(read("# started on Tue Nov 24 12:00:00 2026\n\n"
                         "#           time             counts unit events\n"
                         "     0.500000000              10.25 Joules power/energy-pkg/                 \n"
                         "     0.500000000               1.50 Joules power/energy-ram/                 \n"
                         "     0.500000000      1,200,345,678      cycles                              \n"
                         "     1.000000000           1,234.50 Joules power/energy-pkg/                 \n")),
              expected);
    EXPECT_EQ(lines(read("# started on Tue Nov 24 12:00:00 2026\n"
                         "0.500;10.25;Joules;power/energy-pkg/;500;100.00;;\n"
                         "0.500;1.50;Joules;power/energy-ram/;500;100.00;;\n"
                         "1.000;1234.50;Joules;power/energy-pkg/;500;100.00;;\n")),
              expected);
    EXPECT_EQ(
        lines(read(
            R"({"interval" : 0.5, "counter-value" : "10.25", "unit" : "Joules", "event" : "power/energy-pkg/", "event-runtime" : 1, "pcnt-running" : 100.00})"
            "\n"
            R"({"interval" : 0.5, "counter-value" : "1.50", "unit" : "Joules", "event" : "power/energy-ram/"})"
            "\n"
            R"({"interval" : 1.0, "counter-value" : "1234.50", "unit" : "Joules", "event" : "power/energy-pkg/"})"
            "\n",
            noon_unix_seconds * nanoseconds_per_second)),
        expected);
    const PowerLog sockets = read(
        R"({"interval" : 1.0, "socket" : "S1", "aggregate-number" : 1, "counter-value" : "20.0", "unit" : "Joules", "event" : "power/energy-pkg/"})",
        noon_unix_seconds * nanoseconds_per_second);
    EXPECT_THAT(lines(sockets), ElementsAre("cpu:1 package energy_uj: 0=0 1=20"));
    EXPECT_THAT(
        refused("\n Performance counter stats for 'system wide':\n\n"
                "            893.33 Joules power/energy-pkg/\n\n      20.005559241 seconds time elapsed\n"),
        HasSubstr("perf stat -I 100"));
}

TEST_F(ForeignLog, Turbostat) {
    const PowerLog log = read(
        "turbostat version 2023.03.17\n"
        "Time_Of_Day_Seconds\tPackage\tCore\tCPU\tPkgWatt\tRAMWatt\n"
        "1795521600.500000\t-\t-\t-\t30.00\t3.00\n"
        "1795521600.499000\t0\t0\t0\t10.00\t1.00\n"
        "1795521600.499100\t0\t1\t1\n"
        "1795521600.499200\t1\t0\t2\t20.00\t2.00\n"
        "1795521601.499000\t0\t0\t0\t11.00\t1.50\n");
    EXPECT_THAT(lines(log),
                ElementsAre("cpu:0 package average_uw: 0.499=10 1.499=11/1",
                            "cpu:0 dram average_uw: 0.499=1 1.499=1.5/1",
                            "cpu:1 package average_uw: 0.4992=20", "cpu:1 dram average_uw: 0.4992=2"));
    const PowerLog joules = read(
        "Time_Of_Day_Seconds Pkg_J\n1795521600.0 5.00\n1795521601.0 6.00\nTime_Of_Day_Seconds "
        "Pkg_J\n1795521602.0 7.00\n");
    EXPECT_THAT(lines(joules), ElementsAre("cpu:0 package energy_uj: 0=0 1=6 2=13"));
    EXPECT_THAT(refused("Package\tPkgWatt\n-\t30.00\n"), HasSubstr("--show Time_Of_Day_Seconds"));
}

TEST_F(ForeignLog, Ipmitool) {
    const auto block = [](int watts, int at, const char* state) {
        return fmt::format(
            "\n    Instantaneous power reading:                   {} Watts\n"
            "    Minimum during sampling period:                 18 Watts\n"
            "    Average power reading over sample period:      218 Watts\n"
            "    IPMI timestamp:                           Tue Nov 24 12:00:{:02} 2026\n"
            "    Sampling period:                          00000001 Seconds.\n"
            "    Power reading state is:                   {}\n\n",
            watts, at, state);
    };
    const PowerLog log =
        read(block(220, 0, "activated") + block(230, 1, "activated") + block(0, 2, "deactivated"));
    EXPECT_THAT(lines(log), ElementsAre("cpu:0 psys power_uw: 0=220 1=230"));
    EXPECT_THAT(warnings(log),
                ElementsAre("readings of a controller that does not measure were left out x1"));
}

TEST_F(ForeignLog, FreeIpmi) {
    const auto block = [](int watts, int at, const char* state) {
        return fmt::format(
            "Current Power                        : {} Watts\n"
            "Minimum Power over sampling duration : 148 watts\n"
            "Maximum Power over sampling duration : 416 watts\n"
            "Average Power over sampling duration : 200 watts\n"
            "Time Stamp                           : 11/24/2026 - 12:00:{:02}\n"
            "Statistics reporting time period     : 1000 milliseconds\n"
            "Power Measurement                    : {}\n\n",
            watts, at, state);
    };
    const PowerLog log =
        read(block(220, 0, "Active") + block(230, 1, "Active") + block(0, 2, "Not Available"));
    EXPECT_THAT(lines(log), ElementsAre("cpu:0 psys power_uw: 0=220 1=230"));
    EXPECT_THAT(warnings(log),
                ElementsAre("readings of a controller that does not measure were left out x1"));
    EXPECT_THAT(refused("Current Power : 164 Watts\nTime Stamp : soon\nPower Measurement : Active\n"),
                HasSubstr("line 2 has no date"));
}

TEST_F(ForeignLog, Zeus) {
    const PowerLog log = read(
        "start_time,window_name,elapsed_time,gpu0_energy,gpu3_energy\n"
        "1795521600.25,step,0.5,10.0,20.0\n"
        "1795521600.0,epoch,1.0,25.0,45.0\n"
        "1795521602.0,epoch,1.0,30.0,50.0\n");
    EXPECT_THAT(lines(log), ElementsAre("cuda:0 gpu energy_uj: 0=0 1=25 2=25 3=55",
                                        "cuda:3 gpu energy_uj: 0=0 1=45 2=45 3=95"));
    EXPECT_THAT(warnings(log), ElementsAre("stretches of time that overlap others were left out x2"));
}

TEST_F(ForeignLog, CodeCarbon) {
    const PowerLog log = read(
        "timestamp,project_name,run_id,duration,cpu_energy,gpu_energy,ram_energy,cpu_model\n"
        "2026-11-24T12:00:10,train,a,10.0,0.001,0.0,0.0001,\"Intel(R) Xeon, 2 sockets\"\n"
        "2026-11-24T12:00:20,train,a,20.0,0.003,0.0,0.0002,\"Intel(R) Xeon, 2 sockets\"\n");
    EXPECT_THAT(lines(log), ElementsAre("cpu:0 package energy_uj: 0=0 10=3600 20=10800",
                                        "cpu:0 dram energy_uj: 0=0 10=360 20=720"));
}

TEST_F(ForeignLog, Prometheus) {
    const PowerLog log = read(
        R"({"status":"success","data":{"resultType":"matrix","result":[)"
        R"({"metric":{"__name__":"DCGM_FI_DEV_POWER_USAGE","gpu":"1","job":"dcgm"},"values":[[1795521600,"61.5"],[1795521601.5,"NaN"],[1795521602,"62"]]},)"
        R"({"metric":{"__name__":"node_rapl_package_joules_total","index":"0"},"values":[[1795521600,"1000.5"],[1795521615,"1600"]]},)"
        R"({"metric":{"__name__":"viridian_joules_total","device":"cuda:2","scope":"gpu"},"values":[[1795521600,"1"]]},)"
        R"({"metric":{"__name__":"up"},"values":[[1795521600,"1"]]}]}})");
    EXPECT_THAT(lines(log),
                ElementsAre("cuda:1 gpu average_uw: 0=61.5 2=62", "cpu:0 package energy_uj: 0=1000.5 15=1600",
                            "cuda:2 gpu energy_uj: 0=1"));
    EXPECT_THAT(warnings(log), ElementsAre("values that are no numbers were left out x1",
                                           "series whose metric is no power or energy were left out x1"));
    EXPECT_THAT(refused(R"({"data":{"resultType":"matrix","result":7}})"),
                HasSubstr("not a whole answer of Prometheus"));
}

TEST_F(ForeignLog, PrometheusOfKeplerScaphandreAndOurs) {
    const auto matrix = [](const std::vector<std::string>& labels) {
        std::string series;
        for (const std::string& one : labels)
            series += fmt::format(
                R"({}{{"metric":{{{}}},"values":[[1795521600,"2000000"],[1795521615,"5000000"]]}})",
                series.empty() ? "" : ",", one);
        return R"({"status":"success","data":{"resultType":"matrix","result":[)" + series + "]}}";
    };
    const PowerLog log = read(matrix({
        R"("__name__":"kepler_node_cpu_joules_total","zone":"package","path":"/sys/class/powercap/intel-rapl:0")",
        R"("__name__":"kepler_node_cpu_joules_total","zone":"dram")",
        R"("__name__":"kepler_node_cpu_active_joules_total","zone":"package")",
        R"("__name__":"kepler_pod_cpu_joules_total","zone":"package","pod_name":"web-1")",
        R"("__name__":"scaph_socket_power_microwatts","socket_id":"1")",
        R"("__name__":"scaph_domain_power_microwatts","socket_id":"1","domain_name":"dram")",
        R"("__name__":"viridian_energy_joules_total","device":"cuda:2","scope":"gpu","provenance":"measured:nvml")",
        R"("__name__":"viridian_energy_low_joules_total","device":"cuda:2","scope":"gpu")",
        R"("__name__":"viridian_session_energy_joules_total","device":"cuda:2","scope":"gpu","session":"x")",
    }));
    EXPECT_THAT(lines(log),
                ElementsAre("cpu:0 package energy_uj: 0=2e+06 15=5e+06",
                            "cpu:0 dram energy_uj: 0=2e+06 15=5e+06", "cpu:1 package average_uw: 0=2 15=5",
                            "cpu:1 dram average_uw: 0=2 15=5", "cuda:2 gpu energy_uj: 0=2e+06 15=5e+06"));
    EXPECT_THAT(warnings(log), ElementsAre("series whose metric is no power or energy were left out x4"));
    EXPECT_THAT(
        refused(matrix({R"("__name__":"node_rapl_package_joules_total","index":"0","instance":"a:9100")",
                        R"("__name__":"node_rapl_package_joules_total","index":"0","instance":"b:9100")"})),
        HasSubstr("several series for cpu:0 package, which differ in `instance`. query one machine"));
}

TEST_F(ForeignLog, DatesWithoutAZoneAreLocal) {
    ::setenv("TZ", "UTC-2", 1);  // two hours east
    ::tzset();
    EXPECT_EQ(read("timestamp, power.draw\n2026/11/24 14:00:00.000, 61\n").series[0].readings[0].time_ns,
              noon_unix_seconds * nanoseconds_per_second);
    const std::string carbon = "timestamp,run_id,duration,cpu_energy\n";
    EXPECT_EQ(read(carbon + "2026-11-24T12:00:00Z,a,1,1\n").series[0].readings[1].time_ns,
              noon_unix_seconds * nanoseconds_per_second);
    EXPECT_EQ(read(carbon + "2026-11-24T13:00:00.25+01:00,a,1,1\n").series[0].readings[1].time_ns,
              noon_unix_seconds * nanoseconds_per_second + nanoseconds_per_second / 4);
    EXPECT_EQ(read(carbon + "2026-11-24T09:30:00-0230,a,1,1\n").series[0].readings[1].time_ns,
              noon_unix_seconds * nanoseconds_per_second);
    for (const std::string zone : {"+400000498", "-25:00", "+01:60", "+2147483647:00"})
        EXPECT_THAT(refused(carbon + "2026-11-24T12:00:00" + zone + ",a,1,1\n"), HasSubstr("line 2"));
}

TEST_F(ForeignLog, TheOffsetMovesEveryTimeAndDisorderIsRefused) {
    const std::string log =
        "timestamp, power.draw\n2026/11/24 12:00:01.000, 61\n2026/11/24 12:00:02.000, 61\n";
    EXPECT_THAT(lines(read(log, -nanoseconds_per_second)), ElementsAre("cuda:0 gpu average_uw: 0=61 1=61"));
    EXPECT_THAT(refused(log + "2026/11/24 12:00:00.000, 61\n"),
                HasSubstr("1 of 3 readings out of time order"));
    const std::string ours = fmt::format(
        "# Pkg_J ,Joules,power/energy-pkg/\n{}\n5,m,cpu:0,package,power_uw,7,\n", power_log_header);
    EXPECT_EQ(read(ours, 10).series[0].readings[0].time_ns, 15);
}

}  // namespace
}  // namespace viridian::meter
