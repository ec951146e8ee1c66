#pragma once
// Makes timelines for Perfetto (ui.perfetto.dev): the events of a trace with the joules of their operations,
// above the power of the devices.
#include "viridian/account/result.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/trace/write/write.hpp"

namespace viridian::account {

// Returns one track of power in watts for each channel of `log` whose energy counts (meter::counted). Its
// name tells device, scope and provenance.
[[nodiscard]] std::vector<trace::CounterTrack> power_tracks(const meter::PowerLog& log);

// Returns a function that gives the microjoules of an event: the energy of its operation and pass in
// `result`, divided by the operation's count; negative if it is not known. `about` holds the names of the
// events, and must outlive the function.
[[nodiscard]] std::function<double(const trace::Event&)> microjoules_of(const Accounting& result,
                                                                        const trace::Trace& about);

// Reads `source` to its end and writes it to `file` as Chrome's JSON with the tracks of `log` and the joules
// of `result`, compressed if the name ends in .gz or .zst. Errors: those of the source and of writing.
[[nodiscard]] Result<void> write_timeline(trace::Source& source, const meter::PowerLog& log,
                                          const Accounting& result, const Path& file);

}  // namespace viridian::account
