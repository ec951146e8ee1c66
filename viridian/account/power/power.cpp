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

// A counter is read down to a microjoule when it begins and when it ends, and each reset is such an end and
// beginning; a reading of power is off by less than a microwatt for as long as it holds.
Exact resolution_of(const meter::Channel& channel, const PowerCurve& curve) {
    if (curve.empty()) return 0;
    if (channel.kind == meter::Kind::energy_uj)
        return exact_microjoules(1 + static_cast<std::int64_t>(curve.resets));
    return exact_microjoules(curve.end() - curve.begin()) / 1'000'000'000;
}

}  // namespace

Provenance Power::total_provenance() const {
    if (estimated || others == 0) return total_from;
    return {Provenance::Kind::derived, "share of busy time from " + provenance};
}

Power power_of(const meter::PowerLog& log, std::string_view device, Nanoseconds meter_shift, int keep_each) {
    Power power;
    std::vector<meter::Channel> channels;
    for (const meter::Series& series : log.series) channels.push_back(series.channel);
    std::vector<PowerCurve> parts;
    for (const std::uint32_t i : meter::counted(channels)) {
        if (channels[i].device != device) continue;
        power.series.push_back(thinned(log.series[i], keep_each));
        parts.push_back(curve_of(power.series.back(), meter_shift));
        power.resolution += resolution_of(channels[i], parts.back());
        const Provenance from = channels[i].provenance();
        power.estimated = power.estimated || from.kind == Provenance::Kind::estimated;
        const std::string plus = power.provenance.empty() ? "" : " + ";
        const std::string scope = " " + std::string(name_of(channels[i].scope));
        power.provenance += plus + from.text() + scope;
        power.total_from.source += plus + from.source + scope;
        power.total_from.kind = plus.empty() ? from.kind : std::max(power.total_from.kind, from.kind);
    }
    power.curve = sum(parts);
    power.others = keep_process_share(power.curve, log, device);
    return power;
}

}  // namespace viridian::account
