#include "viridian/meter/meters/proc_stat.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace viridian::meter {

Result<void> parse_cpu_times(std::string_view text, CpuTimes& times) {
    std::fill(times.busy.begin(), times.busy.end(), 0);
    std::fill(times.idle.begin(), times.idle.end(), 0);
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
    return {};
}

Result<CpuTimesFile> CpuTimesFile::open(const Path& root) {
    VIRIDIAN_TRY(KernelFile file, KernelFile::open(root / "proc/stat"));
    return CpuTimesFile(std::move(file));
}

Result<void> CpuTimesFile::read(CpuTimes& times) {
    if (text_.empty()) text_.resize(8192);
    while (true) {
        VIRIDIAN_TRY(const std::size_t size, file_.read(text_));
        const std::string_view text(text_.data(), size);
        // The CPU lines come first, then "intr": all of the former are needed.
        if (size < text_.size() || text.find("\nintr") != std::string_view::npos)
            return parse_cpu_times(text, times);
        text_.resize(2 * text_.size());
    }
}

Result<CpuTimes> read_cpu_times(const Path& root) {
    VIRIDIAN_TRY(CpuTimesFile file, CpuTimesFile::open(root));
    CpuTimes times;
    VIRIDIAN_TRY(file.read(times));
    return times;
}

std::optional<int> package_of(const Path& root, int cpu) {
    const std::string text =
        first_line(root / fmt::format("sys/devices/system/cpu/cpu{}/topology/physical_package_id", cpu));
    int package = 0;
    const auto fault = std::from_chars(text.data(), text.data() + text.size(), package).ec;
    return fault == std::errc{} && package >= 0 ? std::optional(package) : std::nullopt;
}

std::vector<int> cpu_packages(const Path& root, std::size_t cpus) {
    std::vector<int> packages;
    for (std::size_t cpu = 0; cpu < cpus; ++cpu)
        packages.push_back(package_of(root, static_cast<int>(cpu)).value_or(0));
    return packages;
}

std::int64_t jiffies_per_second() { return sysconf(_SC_CLK_TCK); }

}  // namespace viridian::meter
