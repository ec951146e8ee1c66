#include "viridian/cli/meter/doctor_peaks.hpp"

#include <fmt/format.h>

#include "viridian/base/units_text.hpp"

namespace viridian::cli {

using execute::Peak;

Json to_json(const Peak& peak) {
    return {{"probe", name_of(peak.probe)},
            {"unit", counts_flop(peak.probe) ? "flop/s" : "B/s"},
            {"threads", peak.threads},
            {"working_set_bytes", peak.working_set.value},
            {"best", peak.best},
            {"median", peak.rounds.median},
            {"low", peak.rounds.low},
            {"high", peak.rounds.high},
            {"rounds", peak.rounds.count}};
}

std::string peaks_text(const std::vector<Peak>& peaks) {
    std::string text = fmt::format("\npeaks, the best of {} rounds\n  {:<18} {:>7} {:>14} {:>13}  {}\n",
                                   peaks[0].rounds.count, "probe", "threads", "peak", "median",
                                   "95 % interval of the median");
    for (const Peak& peak : peaks) {
        const char* unit = counts_flop(peak.probe) ? "flop/s" : "B/s";
        text += fmt::format("  {:<18} {:>7} {:>14} {:>13}  {} to {}\n", name_of(peak.probe), peak.threads,
                            quantity(peak.best, unit), quantity(peak.rounds.median, unit),
                            quantity(peak.rounds.low, unit), quantity(peak.rounds.high, unit));
    }
    return text;
}

}  // namespace viridian::cli
