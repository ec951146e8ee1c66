// rooms: meter
#include <cstddef>
#include <cstdint>

#include "viridian/meter/log/power_log.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto log = viridian::meter::parse_power_log(text, "fuzz");
    if (!log.ok()) return 0;
    for (const auto& series : log->series)  // readings are in time order, whatever the input
        for (std::size_t i = 1; i < series.readings.size(); ++i)
            if (series.readings[i].time_ns <= series.readings[i - 1].time_ns) __builtin_trap();
    return 0;
}
