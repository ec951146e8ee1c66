#include "viridian/cli/train/running_power.hpp"

#include <algorithm>

#include "viridian/meter/meters/list.hpp"

namespace viridian::cli {

RunningPower::RunningPower(std::span<const meter::Meter> meters) {
    std::vector<meter::Channel> channels;
    std::vector<std::pair<std::size_t, std::uint32_t>> places;
    for (std::size_t m = 0; m < meters.size(); ++m)
        for (std::uint32_t c = 0; c < meters[m].channels.size(); ++c) {
            if (!meters[m].channels[c].device.starts_with("cpu:")) continue;
            channels.push_back(meters[m].channels[c]);
            places.emplace_back(m, c);
        }
    for (const std::uint32_t i : meter::counted(channels)) {
        const auto [m, c] = places[i];
        const Seconds update = std::max(meters[m].update, meters[m].shortest);
        counted_.push_back({m, c, update, meter::RunningEnergy(channels[i])});
    }
}

void RunningPower::take(std::size_t meter, std::span<const meter::Sample> samples) {
    const std::scoped_lock lock(mutex_);
    for (const meter::Sample& sample : samples)
        for (Counted& counted : counted_)
            if (counted.meter == meter && counted.channel == sample.channel) counted.energy.take(sample);
}

RunningPower::Moment RunningPower::now() const {
    const std::scoped_lock lock(mutex_);
    Moment moment{meter::stamp_now().monotonic_ns, {}};
    for (const Counted& counted : counted_) moment.channels.push_back(counted.energy.at(moment.monotonic_ns));
    return moment;
}

std::optional<Energy> RunningPower::between(const Moment& from, const Moment& to) const {
    std::optional<Energy> sum;
    const auto whole = static_cast<double>(to.monotonic_ns - from.monotonic_ns);
    for (std::size_t i = 0; i < counted_.size(); ++i) {
        const Counted& counted = counted_[i];
        const auto& before = from.channels[i];
        const auto& after = to.channels[i];
        // A counter is known at its readings; a power holds until it is read again.
        const bool counter = counted.energy.channel().kind == meter::Kind::energy_uj;
        const double known = counter ? static_cast<double>(after.last_ns - before.last_ns) : whole;
        const double update = 1e9 * counted.update.value;
        if (before.readings == 0 || after.doubts > before.doubts || known < 2 * update || known <= 0)
            return std::nullopt;
        const Joules energy = meter::joules(after.energy - before.energy) * (whole / known);
        const Joules edge = energy * std::min(1.0, update / known);
        const Energy one =
            with_model_error({energy, energy - edge, energy + edge, counted.energy.channel().provenance()});
        if (sum)
            *sum += one;
        else
            sum = one;
    }
    return sum;
}

RunningPower::Stretches& RunningPower::Stretches::operator+=(const Stretches& more) {
    channels.resize(std::max(channels.size(), more.channels.size()));
    for (std::size_t i = 0; i < more.channels.size(); ++i) {
        channels[i].energy += more.channels[i].energy;
        channels[i].doubts += more.channels[i].doubts;
    }
    ns += more.ns;
    count += more.count;
    return *this;
}

RunningPower::Stretches RunningPower::stretch(const Moment& from, const Moment& to) const {
    Stretches made{.ns = to.monotonic_ns - from.monotonic_ns, .count = 1};
    for (std::size_t i = 0; i < counted_.size(); ++i) {
        const auto& before = from.channels[i];
        const auto& after = to.channels[i];
        const std::uint64_t unread = before.readings == 0 ? 1 : 0;
        made.channels.push_back({after.energy - before.energy, after.doubts - before.doubts + unread});
    }
    return made;
}

std::optional<Energy> RunningPower::energy(const Stretches& some, const Stretches& run) const {
    if (some.count == 0 || some.ns <= 0) return std::nullopt;
    std::optional<Energy> sum;
    for (std::size_t i = 0; i < counted_.size(); ++i) {
        const double update = 1e9 * counted_[i].update.value;
        if (some.channels[i].doubts > 0 || static_cast<double>(run.ns) < 2 * update) return std::nullopt;
        const Joules energy = meter::joules(some.channels[i].energy);
        const auto in_update = [&](const Stretches& stretches) {
            return meter::joules(stretches.channels[i].energy) * (update / static_cast<double>(stretches.ns));
        };
        const Joules edge = std::max(in_update(some), in_update(run)) * static_cast<double>(some.count);
        const Energy one = with_model_error({energy, std::max(Joules(0), energy - edge), energy + edge,
                                             counted_[i].energy.channel().provenance()});
        if (sum)
            *sum += one;
        else
            sum = one;
    }
    return sum;
}

Seconds RunningPower::horizon() const {
    Seconds longest(1.0);
    for (const Counted& counted : counted_) longest = std::max(longest, counted.update * 20.0);
    return longest;
}

Provenance RunningPower::provenance() const {
    Energy sum;
    for (std::size_t i = 0; i < counted_.size(); ++i) {
        const Energy one{{}, {}, {}, counted_[i].energy.channel().provenance()};
        if (i == 0)
            sum = one;
        else
            sum += one;
    }
    return sum.provenance;
}

Energy scaled(const Energy& energy, double factor) {
    return {energy.value * factor, energy.low * factor, energy.high * factor, energy.provenance};
}

}  // namespace viridian::cli
