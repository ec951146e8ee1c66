#pragma once
// The power of an epoch (SMARAGDINE Figure 3): every reading is put at its time since its epoch began and
// readings of all epochs at the same elapsed time are averaged; beside each point, which of the program's
// repeated blocks ran: the first one, another, or none.
#include "viridian/account/steps.hpp"
#include "viridian/meter/power_log.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::account {

struct Epoch {
    Nanoseconds begin = 0, end = 0;
};

// What a first pass over a trace finds.
struct Outline {
    std::string bounds;  // what bounds the epochs: "ProfilerStep", "epoch"; empty: nothing repeats
    std::vector<Epoch> epochs;
    std::string block;  // the repeated block that ran longest: "bert/encoder/layer_*"; empty: none
    std::string first;  // its first one: "bert/encoder/layer_0"
};

// Epochs are the outermost events of one name that repeat, `ProfilerStep` before all, else those that last
// longest together; a number at the end of a name does not count. `wanted` asks for one name. Errors: those
// of the source.
[[nodiscard]] Result<Outline> outline(trace::Source& source, std::string_view wanted = "");
// "begin_ns,end_ns" lines in time order, as a client of the monitor writes them. Errors: malformed.
[[nodiscard]] Result<std::vector<Epoch>> parse_epochs(std::string_view text, std::string_view name);

struct EpochPoint {
    Seconds elapsed;  // middle of the bin
    Watts mean, deviation;
    std::size_t epochs = 0;           // that have a reading here
    double first = 0.0, other = 0.0;  // parts of the time in which the first, another repeated block ran
};

struct EpochPower {
    std::string device;
    std::string provenance;
    Seconds bin;
    Seconds length;  // mean of the epochs
    std::vector<EpochPoint> points;
};

struct EpochOptions {
    Nanoseconds bin = 0;  // 0: the meter's own period, at most 500 bins an epoch
    Nanoseconds meter_shift = 0;
};

// One per device of the log that has power. Errors: those of the source; missing_entry where no epoch has
// power.
[[nodiscard]] Result<std::vector<EpochPower>> epoch_power(trace::Source& source, const meter::PowerLog& log,
                                                          const Outline& outline,
                                                          const EpochOptions& options = {});

}  // namespace viridian::account
