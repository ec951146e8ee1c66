#include "viridian/meter/foreign/foreign_log.hpp"

#include <algorithm>
#include <array>

namespace viridian::meter {

// Each is defined in the source of its name.
extern const ForeignFormat nvidia_smi_format, nvidia_dmon_format, dcgmi_format, perf_stat_format,
    turbostat_format, ipmitool_format, zeus_format, codecarbon_format, prometheus_format;

std::span<const ForeignFormat> foreign_formats() {
    static const std::array list = {prometheus_format, nvidia_smi_format, nvidia_dmon_format,
                                    zeus_format,       codecarbon_format, dcgmi_format,
                                    perf_stat_format,  turbostat_format,  ipmitool_format};
    return list;
}

const ForeignFormat* foreign_format_of(std::string_view text) {
    const std::string_view head = text.substr(0, 1 << 16);
    const auto found = std::ranges::find_if(
        foreign_formats(), [&](const ForeignFormat& format) { return format.recognises(head); });
    return found == foreign_formats().end() ? nullptr : &*found;
}

}  // namespace viridian::meter
