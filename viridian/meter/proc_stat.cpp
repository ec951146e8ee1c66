#include "viridian/meter/proc_stat.hpp"

#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

#include "viridian/meter/read_number.hpp"

namespace viridian::meter {

Result<CpuTimes> parse_cpu_times(std::string_view text) {
    CpuTimes times;
    while (text.starts_with("cpu")) {
        const std::size_t line_end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(3, line_end - 3);
        text.remove_prefix(std::min(line_end + 1, text.size()));
        if (line.empty() || line[0] == ' ') continue;  // the sum of all
        std::size_t cpu = 0;
        const char* at = line.data();
        const char* const end = line.data() + line.size();
        at = std::from_chars(at, end, cpu).ptr;
        std::array<std::int64_t, 7> ticks{};  // user nice system idle iowait irq softirq
        std::size_t found = 0;
        for (; found < ticks.size(); ++found) {
            while (at != end && *at == ' ') ++at;
            const auto [next, fault] = std::from_chars(at, end, ticks[found]);
            if (fault != std::errc{}) break;
            at = next;
        }
        if (found < 4 || cpu > 1'000'000)
            return fail(ErrorCode::malformed, "run `viridian doctor`",
                        "/proc/stat has a line that is not CPU times: `cpu{}`", line);
        if (times.busy.size() <= cpu) {
            times.busy.resize(cpu + 1);
            times.idle.resize(cpu + 1);
        }
        times.busy[cpu] = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6];
        times.idle[cpu] = ticks[3] + ticks[4];
    }
    if (times.busy.empty())
        return fail(ErrorCode::malformed, "run `viridian doctor`", "/proc/stat has no CPU times");
    return times;
}

Result<CpuTimes> read_cpu_times(const Path& root) {
    std::ifstream file(root / "proc/stat");
    if (!file)
        return fail(ErrorCode::file_not_found, "mount procfs", "`{}` cannot be opened",
                    (root / "proc/stat").string());
    std::array<char, 1 << 16> text;  // the CPU lines come first: no need for the rest
    file.read(text.data(), text.size());
    return parse_cpu_times({text.data(), static_cast<std::size_t>(file.gcount())});
}

std::vector<int> cpu_packages(const Path& root, std::size_t cpus) {
    std::vector<int> packages(cpus, 0);
    for (std::size_t i = 0; i < cpus; ++i) {
        const std::string text =
            first_line(root / fmt::format("sys/devices/system/cpu/cpu{}/topology/physical_package_id", i));
        int package = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), package).ec == std::errc{} && package > 0)
            packages[i] = package;
    }
    return packages;
}

std::int64_t jiffies_per_second() { return sysconf(_SC_CLK_TCK); }

}  // namespace viridian::meter
