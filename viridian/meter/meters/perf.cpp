// The meter of RAPL through perf events (arch/x86/events/rapl.c): power/energy-{pkg,ram,cores,gpu,psys}/, one
// counter per package, opened on the CPU that the kernel names in `cpumask`. It counts in units of `scale`
// joules (2^-32); the kernel undoes the hardware's wraps. Needs perf_event_paranoid <= 0 or CAP_PERFMON.
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/proc_stat.hpp"
#include "viridian/meter/meters/read_number.hpp"

namespace viridian::meter {
namespace {

struct Event {
    std::uint64_t config = 0;
    double microjoules = 0.0;  // a count
    Channel channel;
    int cpu = 0;
};

constexpr std::array<std::pair<std::string_view, Scope>, 5> names = {{{"energy-pkg", Scope::package},
                                                                      {"energy-ram", Scope::dram},
                                                                      {"energy-cores", Scope::core},
                                                                      {"energy-gpu", Scope::uncore},
                                                                      {"energy-psys", Scope::psys}}};

Path folder(const MeterPaths& paths) { return paths.root / "sys/bus/event_source/devices/power"; }

// "0,18" or "0-1": the CPUs to open on, one per package.
std::vector<int> parse_mask(std::string_view text) {
    std::vector<int> cpus;
    while (!text.empty()) {
        int first = 0;
        const auto [at, fault] = std::from_chars(text.data(), text.data() + text.size(), first);
        if (fault != std::errc{}) break;
        text.remove_prefix(static_cast<std::size_t>(at - text.data()));
        int last = first;
        if (text.starts_with('-')) {
            text.remove_prefix(1);
            const auto [next, bad] = std::from_chars(text.data(), text.data() + text.size(), last);
            if (bad != std::errc{}) break;
            text.remove_prefix(static_cast<std::size_t>(next - text.data()));
        }
        for (int cpu = first; cpu <= last && cpus.size() < 4096; ++cpu) cpus.push_back(cpu);
        if (text.starts_with(',')) text.remove_prefix(1);
    }
    return cpus;
}

std::vector<Event> find_perf(const MeterPaths& paths) {
    std::vector<Event> events;
    const std::vector<int> cpus = parse_mask(first_line(folder(paths) / "cpumask"));
    int most = 0;
    for (const int cpu : cpus) most = std::max(most, cpu);
    const std::vector<int> packages = cpu_packages(paths.root, static_cast<std::size_t>(most) + 1);
    for (const auto& [name, scope] : names) {
        const std::string code = first_line(folder(paths) / "events" / name);  // "event=0x02"
        if (!code.starts_with("event=0x")) continue;
        std::uint64_t config = 0;
        std::from_chars(code.data() + 8, code.data() + code.size(), config, 16);
        const double scale = std::strtod(
            first_line(folder(paths) / "events" / (std::string(name) + ".scale")).c_str(), nullptr);
        if (!(scale > 0.0)) continue;
        for (const int cpu : cpus)
            events.push_back({config,
                              scale * 1e6,
                              {"perf", fmt::format("cpu:{}", packages[static_cast<std::size_t>(cpu)]), scope,
                               Kind::energy_uj, 0},
                              cpu});
    }
    return events;
}

Result<std::shared_ptr<int>> open_event(unsigned type, const Event& event) {
    perf_event_attr attributes{};
    attributes.size = sizeof(attributes);
    attributes.type = type;
    attributes.config = event.config;
    const long file = ::syscall(SYS_perf_event_open, &attributes, -1, event.cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (file >= 0)
        return std::shared_ptr<int>(new int(static_cast<int>(file)), [](int* handle) {
            ::close(*handle);
            delete handle;
        });
    if (errno == EACCES || errno == EPERM)
        return fail(ErrorCode::no_permission, "sudo sysctl kernel.perf_event_paranoid=0",
                    "perf's energy events are not open to this user");
    return fail(ErrorCode::no_device, "run `viridian doctor`", "perf refuses its energy events: {}",
                std::strerror(errno));
}

Result<std::vector<std::shared_ptr<int>>> open_all_events(const MeterPaths& paths,
                                                          const std::vector<Event>& events) {
    if (events.empty())
        return fail(ErrorCode::no_device, "run `viridian doctor`",
                    "this kernel or CPU has no RAPL perf events (a virtual machine hides them)");
    const std::string type_text = first_line(folder(paths) / "type");
    unsigned type = 0;
    std::from_chars(type_text.data(), type_text.data() + type_text.size(), type);
    std::vector<std::shared_ptr<int>> files;
    for (const Event& event : events) {
        VIRIDIAN_TRY(std::shared_ptr<int> file, open_event(type, event));
        files.push_back(std::move(file));
    }
    return files;
}

Result<std::vector<std::uint64_t>> counts_of(const std::vector<std::shared_ptr<int>>& files) {
    std::vector<std::uint64_t> counts(files.size());
    for (std::size_t i = 0; i < files.size(); ++i)
        if (::read(*files[i], &counts[i], sizeof counts[i]) != sizeof counts[i])
            return fail(ErrorCode::device_failed, "run `viridian doctor`",
                        "a perf energy counter stopped answering");
    return counts;
}

// Counters that work are renewed every millisecond. Some hypervisors show counters that never move.
Result<std::vector<std::shared_ptr<int>>> open_moving_events(const MeterPaths& paths,
                                                             const std::vector<Event>& events) {
    constexpr int looks = 50;
    constexpr std::chrono::milliseconds between{1};
    VIRIDIAN_TRY(std::vector<std::shared_ptr<int>> files, open_all_events(paths, events));
    VIRIDIAN_TRY(const std::vector<std::uint64_t> first, counts_of(files));
    for (int look = 0; look < looks; ++look) {
        std::this_thread::sleep_for(between);
        VIRIDIAN_TRY(const std::vector<std::uint64_t> now, counts_of(files));
        if (now != first) return files;
    }
    return fail(ErrorCode::no_device, "run `viridian doctor`",
                "the RAPL perf events of this machine do not count (a hypervisor shows them all the same)");
}

Diagnosis probe_perf(const MeterPaths& paths) {
    const std::vector<Event> events = find_perf(paths);
    const auto files = open_moving_events(paths, events);
    if (!files.ok())
        return {"perf", false, files.error().message,
                files.error().code == ErrorCode::no_permission ? files.error().next_step : ""};
    return {"perf", true, fmt::format("{} RAPL counters, the kernel undoes wraps", events.size()), ""};
}

// Errors: no_device, no_permission.
Result<Meter> open_perf(const MeterPaths& paths) {
    const std::vector<Event> events = find_perf(paths);
    VIRIDIAN_TRY(const std::vector<std::shared_ptr<int>> files, open_moving_events(paths, events));
    Meter meter{"perf", {}, {}};
    std::vector<double> scales;
    for (const Event& event : events) {
        meter.channels.push_back(event.channel);
        scales.push_back(event.microjoules);
    }
    meter.read = [files, scales](std::vector<Sample>& samples) -> Result<void> {
        VIRIDIAN_TRY(const std::vector<std::uint64_t> counts, counts_of(files));
        const Stamp now = stamp_now();
        for (std::uint32_t i = 0; i < counts.size(); ++i)
            samples.push_back({i, now.time_ns, now.monotonic_ns,
                               static_cast<std::int64_t>(static_cast<long double>(counts[i]) * scales[i]),
                               0});
        return {};
    };
    return meter;
}

}  // namespace

extern const Row perf_meter = {"perf", probe_perf, open_perf};

}  // namespace viridian::meter
