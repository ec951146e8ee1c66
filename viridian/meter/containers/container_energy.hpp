#pragma once
// ContainerEnergy divides the energy of the processors among containers, as EFLECT divides it among
// processes: in each interval a container gets the part of the energy that its CPU time is of the machine's
// busy CPU time. The kernel does not tell which instructions a container ran, so the result is an estimate.
// The low end of its interval charges the container for busy time only (the part that its CPU time is of the
// time of all CPUs, idle or not) and is divided by `estimate_factor`; the high end is the share multiplied by
// it.
#include <map>
#include <span>
#include <vector>

#include "viridian/base/energy.hpp"
#include "viridian/meter/containers/cgroups.hpp"

namespace viridian::meter {

// MachineTime is what the processors did since some moment.
struct MachineTime {
    Energy energy;       // of the processors
    Seconds busy, idle;  // summed over all CPUs
};

struct ContainerShare {
    Container container;
    Energy energy;  // since the container was first seen
    Seconds cpu;    // likewise
};

class ContainerEnergy {
  public:
    // Takes the state at `monotonic_ns`. The first call is the beginning; CPU time that a container used
    // before it is left out. A container that is not in `times` any more is forgotten five minutes later.
    void take(std::int64_t monotonic_ns, const MachineTime& machine, std::span<const ContainerTime> times);
    // Returns all containers, ordered by their ids.
    [[nodiscard]] std::vector<ContainerShare> shares() const;

  private:
    struct State {
        ContainerShare share;
        Seconds last;  // its CPU time at the last reading
        std::int64_t seen_ns = 0;
    };
    bool begun_ = false;
    MachineTime last_;
    std::map<std::string, State> states_;  // by id
};

}  // namespace viridian::meter
