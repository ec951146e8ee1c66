#include "viridian/meter/characterise/probe.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace viridian::meter {
namespace {

constexpr std::size_t most_costs = 1 << 20;

std::int64_t quantile(std::vector<std::int64_t>& values, double share) {
    if (values.empty()) return 0;
    const auto at =
        values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

// One meter, its fields and what is remembered of each.
struct Probed {
    const Meter* meter;
    std::size_t first;  // of its fields in the log
    std::int64_t asked_ns = 0;
    std::vector<std::int64_t> costs;
};

}  // namespace

Result<ProbeLog> probe(const std::vector<Meter>& meters, const ProbeOptions& options) {
    if (meters.empty())
        return fail(ErrorCode::no_device, "run `viridian doctor`", "there is no meter to probe");
    ProbeLog log;
    std::vector<Probed> all;
    for (const Meter& meter : meters) {
        all.push_back({&meter, log.fields.size(), 0, {}});
        for (const Channel& channel : meter.channels) {
            log.fields.emplace_back().channel = channel;
            log.fields.back().channel.meter = meter.name;
        }
    }
    std::optional<Error> failed;
    std::vector<Sample> samples;
    log.begin_ns = stamp_now().time_ns;
    const std::int64_t end =
        stamp_now().monotonic_ns + static_cast<std::int64_t>(options.duration.value * 1e9);
    while (stamp_now().monotonic_ns < end && !(options.stop && options.stop())) {
        for (Probed& probed : all) {
            samples.clear();
            const Stamp before = stamp_now();
            const Result<void> read = probed.meter->read(samples);
            const Stamp after = stamp_now();
            if (!read.ok() && !failed) failed = read.error();
            if (probed.costs.size() < most_costs)
                probed.costs.push_back(after.monotonic_ns - before.monotonic_ns);
            for (std::size_t i = 0; i < probed.meter->channels.size(); ++i)
                ++log.fields[probed.first + i].reads;
            for (const Sample& sample : samples) {
                ProbeField& field = log.fields[probed.first + sample.channel];
                ++field.stamps;
                if (!field.readings.empty() && (field.readings.back().value == sample.value ||
                                                field.readings.back().seen_ns >= after.time_ns))
                    continue;
                const std::int64_t asked = probed.asked_ns != 0 ? probed.asked_ns : before.time_ns;
                field.readings.push_back(
                    {after.time_ns, std::min(asked, after.time_ns), sample.time_ns, sample.value});
            }
            probed.asked_ns = before.time_ns;
        }
        if (options.pause.value > 0.0)
            std::this_thread::sleep_for(std::chrono::duration<double>(options.pause.value));
    }
    log.end_ns = stamp_now().time_ns;
    bool answered = false;
    for (Probed& probed : all)
        for (std::size_t i = 0; i < probed.meter->channels.size(); ++i) {
            ProbeField& field = log.fields[probed.first + i];
            field.cost_ns = quantile(probed.costs, 0.5);
            field.cost_p99_ns = quantile(probed.costs, 0.99);
            answered = answered || !field.readings.empty();
        }
    if (!answered && failed) return *failed;
    return log;
}

}  // namespace viridian::meter
