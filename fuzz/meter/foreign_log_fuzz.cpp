// rooms: meter
// Power logs of other programs: every format that recognises the text reads it.
#include <cstddef>
#include <cstdint>

#include "viridian/meter/foreign/foreign_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const auto& format : viridian::meter::foreign_formats()) {
        if (!format.recognises(text)) continue;
        const auto log = format.read({text, "fuzz", 1});
        if (!log.ok()) continue;
        for (const auto& series : log->series)  // readings are in time order, whatever the input
            for (std::size_t i = 1; i < series.readings.size(); ++i)
                if (series.readings[i].time_ns <= series.readings[i - 1].time_ns) __builtin_trap();
    }
    return 0;
}
