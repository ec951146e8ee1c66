#include "viridian/meter/measure.hpp"

#include <algorithm>

#include "viridian/meter/counter.hpp"
#include "viridian/meter/list.hpp"
#include "viridian/meter/sampler.hpp"

namespace viridian::meter {
namespace {

// Reads a counter meter until every wanted channel answered once.
Result<std::vector<Sample>> read_once(const Meter& meter) {
    std::vector<Sample> samples;
    VIRIDIAN_TRY(meter.read(samples));
    return samples;
}

// A counter is read often enough meanwhile that it cannot go round twice unseen; nothing with one counter
// draws more than this.
constexpr double highest_watts = 5'000.0;

Seconds counter_pace(std::int64_t wrap_uj) {
    return Seconds(std::clamp(0.25e-6 * static_cast<double>(wrap_uj) / highest_watts, 0.001, 1.0));
}

// The joules of a counter over all its samples; none where it was reset, or where it was not read for so long
// that it may have gone round twice.
std::optional<Joules> counted_joules(const std::vector<Sample>& samples, std::uint32_t channel,
                                     std::int64_t wrap_uj) {
    const Sample* last = nullptr;
    std::int64_t sum = 0;
    for (const Sample& sample : samples) {
        if (sample.channel != channel) continue;
        if (last != nullptr) {
            const auto difference = counter_difference(last->value, sample.value, wrap_uj);
            const double seconds = 1e-9 * static_cast<double>(sample.monotonic_ns - last->monotonic_ns);
            const double most = highest_watts * std::max(seconds, 0.1);
            if (!difference || 1e-6 * static_cast<double>(*difference) > most) return std::nullopt;
            if (wrap_uj > 0 && seconds > 0.1 + 3.0 * counter_pace(wrap_uj).value &&
                highest_watts * seconds > 1e-6 * static_cast<double>(wrap_uj))
                return std::nullopt;
            sum += *difference;
        }
        last = &sample;
    }
    return last != nullptr ? std::optional(Joules(1e-6 * static_cast<double>(sum))) : std::nullopt;
}

// Trapezoids between instantaneous readings, steps for averages, held to both ends of the window.
Joules integrate(const std::vector<Sample>& samples, std::uint32_t channel, bool average, std::int64_t begin,
                 std::int64_t end) {
    double joules = 0.0;
    const Sample* last = nullptr;
    for (const Sample& sample : samples) {
        if (sample.channel != channel) continue;
        const std::int64_t from = last != nullptr ? std::max(last->monotonic_ns, begin) : begin;
        const std::int64_t to = std::clamp(sample.monotonic_ns, from, end);
        const double power = last == nullptr || average
                                 ? static_cast<double>(sample.value)
                                 : 0.5 * static_cast<double>(sample.value + last->value);
        joules += power * 1e-15 * static_cast<double>(to - from);
        last = &sample;
    }
    if (last != nullptr && last->monotonic_ns < end)
        joules += static_cast<double>(last->value) * 1e-15 *
                  static_cast<double>(end - std::max(begin, last->monotonic_ns));
    return Joules(joules);
}

}  // namespace

Result<Measurement> measure(const Meter& meter, const std::function<void()>& work, std::string_view device,
                            Seconds period) {
    std::vector<std::uint32_t> wanted;
    for (const std::uint32_t channel : counted(meter.channels))
        if (device.empty() || meter.channels[channel].device == device) wanted.push_back(channel);
    if (wanted.empty())
        return fail(ErrorCode::missing_entry, "run `viridian doctor`", "the meter `{}` does not measure `{}`",
                    meter.name, device);
    bool sampled = false;  // meanwhile: powers, and counters that could go round twice
    Seconds slowest(1e9);
    for (const std::uint32_t channel : wanted) {
        const Channel& about = meter.channels[channel];
        if (about.kind != Kind::energy_uj)
            sampled = true;
        else if (about.wrap_uj > 0)
            slowest = std::min(slowest, counter_pace(about.wrap_uj));
    }
    if (!sampled && slowest.value < 1e9) {
        sampled = true;
        period = slowest;
    }

    VIRIDIAN_TRY(std::vector<Sample> samples, read_once(meter));
    const std::int64_t begin = stamp_now().monotonic_ns;
    if (sampled) {
        Sampler sampler({meter}, {.period = period},
                        [&](const std::vector<Channel>&, std::span<const Sample> batch) {
                            samples.insert(samples.end(), batch.begin(), batch.end());
                        });
        work();
    } else {
        work();
    }
    VIRIDIAN_TRY(const std::vector<Sample> after, read_once(meter));
    const std::int64_t end = stamp_now().monotonic_ns;
    std::vector<Sample> all = samples;
    all.insert(all.end(), after.begin(), after.end());

    Measurement result;
    result.seconds = Seconds(static_cast<double>(end - begin) * 1e-9);
    for (const std::uint32_t channel : wanted) {
        const Channel& about = meter.channels[channel];
        Joules joules;
        if (about.kind == Kind::energy_uj) {
            const auto counted = counted_joules(all, channel, about.wrap_uj);
            if (!counted)
                return fail(
                    ErrorCode::device_failed, "measure again; if it stays, run `viridian doctor`",
                    "the counter {} {} of `{}` was reset, stopped, or lost for so long that it may have "
                    "gone round twice",
                    about.device, name_of(about.scope), about.meter);
            joules = *counted;
        } else {
            joules = integrate(all, channel, about.kind == Kind::average_uw, begin, end);
        }
        const Joules edge = joules * std::min(1.0, meter.update.value / std::max(result.seconds.value, 1e-9));
        Energy energy{joules, joules - edge, joules + edge, about.provenance()};
        if (result.energy.provenance.source.empty())
            result.energy = energy;
        else
            result.energy += energy;
    }
    if (result.energy.value.value <= 0.0)
        return fail(ErrorCode::device_failed, "measure a longer window, at least 20 updates of the meter",
                    "the meter `{}` did not move in {:.3g} s", meter.name, result.seconds.value);
    return result;
}

Result<Seconds> measure_update(const Meter& meter, Seconds budget) {
    struct Track {
        std::int64_t value = 0, changed_at = 0;
        std::uint32_t seen = 0;
        std::vector<std::int64_t> gaps;
    };
    std::vector<Track> tracks(meter.channels.size());
    const std::int64_t end = stamp_now().monotonic_ns + static_cast<std::int64_t>(budget.value * 1e9);
    std::vector<Sample> samples;
    while (stamp_now().monotonic_ns < end) {
        samples.clear();
        VIRIDIAN_TRY(meter.read(samples));
        for (const Sample& sample : samples) {
            Track& track = tracks[sample.channel];
            if (track.seen > 0 && sample.value == track.value) continue;
            if (track.seen > 1) track.gaps.push_back(sample.monotonic_ns - track.changed_at);
            track.value = sample.value;
            track.changed_at = sample.monotonic_ns;
            ++track.seen;
        }
    }
    std::int64_t fastest = 0;
    for (std::size_t i = 0; i < tracks.size(); ++i) {
        std::vector<std::int64_t>& gaps = tracks[i].gaps;
        if (!meter.channels[i].is_power() || gaps.size() < 3) continue;
        std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2),
                         gaps.end());
        const std::int64_t median = gaps[gaps.size() / 2];
        if (fastest == 0 || median < fastest) fastest = median;
    }
    return Seconds(static_cast<double>(fastest) * 1e-9);
}

}  // namespace viridian::meter
