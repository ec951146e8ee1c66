#include "viridian/meter/containers/container_energy.hpp"

#include <algorithm>

namespace viridian::meter {
namespace {

constexpr std::int64_t forgotten_after = 300'000'000'000;  // ns

}  // namespace

void ContainerEnergy::take(std::int64_t monotonic_ns, const MachineTime& machine,
                           std::span<const ContainerTime> times) {
    const Joules energy = std::max(machine.energy.value - last_.energy.value, Joules(0));
    const Seconds busy = machine.busy - last_.busy, idle = machine.idle - last_.idle;
    last_ = machine;
    std::vector<std::pair<State*, Seconds>> used;
    Seconds sum;
    for (const ContainerTime& one : times) {
        const auto [found, fresh] = states_.try_emplace(one.container.id);
        State& state = found->second;
        if (fresh) state.share.container = one.container;
        if (fresh && !begun_) state.last = one.cpu;
        // A counter that went back belongs to a container that was started again.
        const Seconds since = one.cpu < state.last ? one.cpu : one.cpu - state.last;
        state.last = one.cpu;
        state.seen_ns = monotonic_ns;
        state.share.cpu += since;
        sum += since;
        used.emplace_back(&state, since);
    }
    // /proc/stat counts in jiffies, control groups exactly: together containers get no more than there is.
    const Seconds all = std::max(busy, sum);
    const double of_all_cpus = all / std::max(all + idle, Seconds(1e-9));
    for (const auto& [state, seconds] : used) {
        Energy& total = state->share.energy;
        total.provenance = {Provenance::Kind::estimated, "cpu-share of " + machine.energy.provenance.source};
        if (!begun_ || seconds.value <= 0.0) continue;
        const Joules part = energy * (seconds / all);
        Energy more{part, part * of_all_cpus, part, machine.energy.provenance};
        more = with_model_error(more);  // of the meter, if that is a model
        more.provenance = total.provenance;
        total += with_model_error(more);  // of the share
    }
    begun_ = true;
    std::erase_if(states_,
                  [&](const auto& entry) { return entry.second.seen_ns + forgotten_after < monotonic_ns; });
}

std::vector<ContainerShare> ContainerEnergy::shares() const {
    std::vector<ContainerShare> shares;
    for (const auto& [id, state] : states_) shares.push_back(state.share);
    return shares;
}

}  // namespace viridian::meter
