// The meter of Linux hwmon (Documentation/hwmon/sysfs-interface.rst): powerN_average with its interval,
// powerN_input (uW), energyN_input (uJ), of drivers known to mean a whole device: amdgpu, i915, xe (GPUs),
// and power supplies' or boards' sensors are left to the user (their scope is unknown). AMD and Intel GPUs
// are devices "gpu:<n>" in the order of their folders.
#include <algorithm>
#include <charconv>

#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/read_each.hpp"
#include "viridian/meter/meters/read_number.hpp"

namespace viridian::meter {
namespace {

struct Sensor {
    Path file;
    Channel channel;
    std::int64_t window_ns = 0;
};

std::vector<Path> sorted_folders(const Path& folder) {
    std::vector<Path> entries;
    std::error_code fault;
    for (std::filesystem::directory_iterator it(folder, fault), end; !fault && it != end; it.increment(fault))
        entries.push_back(it->path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

std::int64_t milliseconds_in(const Path& file) {
    const std::string text = first_line(file);
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::clamp<std::int64_t>(value, 0, 3'600'000);
}

std::vector<Sensor> find_hwmon(const MeterPaths& paths) {
    std::vector<Sensor> found;
    int gpu = 0;
    std::error_code ignored;
    for (const Path& folder : sorted_folders(paths.root / "sys/class/hwmon")) {
        const std::string driver = first_line(folder / "name");
        if (driver != "amdgpu" && driver != "i915" && driver != "xe") continue;
        if (std::ranges::count(paths.covered_drivers, driver) > 0) continue;
        const std::string device = fmt::format("gpu:{}", gpu++);
        const auto add = [&](const char* file, Kind kind, std::int64_t window_ns) {
            if (std::filesystem::exists(folder / file, ignored))
                found.push_back({folder / file, {"hwmon-" + driver, device, Scope::gpu, kind, 0}, window_ns});
        };
        add("energy1_input", Kind::energy_uj, 0);
        add("power1_average", Kind::average_uw,
            1'000'000 * milliseconds_in(folder / "power1_average_interval"));
        add("power1_input", Kind::power_uw, 0);
    }
    return found;
}

Diagnosis probe_hwmon(const MeterPaths& paths) {
    const std::vector<Sensor> found = find_hwmon(paths);
    if (found.empty()) return {"hwmon", false, "no AMD or Intel GPU reports power through hwmon", ""};
    for (const Sensor& entry : found)
        if (const auto file = NumberFile::open(entry.file); !file.ok())
            return {"hwmon", false, file.error().message, file.error().next_step};
    return {"hwmon", true, fmt::format("{} channels of {}", found.size(), found.front().channel.meter), ""};
}

// Errors: no_device, no_permission.
Result<Meter> open_hwmon(const MeterPaths& paths) {
    const std::vector<Sensor> found = find_hwmon(paths);
    if (found.empty())
        return fail(ErrorCode::no_device, "run `viridian doctor`", "no GPU here reports power through hwmon");
    Meter meter{"hwmon", {}, {}};
    std::vector<NumberFile> files;
    std::vector<std::int64_t> windows;
    for (const Sensor& entry : found) {
        VIRIDIAN_TRY(NumberFile file, NumberFile::open(entry.file));
        files.push_back(std::move(file));
        windows.push_back(entry.window_ns);
        meter.channels.push_back(entry.channel);
    }
    meter.update = Seconds(0.01);
    meter.read = [files, windows](std::vector<Sample>& samples) -> Result<void> {
        return read_each(
            static_cast<std::uint32_t>(files.size()), samples,
            [&](std::uint32_t i) { return files[i].read(); }, windows);
    };
    return meter;
}

}  // namespace

extern const Row hwmon_meter = {"hwmon", probe_hwmon, open_hwmon};

}  // namespace viridian::meter
