// rooms: meter
// What sampling costs: CPU time of the sampler's thread, in percent of one core, at the default 4 ms, for
// five RAPL zones (files of a sysfs tree in memory), this machine's own model meter, the process tree of this
// process, and what `viridian record` runs. Also the cost of waking alone: an empty meter.
//
//     sampler_cost [SECONDS] [FOLDER in memory]
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

#include "viridian/meter/log/power_log.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/model.hpp"
#include "viridian/meter/process_tree.hpp"
#include "viridian/meter/sampler.hpp"

namespace {

using namespace viridian;

void zones(const Path& root) {
    const auto zone = [&](const char* id, const char* name) {
        const Path folder = root / "sys/class/powercap" / id;
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "name") << name << "\n";
        std::ofstream(folder / "energy_uj") << "123456789012\n";
        std::ofstream(folder / "max_energy_range_uj") << "262143328850\n";
    };
    zone("intel-rapl:0", "package-0");
    zone("intel-rapl:0:0", "core");
    zone("intel-rapl:0:1", "dram");
    zone("intel-rapl:1", "package-1");
    zone("intel-rapl:1:0", "dram");
}

meter::Meter empty() {
    meter::Meter made{"empty", {}, {}};
    made.read = [](std::vector<meter::Sample>&) -> Result<void> { return {}; };
    return made;
}

void row(const char* name, std::vector<Result<meter::Meter>> opened, double seconds, const Path& log) {
    std::vector<meter::Meter> meters;
    for (auto& one : opened) {
        if (!one.ok()) {
            std::printf("| %s | %s | | |\n", name, one.error().message.c_str());
            return;
        }
        meters.push_back(*std::move(one));
    }
    auto writer = meter::PowerLogWriter::create(log);
    if (!writer.ok()) return;
    const std::int64_t begin = meter::stamp_now().monotonic_ns;
    meter::Sampler sampler(std::move(meters), {.period = Seconds(0.004), .max_share = 0.0045},
                           [&](const auto& channels, std::span<const meter::Sample> samples) {
                               (void)writer->add(channels, samples).ok();
                           });
    ::usleep(static_cast<useconds_t>(seconds * 1e6));
    const meter::SamplerStats stats = sampler.stop();
    const double wall = 1e-9 * static_cast<double>(meter::stamp_now().monotonic_ns - begin);
    std::string periods;
    std::uint64_t reads = 0, missed = 0;
    for (const auto& one : stats.meters) {
        periods +=
            fmt::format("{}{:.1f}", periods.empty() ? "" : ", ", 1e3 * wall / static_cast<double>(one.reads));
        reads = std::max(reads, one.reads);
        missed += one.missed;
    }
    std::printf("| %s | %s | %.3f | %.1f | %llu |\n", name, periods.c_str(), 100 * stats.cpu.value / wall,
                1e6 * stats.cpu.value / static_cast<double>(reads), static_cast<unsigned long long>(missed));
}

}  // namespace

int main(int count, char** arguments) {
    const double seconds = count > 1 ? std::atof(arguments[1]) : 10.0;
    const Path folder = Path(count > 2 ? arguments[2] : "/dev/shm") / fmt::format("viridian-{}", ::getpid());
    zones(folder);
    const meter::MeterPaths tree{.root = folder};
    std::printf(
        "| meters | mean ms between reads | %% of one core | us a waking | missed "
        "|\n|---|---|---|---|---|\n");
    row("none: waking alone", {empty()}, seconds, folder / "log");
    row("powercap, 5 zones", {meter::open("powercap", tree)}, seconds, folder / "log");
    row("model", {meter::open_model({})}, seconds, folder / "log");
    row("powercap and process tree", {meter::open("powercap", tree), meter::open_process_tree(::getpid())},
        seconds, folder / "log");
    row("model and process tree", {meter::open_model({}), meter::open_process_tree(::getpid())}, seconds,
        folder / "log");
    std::filesystem::remove_all(folder);
}
