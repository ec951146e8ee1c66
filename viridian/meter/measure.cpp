#include "viridian/meter/measure.hpp"

#include <algorithm>

#include "viridian/meter/curve/running_energy.hpp"
#include "viridian/meter/meters/list.hpp"
#include "viridian/meter/sampler.hpp"

namespace viridian::meter {
namespace {

// One reading of every channel.
Result<std::vector<Sample>> read_once(const Meter& meter) {
    std::vector<Sample> samples;
    VIRIDIAN_TRY(meter.read(samples));
    return samples;
}

// A counter is read often enough meanwhile that it cannot go round twice unseen.
Seconds counter_pace(std::int64_t wrap_uj) {
    return Seconds(std::clamp(0.25e-6 * static_cast<double>(wrap_uj) / highest_watts, 0.001, 1.0));
}

// The energy of one channel between `begin` and `end` (monotonic). Errors: device_failed if part of it is not
// known.
Result<Joules> energy_between(const Channel& about, const std::vector<Sample>& samples, std::uint32_t channel,
                              std::int64_t begin, std::int64_t end) {
    RunningEnergy running(about);
    std::optional<Exact> before;
    for (const Sample& sample : samples) {
        if (sample.channel != channel) continue;
        if (!before && sample.monotonic_ns > begin) {
            if (running.at(begin).readings == 0) {  // the first reading holds from the beginning on
                Sample first = sample;
                first.monotonic_ns = begin;
                running.take(first);
            }
            before = running.at(begin).energy;
        }
        running.take(sample);
    }
    const RunningEnergy::State last = running.at(end);
    if (last.readings == 0 || last.doubts > 0)
        return fail(ErrorCode::device_failed, "measure again; if it stays, run `viridian doctor`",
                    "{} {} of `{}` was reset, stopped, or not read for so long that its energy is unknown",
                    about.device, name_of(about.scope), about.meter);
    return joules(last.energy - before.value_or(running.at(begin).energy));
}

// The counted channels of `devices`; those of all devices if none is named.
Result<std::vector<std::uint32_t>> channels_of(const Meter& meter, std::span<const std::string> devices) {
    std::vector<std::uint32_t> wanted = counted(meter.channels);
    const auto device = [&](std::uint32_t channel) { return meter.channels[channel].device; };
    for (const std::string& name : devices)
        if (std::ranges::find(wanted, name, device) == wanted.end())
            return fail(ErrorCode::missing_entry, "run `viridian doctor`",
                        "the meter `{}` does not measure `{}`", meter.name, name);
    if (!devices.empty())
        std::erase_if(wanted, [&](std::uint32_t channel) {
            return std::ranges::find(devices, device(channel)) == devices.end();
        });
    if (wanted.empty())
        return fail(ErrorCode::missing_entry, "run `viridian doctor`",
                    "the meter `{}` has no power or energy", meter.name);
    return wanted;
}

}  // namespace

Result<Measurement> measure(const Meter& meter, const std::function<void()>& work,
                            std::span<const std::string> devices, Seconds period) {
    VIRIDIAN_TRY(const std::vector<std::uint32_t> wanted, channels_of(meter, devices));
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
        VIRIDIAN_TRY(const Joules energy, energy_between(about, all, channel, begin, end));
        const Joules edge = energy * std::min(1.0, meter.update.value / std::max(result.seconds.value, 1e-9));
        const Energy counted = with_model_error({energy, energy - edge, energy + edge, about.provenance()});
        if (result.energy.provenance.source.empty())
            result.energy = counted;
        else
            result.energy += counted;
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
