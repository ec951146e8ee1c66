#pragma once
// Computes the power over an average epoch of a training run (SMARAGDINE Figure 3). It finds the epochs or
// steps of a trace, puts every power reading at the time that had passed since its epoch began, and averages
// the readings of all epochs at the same elapsed time. Beside each point it tells for how much of the time
// the first of the program's repeated blocks (layer_0), another one, or none was running.
#include "viridian/account/power/power_types.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::account {

struct Epoch {
    Nanoseconds begin = 0, end = 0;
};

// The name of the time between two bounds. A trace shows steps by itself; it shows epochs only if the
// program marked them.
enum class Period : std::uint8_t { epoch, step };
[[nodiscard]] std::string_view name_of(Period period);

// An Outline is the result of a first pass over a trace.
struct Outline {
    std::string bounds;  // the name of what bounds the epochs or steps: "epoch", "ProfilerStep"; empty: none
    Period period = Period::epoch;
    std::vector<Epoch> epochs;  // or steps
    std::string block;          // the repeated block that ran longest: "bert/encoder/layer_*"; empty: none
    std::string first;          // its first one: "bert/encoder/layer_0"
};

// Finds the epochs or the steps of a trace. In this order: the program's own marks (scopes) that repeat and
// have "epoch" in their name bound epochs; `ProfilerStep` marks bound steps; a step reaches from the end of
// one `Optimizer.step` to the end of the next; the other mark that repeats and lasts longest in total bounds
// steps. A number at the end of a name does not count, and neither do scopes that frameworks make
// (`Optimizer.zero_grad#SGD.zero_grad`). `wanted` asks for events of one name, whatever they are. Errors:
// those of the source.
[[nodiscard]] Result<Outline> outline(trace::Source& source, std::string_view wanted = "");
// Reads epochs from lines of "begin_ns,end_ns" in time order, as a client of the monitor writes them. `name`
// stands for the file in errors. Errors: malformed.
[[nodiscard]] Result<std::vector<Epoch>> parse_epochs(std::string_view text, std::string_view name);

struct EpochPoint {
    Seconds elapsed;  // middle of the bin
    Watts mean, deviation;
    std::size_t epochs = 0;           // epochs that have a reading here
    double first = 0.0, other = 0.0;  // parts of the time in which the first, or another, repeated block ran
};

struct EpochPower {
    std::string device;
    std::string provenance;
    Seconds bin;
    Seconds length;  // mean of the epochs
    std::vector<EpochPoint> points;
};

struct EpochOptions {
    Nanoseconds bin = 0;          // width of a bin; 0: the meter's own period. An epoch has at most 500 bins.
    Nanoseconds meter_shift = 0;  // known lag of the meter behind the trace
};

// Returns the power over an average epoch of `outline`, one result for each device of `log` that has power.
// It reads `source`, the trace from which the outline was made, once more. Errors: those of the source;
// missing_entry if no epoch has a power reading.
[[nodiscard]] Result<std::vector<EpochPower>> epoch_power(trace::Source& source, const meter::PowerLog& log,
                                                          const Outline& outline,
                                                          const EpochOptions& options = {});

}  // namespace viridian::account
