#pragma once
// RunningPower adds up the energy of the machine's processors while a run goes on, in memory that does not
// grow, and says how much of it lies between two moments.
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "viridian/meter/curve/running_energy.hpp"
#include "viridian/meter/meter.hpp"

namespace viridian::cli {

class RunningPower {
  public:
    // Counts the channels of `meters` that belong to processors ("cpu:N"), without counting a joule twice.
    explicit RunningPower(std::span<const meter::Meter> meters);

    // Takes samples of meter number `meter`. Another thread may call it than asks for energies.
    void take(std::size_t meter, std::span<const meter::Sample> samples);

    // A Moment is a point of time with the energies until then.
    struct Moment {
        std::int64_t monotonic_ns = 0;
        std::vector<meter::RunningEnergy::State> channels = {};
    };
    [[nodiscard]] Moment now() const;

    // Returns the energy between two moments, static power included. Its interval covers one update of the
    // meter at each end, and what a model may be off. Nothing if the meter was renewed less than twice, or if
    // it was reset or silent meanwhile.
    [[nodiscard]] std::optional<Energy> between(const Moment& from, const Moment& to) const;

    // Stretches are what lies between several pairs of moments, added up.
    struct Stretches {
        struct Channel {
            meter::Exact energy = 0;
            std::uint64_t doubts = 0;
        };
        std::vector<Channel> channels = {};
        std::int64_t ns = 0;
        std::int64_t count = 0;
        Stretches& operator+=(const Stretches& more);
    };
    [[nodiscard]] Stretches stretch(const Moment& from, const Moment& to) const;
    // Returns the energy of some stretches of a run. The energies of all stretches of a run add up to that of
    // the run. The interval covers one update of the meter at each end of a stretch, with the power of the
    // stretches or that of the whole run, whichever is higher, and what a model may be off. Nothing if there
    // is no stretch, if the meter was renewed less than twice in the run, or if it was reset or silent during
    // one of the stretches.
    [[nodiscard]] std::optional<Energy> energy(const Stretches& some, const Stretches& run) const;

    // Returns the time over which the power of a step is averaged: a second, or 20 updates of the meter.
    [[nodiscard]] Seconds horizon() const;
    // Returns the provenance of the energies: "estimated:model-cpu-linear".
    [[nodiscard]] Provenance provenance() const;

  private:
    struct Counted {
        std::size_t meter = 0;
        std::uint32_t channel = 0;
        Seconds update;
        meter::RunningEnergy energy;
    };
    mutable std::mutex mutex_;  // guards the energies
    std::vector<Counted> counted_;
};

// Returns `energy` times `factor`.
[[nodiscard]] Energy scaled(const Energy& energy, double factor);

}  // namespace viridian::cli
