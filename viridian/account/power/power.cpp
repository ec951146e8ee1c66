#include "viridian/account/power/power.hpp"

#include <algorithm>

#include "viridian/account/power/process_share.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::account {
namespace {

meter::Series thinned(meter::Series series, int keep_each) {
    if (keep_each <= 1) return series;
    std::vector<meter::Reading> kept;
    for (std::size_t i = 0; i < series.readings.size(); i += static_cast<std::size_t>(keep_each))
        kept.push_back(series.readings[i]);
    for (std::size_t& at : series.broken)
        at = std::min((at + static_cast<std::size_t>(keep_each) - 1) / static_cast<std::size_t>(keep_each),
                      kept.size() - 1);
    series.readings = std::move(kept);
    return series;
}

}  // namespace

Power power_of(const meter::PowerLog& log, std::string_view device, Nanoseconds meter_shift, int keep_each) {
    Power power;
    std::vector<meter::Channel> channels;
    for (const meter::Series& series : log.series) channels.push_back(series.channel);
    std::vector<PowerCurve> parts;
    for (const std::uint32_t i : meter::counted(channels)) {
        if (channels[i].device != device) continue;
        power.series.push_back(thinned(log.series[i], keep_each));
        parts.push_back(curve_of(power.series.back(), meter_shift));
        const Provenance from = channels[i].provenance();
        power.estimated = power.estimated || from.kind == Provenance::Kind::estimated;
        power.provenance += (power.provenance.empty() ? "" : " + ") + from.text() + " " +
                            std::string(name_of(channels[i].scope));
    }
    power.curve = sum(parts);
    power.others = keep_process_share(power.curve, log, device);
    return power;
}

}  // namespace viridian::account
