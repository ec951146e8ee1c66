#include "viridian/meter/meters/model.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/meters/proc_stat.hpp"

namespace viridian::meter {
namespace {

struct ModelState {
    explicit ModelState(CpuTimesFile opened) : file(std::move(opened)) {}
    CpuTimesFile file;
    CpuTimes now;
    std::vector<int> packages;         // by logical CPU
    std::vector<double> static_watts;  // by package
    CpuTimes first;
    std::int64_t begin_ns = 0;  // monotonic
};

double joules(const ModelState& state, int package, double seconds) {
    double busy_seconds = 0.0;
    for (std::size_t cpu = 0; cpu < state.packages.size() && cpu < state.now.busy.size(); ++cpu)
        if (state.packages[cpu] == package)
            busy_seconds += static_cast<double>(state.now.busy[cpu] - state.first.busy[cpu]) /
                            static_cast<double>(jiffies_per_second());
    return state.static_watts[static_cast<std::size_t>(package)] * seconds +
           default_busy_watts_per_cpu * busy_seconds;
}

}  // namespace

Diagnosis probe_model(const MeterPaths& paths) {
    const Result<CpuTimes> times = read_cpu_times(paths.root);
    if (!times.ok()) return {"model", false, times.error().message, times.error().next_step};
    return {
        "model", true,
        fmt::format("estimates from CPU time ({} logical CPUs); no hardware meter, figures say `estimated`",
                    times->busy.size()),
        ""};
}

Result<Meter> open_model(const MeterPaths& paths) {
    VIRIDIAN_TRY(CpuTimesFile file, CpuTimesFile::open(paths.root));
    CpuTimes first;
    VIRIDIAN_TRY(file.read(first));
    auto state = std::make_shared<ModelState>(std::move(file));
    const std::size_t cpus = first.busy.size();
    state->packages = cpu_packages(paths.root, cpus);
    const int count = 1 + *std::max_element(state->packages.begin(), state->packages.end());
    state->static_watts.resize(static_cast<std::size_t>(count));
    for (const int package : state->packages)
        state->static_watts[static_cast<std::size_t>(package)] += default_static_watts_per_cpu;
    state->first = std::move(first);
    state->begin_ns = stamp_now().monotonic_ns;

    Meter meter{"model", {}, {}};
    for (int package = 0; package < count; ++package)
        meter.channels.push_back(
            {std::string(model_name), fmt::format("cpu:{}", package), Scope::package, Kind::energy_uj, 0});
    meter.shortest = Seconds(1.0 / static_cast<double>(jiffies_per_second()));
    meter.read = [state](std::vector<Sample>& samples) -> Result<void> {
        VIRIDIAN_TRY(state->file.read(state->now));
        const Stamp stamp = stamp_now();
        const double seconds = static_cast<double>(stamp.monotonic_ns - state->begin_ns) * 1e-9;
        for (std::uint32_t i = 0; i < state->static_watts.size(); ++i)
            samples.push_back({i, stamp.time_ns, stamp.monotonic_ns,
                               std::llround(1e6 * joules(*state, static_cast<int>(i), seconds)), 0});
        return {};
    };
    return meter;
}

extern const Row model_meter = {"model", probe_model, open_model, Use::last_resort};

}  // namespace viridian::meter
