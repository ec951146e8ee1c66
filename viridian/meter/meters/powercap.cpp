// The meter of Linux powercap (Documentation/power/powercap/powercap.rst): RAPL energy counters of Intel and
// AMD CPUs as files. Zones are known by their `name` file, never by their number: package-N[-die-M], core,
// uncore, dram, psys. `intel-rapl-mmio` repeats the package and is left out. Files are readable by root only
// since Linux 5.10.
#include <algorithm>
#include <charconv>

#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/read_each.hpp"
#include "viridian/meter/meters/read_number.hpp"

namespace viridian::meter {
namespace {

struct Zone {
    Path folder;
    std::string meter;
    std::string device;
    Scope scope = Scope::package;
    std::int64_t wrap_uj = 0;
};

Path zones_folder(const MeterPaths& paths) { return paths.root / "sys/class/powercap"; }

std::vector<Path> sorted_entries(const Path& folder) {
    std::vector<Path> entries;
    std::error_code fault;
    for (std::filesystem::directory_iterator it(folder, fault), end; !fault && it != end; it.increment(fault))
        entries.push_back(it->path());
    std::sort(entries.begin(), entries.end());
    return entries;
}

// A package of several dies has one counter each: "package-1-die-2" is meter "powercap-die-2" of cpu:1.
std::string meter_of(std::string_view name) {
    const std::size_t die = name.find("-die-");
    return die == std::string_view::npos || name.ends_with("-die-0")
               ? "powercap"
               : fmt::format("powercap{}", name.substr(die));
}

std::string package_of(std::string_view name) {
    name.remove_prefix(std::string_view("package-").size());
    return fmt::format("cpu:{}", name.substr(0, name.find('-')));
}

// A zone's package is its own name or its parent's: "intel-rapl:1:0" lies in "intel-rapl:1".
std::string device_of(const Path& folder, std::string_view name) {
    if (name.starts_with("package-")) return package_of(name);
    const std::string id = folder.filename().string();
    const std::string parent = id.substr(0, id.rfind(':'));
    const std::string parent_name = first_line(folder.parent_path() / parent / "name");
    return parent_name.starts_with("package-") ? package_of(parent_name) : "cpu:0";
}

std::optional<Scope> scope_of(std::string_view name) {
    if (name.starts_with("package-")) return Scope::package;
    if (name == "core" || name == "uncore" || name == "dram" || name == "psys") return scope_from(name);
    return std::nullopt;
}

std::vector<Zone> find_zones(const MeterPaths& paths) {
    std::vector<Zone> zones;
    for (const Path& folder : sorted_entries(zones_folder(paths))) {
        if (folder.filename().string().starts_with("intel-rapl-mmio")) continue;
        const std::string name = first_line(folder / "name");
        const std::optional<Scope> scope = scope_of(name);
        if (!scope) continue;
        std::int64_t wrap = 0;
        const std::string range = first_line(folder / "max_energy_range_uj");
        std::from_chars(range.data(), range.data() + range.size(), wrap);
        zones.push_back({folder, meter_of(name), device_of(folder, name), *scope, wrap});
    }
    return zones;
}

std::string permission_command(const MeterPaths& paths) {
    return fmt::format("sudo chmod -R a+r {} (until the next boot)",
                       (paths.root / "sys/devices/virtual/powercap").string());
}

Diagnosis probe_powercap(const MeterPaths& paths) {
    Diagnosis diagnosis{"powercap", false, "", ""};
    const std::vector<Zone> zones = find_zones(paths);
    if (zones.empty()) {
        std::error_code ignored;
        const bool folder = std::filesystem::exists(zones_folder(paths), ignored);
        diagnosis.finding = folder ? "no RAPL zones: the kernel module is not loaded or the CPU has none"
                                   : "this kernel has no powercap (a virtual machine, or not built in)";
        diagnosis.next_step = folder ? "sudo modprobe intel_rapl_msr" : "";
        return diagnosis;
    }
    for (const Zone& zone : zones)
        if (const auto file = NumberFile::open(zone.folder / "energy_uj"); !file.ok()) {
            diagnosis.finding = file.error().message;
            diagnosis.next_step =
                file.error().code == ErrorCode::no_permission ? permission_command(paths) : "";
            return diagnosis;
        }
    diagnosis.works = true;
    diagnosis.finding = fmt::format("{} energy counters:", zones.size());
    for (const Zone& zone : zones)
        diagnosis.finding += fmt::format(" {} {},", zone.device, name_of(zone.scope));
    diagnosis.finding.pop_back();
    return diagnosis;
}

// Errors: no_device (no zones), no_permission.
Result<Meter> open_powercap(const MeterPaths& paths) {
    const std::vector<Zone> zones = find_zones(paths);
    if (zones.empty())
        return fail(ErrorCode::no_device, "run `viridian doctor`",
                    "there are no powercap zones on this machine");
    Meter meter{"powercap", {}, {}};
    std::vector<NumberFile> files;
    for (const Zone& zone : zones) {
        Result<NumberFile> file = NumberFile::open(zone.folder / "energy_uj");
        if (!file.ok()) {
            Error error = std::move(file).error();
            if (error.code == ErrorCode::no_permission) error.next_step = permission_command(paths);
            return error;
        }
        files.push_back(std::move(*file));
        meter.channels.push_back({zone.meter, zone.device, zone.scope, Kind::energy_uj, zone.wrap_uj});
    }
    meter.read = [files = std::move(files)](std::vector<Sample>& samples) -> Result<void> {
        return read_each(static_cast<std::uint32_t>(files.size()), samples,
                         [&](std::uint32_t i) { return files[i].read(); });
    };
    return meter;
}

}  // namespace

extern const Row powercap_meter = {"powercap", probe_powercap, open_powercap};

}  // namespace viridian::meter
