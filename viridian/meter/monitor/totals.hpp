#pragma once
// Totals holds the running energies of all channels of a monitor, so that the joules of an epoch are a
// difference of two numbers, however long it lasted. Energy that cannot be known (after a reset, during a
// silence) is not guessed: the rules stand in viridian/meter/curve/interval_energy.hpp.
#include <span>
#include <vector>

#include "viridian/meter/curve/running_energy.hpp"

namespace viridian::meter {

class Totals {
  public:
    using Reading = RunningEnergy::State;

    void add_channels(std::span<const Channel> channels);
    // Takes samples of a meter. Its channels begin at `first` in the list of all channels.
    void take(std::uint32_t first, std::span<const Sample> samples);
    // Returns the state of each channel at `monotonic_ns`. A power counts as constant since its last reading.
    [[nodiscard]] std::vector<Reading> at(std::int64_t monotonic_ns) const;

  private:
    std::vector<RunningEnergy> running_;
};

}  // namespace viridian::meter
