#include "viridian/serve/totals.hpp"

#include <algorithm>

#include "viridian/meter/counter.hpp"

namespace viridian::serve {
namespace {

using meter::Kind;

constexpr std::int64_t longest_silence_ns =
    5'000'000'000;                                      // of a power; meters are read every second at least
constexpr std::int64_t shortest_rate_ns = 100'000'000;  // a power seen over less is noise
constexpr double least_watts = 1000.0;  // what a counter's device may draw before it was seen to draw more

double microjoules(double microwatts, std::int64_t nanoseconds) {
    return microwatts * 1e-9 * static_cast<double>(nanoseconds);
}

}  // namespace

void Totals::add_channels(std::span<const meter::Channel> channels) {
    channels_.insert(channels_.end(), channels.begin(), channels.end());
    running_.resize(channels_.size());
}

void Totals::take(std::uint32_t first, std::span<const meter::Sample> samples) {
    for (const meter::Sample& sample : samples) {
        const meter::Channel& channel = channels_[first + sample.channel];
        Running& running = running_[first + sample.channel];
        const meter::Sample before = running.last;
        const bool fresh = running.now.readings++ == 0;
        running.last = sample;
        running.now.last_ns = sample.monotonic_ns;
        if (fresh || !channel.is_power()) continue;
        const std::int64_t elapsed = std::max<std::int64_t>(sample.monotonic_ns - before.monotonic_ns, 0);
        if (channel.kind != Kind::energy_uj) {
            const double power = channel.kind == Kind::average_uw
                                     ? static_cast<double>(sample.value)
                                     : 0.5 * static_cast<double>(sample.value + before.value);
            if (elapsed > longest_silence_ns)
                ++running.now.doubts;
            else
                running.now.microjoules += microjoules(power, elapsed);
            continue;
        }
        const auto difference = meter::counter_difference(before.value, sample.value, channel.wrap_uj);
        if (!difference) {
            ++running.now.doubts;
            continue;
        }
        running.now.microjoules += static_cast<double>(*difference);
        const double seconds = 1e-9 * static_cast<double>(elapsed);
        const double most = std::max(running.highest_watts, least_watts) * 1e6 * seconds;
        if (channel.wrap_uj > 0 && most > static_cast<double>(channel.wrap_uj))
            ++running.now.doubts;
        else if (elapsed > shortest_rate_ns)
            running.highest_watts =
                std::max(running.highest_watts, 1e-6 * static_cast<double>(*difference) / seconds);
    }
}

std::vector<Totals::Reading> Totals::at(std::int64_t monotonic_ns) const {
    std::vector<Reading> readings;
    readings.reserve(running_.size());
    for (std::size_t i = 0; i < running_.size(); ++i) {
        const Running& running = running_[i];
        Reading& reading = readings.emplace_back(running.now);
        const bool power = channels_[i].is_power() && channels_[i].kind != Kind::energy_uj;
        if (!power || reading.readings == 0) continue;
        const std::int64_t held = std::max<std::int64_t>(monotonic_ns - running.last.monotonic_ns, 0);
        if (held > longest_silence_ns)
            ++reading.doubts;
        else
            reading.microjoules += microjoules(static_cast<double>(running.last.value), held);
    }
    return readings;
}

}  // namespace viridian::serve
