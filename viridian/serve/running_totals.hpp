#pragma once
// RunningTotals adds up what a monitor does not keep itself: the energy of each container, and grams of CO2
// by the factors in force. Its numbers only grow, as Prometheus expects of a counter; so do the ends of their
// intervals. All functions are thread-safe.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "viridian/meter/carbon/carbon_factors.hpp"
#include "viridian/meter/containers/container_energy.hpp"
#include "viridian/meter/meters/proc_stat.hpp"
#include "viridian/meter/monitor/monitor.hpp"

namespace viridian::serve {

struct TotalsOptions {
    bool containers = false;                          // divide the processors' energy among containers
    std::optional<meter::CarbonFactors> carbon = {};  // none: there are no grams
    Path root = "/";                                  // the folder of `proc` and `sys`
};

// CarbonTotal holds grams since the totals began, for the energy whose factor is known.
struct CarbonTotal {
    meter::Grams value, low, high;
    Provenance provenance;  // of the energy
    Joules unknown;         // energy at times of which the file of factors says nothing
    const meter::CarbonFactors::Row* now = nullptr;
    double pue = 1.0;
};

struct Figures {
    meter::Snapshot monitor;
    std::vector<meter::ContainerShare> containers;
    std::optional<CarbonTotal> carbon;  // only with a file of factors
};

class RunningTotals {
  public:
    // `monitor` must outlive the totals. Errors: file_not_found and others (no control groups, no CPU times).
    [[nodiscard]] static Result<std::unique_ptr<RunningTotals>> open(meter::Monitor& monitor,
                                                                     TotalsOptions options);
    // Reads the meters now and adds up. Call it about once a second; a container that lives for less than the
    // time between two calls may be missed.
    [[nodiscard]] Figures read();

  private:
    struct Containers {
        meter::Cgroups cgroups;
        meter::CpuTimesFile times;
        meter::CpuTimes read = {};
        meter::ContainerEnergy energy = {};
    };
    RunningTotals(meter::Monitor& monitor, TotalsOptions options)
        : monitor_(&monitor), options_(std::move(options)) {}
    void add_containers(const meter::Snapshot& now);
    void add_carbon(const meter::Snapshot& now);
    void keep_high(std::vector<Joules>& highest, std::vector<meter::EpochEnergy>& energies);

    meter::Monitor* monitor_;
    TotalsOptions options_;
    std::mutex mutex_;  // guards the members below
    std::optional<Containers> containers_;
    Joules last_total_;
    CarbonTotal carbon_;
    std::vector<Joules> highest_;                                   // by channel of energy or power
    std::map<std::uint64_t, std::vector<Joules>> session_highest_;  // by the session's number
};

}  // namespace viridian::serve
