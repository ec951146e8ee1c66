#pragma once
// A PowerRecording samples meters, and the processes of a program, into a power log (power_log.hpp) until it
// is stopped.
#include <memory>
#include <optional>

#include "viridian/meter/log/power_log.hpp"
#include "viridian/meter/sampler.hpp"

namespace viridian::meter {

class PowerRecording {
  public:
    // Creates the file `path`, notes at its head how often each meter changes and which CPU is in which
    // package, reads every meter once, and goes on every `period`. Errors: file_not_writable, disk_full, and
    // those of reading.
    [[nodiscard]] static Result<PowerRecording> start(const Path& path, std::vector<Meter> meters,
                                                      Seconds period = Seconds(0.004));
    PowerRecording(PowerRecording&&) noexcept;
    PowerRecording& operator=(PowerRecording&&) noexcept;
    ~PowerRecording();

    // Records what the process and its descendants use of the processors too. A process that is gone is
    // passed over.
    void watch(int process);
    void read_now();  // reads every meter on the caller's thread

    struct Ended {
        SamplerStats stats;
        // Writing failed, and the log ends where it did: disk_full or file_not_writable.
        std::optional<Error> failed;
    };
    // Reads every meter a last time, ends the sampling and completes the file. Call it once.
    [[nodiscard]] Ended stop();

  private:
    struct State;
    explicit PowerRecording(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace viridian::meter
