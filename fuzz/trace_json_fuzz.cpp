// rooms: trace
// Any bytes as a trace of any format: an error or sound events, and what was read can be written and read
// again.
#include <cstddef>
#include <cstdint>

#include "viridian/trace/read.hpp"
#include "viridian/trace/write/write.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace viridian::trace;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto source = open_text(text, "fuzz", {.spill = {1U << 16U, "/var/tmp"}});
    if (!source.ok()) return 0;
    const auto trace = collect(**source);
    if (!trace.ok()) return 0;
    for (std::size_t i = 0; i < trace->events.size(); ++i) {
        const Event& event = trace->events[i];
        if (event.end < event.start || event.lane >= trace->about.lanes.size()) __builtin_trap();
        if (i > 0 && event.start < trace->events[i - 1].start) __builtin_trap();
    }
    std::string written;
    const auto sink = json_sink(out_to(written));
    if (!sink->take(trace->events, trace->about).ok() || !sink->finish(trace->about).ok()) __builtin_trap();
    const auto again = open_text(written, "again");
    if (!again.ok()) __builtin_trap();
    const auto events = collect(**again);
    if (!trace->events.empty() && (!events.ok() || events->events.size() != trace->events.size()))
        __builtin_trap();
    return 0;
}
