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

const Sample* last_of(const std::vector<Sample>& samples, std::uint32_t channel) {
    const auto found = std::find_if(samples.rbegin(), samples.rend(),
                                    [channel](const Sample& sample) { return sample.channel == channel; });
    return found == samples.rend() ? nullptr : &*found;
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
    const bool sampled = std::any_of(wanted.begin(), wanted.end(), [&](std::uint32_t channel) {
        return meter.channels[channel].kind != Kind::energy_uj;
    });

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
            const Sample* from = last_of(samples, channel);
            const Sample* to = last_of(after, channel);
            const auto difference = from != nullptr && to != nullptr
                                        ? counter_difference(from->value, to->value, about.wrap_uj)
                                        : std::nullopt;
            if (!difference)
                return fail(ErrorCode::device_failed, "measure again; if it stays, run `viridian doctor`",
                            "the counter {} {} of `{}` was reset or stopped", about.device,
                            name_of(about.scope), about.meter);
            joules = Joules(static_cast<double>(*difference) * 1e-6);
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
