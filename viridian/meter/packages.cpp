#include "viridian/meter/packages.hpp"

#include <algorithm>
#include <set>

#include "viridian/meter/meters/proc_stat.hpp"

namespace viridian::meter {

Result<std::vector<std::string>> packages_of(const Meter& meter, std::span<const int> cpus,
                                             const MeterPaths& paths) {
    std::set<std::string> measured, wanted;
    for (const Channel& channel : meter.channels)
        if (channel.device.starts_with("cpu")) measured.insert(channel.device);
    for (const int cpu : cpus) {
        const std::optional<int> package = package_of(paths.root, cpu);
        if (!package) {
            wanted.clear();
            break;
        }
        wanted.insert(fmt::format("cpu:{}", *package));
    }
    if (wanted.empty()) wanted = measured;
    if (measured.empty())
        return fail(ErrorCode::missing_entry, "run `viridian doctor`, or choose another with --meter",
                    "the meter `{}` does not measure the processor", meter.name);
    for (const std::string& package : wanted)
        if (!measured.contains(package))
            return fail(ErrorCode::missing_entry,
                        "run on one package (taskset, numactl), or use `--meter model`",
                        "threads may run on {}, which the meter `{}` does not measure", package, meter.name);
    return std::vector<std::string>(wanted.begin(), wanted.end());
}

}  // namespace viridian::meter
