#include "viridian/serve/running_totals.hpp"

#include <algorithm>
#include <numeric>

namespace viridian::serve {
namespace {

// The energy of the counted channels that `wanted` selects.
template <class Wanted>
Energy energy_of(const meter::Snapshot& now, const Wanted& wanted) {
    Energy sum;
    for (const meter::EpochEnergy& one : now.energies) {
        if (!one.counted || !wanted(now.channels[one.channel])) continue;
        if (sum.provenance.source.empty())
            sum = one.energy;
        else
            sum += one.energy;
    }
    return sum;
}

Seconds sum_of(const std::vector<std::int64_t>& jiffies) {
    const auto sum = std::accumulate(jiffies.begin(), jiffies.end(), std::int64_t{0});
    return Seconds(static_cast<double>(sum) / static_cast<double>(meter::jiffies_per_second()));
}

}  // namespace

Result<std::unique_ptr<RunningTotals>> RunningTotals::open(meter::Monitor& monitor, TotalsOptions options) {
    std::unique_ptr<RunningTotals> totals(new RunningTotals(monitor, std::move(options)));
    if (totals->options_.containers) {
        VIRIDIAN_TRY(meter::Cgroups cgroups, meter::Cgroups::open(totals->options_.root));
        VIRIDIAN_TRY(meter::CpuTimesFile times, meter::CpuTimesFile::open(totals->options_.root));
        totals->containers_.emplace(Containers{std::move(cgroups), std::move(times)});
    }
    (void)totals->read();  // the beginning
    return totals;
}

Figures RunningTotals::read() {
    const std::lock_guard lock(mutex_);  // so that no reading is older than the one before it
    meter::Snapshot now = monitor_->snapshot();
    add_containers(now);
    add_carbon(now);
    keep_high(highest_, now.energies);
    std::map<std::uint64_t, std::vector<Joules>> before = std::move(session_highest_);
    session_highest_.clear();
    for (meter::SessionSnapshot& session : now.of_sessions) {
        std::vector<Joules>& highest = session_highest_[session.number] = std::move(before[session.number]);
        keep_high(highest, session.whole.energies);
    }
    Figures figures{std::move(now), {}, std::nullopt};
    if (containers_) figures.containers = containers_->energy.shares();
    if (options_.carbon) figures.carbon = carbon_;
    return figures;
}

void RunningTotals::add_containers(const meter::Snapshot& now) {
    if (!containers_ || !containers_->times.read(containers_->read).ok()) return;
    const auto is_processor = [](const meter::Channel& channel) {
        return channel.device.starts_with("cpu:");
    };
    containers_->energy.take(
        meter::stamp_now().monotonic_ns,
        {energy_of(now, is_processor), sum_of(containers_->read.busy), sum_of(containers_->read.idle)},
        containers_->cgroups.read());
}

void RunningTotals::add_carbon(const meter::Snapshot& now) {
    if (!options_.carbon) return;
    const Energy total = energy_of(now, [](const meter::Channel&) { return true; });
    const Joules more = std::max(total.value - last_total_, Joules(0));
    last_total_ = std::max(total.value, last_total_);
    carbon_.provenance = total.provenance;
    carbon_.pue = options_.carbon->pue();
    carbon_.now = options_.carbon->at(now.time_ns);
    if (carbon_.now == nullptr) {
        carbon_.unknown += more;
        return;
    }
    const Energy part = with_model_error({more, more, more, total.provenance});
    const double grams = carbon_.now->grams_per_joule * carbon_.pue;
    carbon_.value += meter::Grams(part.value.value * grams);
    carbon_.low += meter::Grams(part.low.value * grams);
    carbon_.high += meter::Grams(part.high.value * grams);
}

void RunningTotals::keep_high(std::vector<Joules>& highest, std::vector<meter::EpochEnergy>& energies) {
    highest.resize(energies.size());
    for (std::size_t i = 0; i < energies.size(); ++i)
        highest[i] = energies[i].energy.high = std::max(highest[i], energies[i].energy.high);
}

}  // namespace viridian::serve
