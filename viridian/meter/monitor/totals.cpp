#include "viridian/meter/monitor/totals.hpp"

namespace viridian::meter {

void Totals::add_channels(std::span<const Channel> channels) {
    for (const Channel& channel : channels) running_.emplace_back(channel);
}

void Totals::take(std::uint32_t first, std::span<const Sample> samples) {
    for (const Sample& sample : samples) running_[first + sample.channel].take(sample);
}

std::vector<Totals::Reading> Totals::at(std::int64_t monotonic_ns) const {
    std::vector<Reading> readings;
    readings.reserve(running_.size());
    for (const RunningEnergy& running : running_) readings.push_back(running.at(monotonic_ns));
    return readings;
}

}  // namespace viridian::meter
