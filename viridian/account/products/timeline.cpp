#include "viridian/account/products/timeline.hpp"

#include <map>
#include <tuple>

#include "viridian/meter/curve/power_curve.hpp"
#include "viridian/meter/meters/list.hpp"

namespace viridian::account {

std::vector<trace::CounterTrack> power_tracks(const meter::PowerLog& log) {
    std::vector<meter::Channel> channels;
    for (const meter::Series& series : log.series) channels.push_back(series.channel);
    std::vector<trace::CounterTrack> tracks;
    for (const std::uint32_t i : meter::counted(channels)) {
        trace::CounterTrack track{fmt::format("{} {} power ({})", channels[i].device,
                                              name_of(channels[i].scope), channels[i].provenance().text()),
                                  "W",
                                  {}};
        for (const meter::PowerSegment& segment : meter::curve_of(log.series[i]).segments)
            if (segment.end > segment.begin && !segment.gap)
                track.points.emplace_back(segment.begin,
                                          1e9 * meter::joules(segment.energy).value /
                                              static_cast<double>(segment.end - segment.begin));
        tracks.push_back(std::move(track));
    }
    return tracks;
}

std::function<double(const trace::Event&)> microjoules_of(const Accounting& result,
                                                          const trace::Trace& about) {
    struct Sum {
        double microjoules = 0.0;
        std::uint64_t count = 0;
    };
    std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;  // by process, name and pass
    for (const Operation& operation : result.operations) {
        if (!operation.energy) continue;
        Sum& sum = sums[{operation.process, operation.name, operation.pass}];
        sum.microjoules += 1e6 * operation.energy->value.value;
        sum.count += operation.count;
    }
    const auto mean = [sums = std::move(sums), &about](const trace::Event& event) {
        const std::string name =
            event.path != 0 ? about.qualified(event.path) : std::string(about.names[event.name]);
        const auto found = sums.find({about.process(event.lane), name, std::string(name_of(event.pass))});
        if (found == sums.end() || found->second.count == 0) return -1.0;
        return found->second.microjoules / static_cast<double>(found->second.count);
    };
    using Key = std::tuple<std::uint32_t, trace::PathId, trace::NameId, trace::Pass>;
    return [mean, &about, known = std::map<Key, double>()](const trace::Event& event) mutable {
        if (!trace::is_work(event.kind)) return -1.0;
        const Key key(about.part(event.lane), event.path, event.name, event.pass);
        const auto found = known.find(key);
        return found != known.end() ? found->second : known.emplace(key, mean(event)).first->second;
    };
}

Result<void> write_timeline(trace::Source& source, const meter::PowerLog& log, const Accounting& result,
                            const Path& file) {
    trace::JsonExtras extras;
    extras.tracks = power_tracks(log);
    extras.microjoules = microjoules_of(result, source.about());
    VIRIDIAN_TRY(std::unique_ptr<trace::Out> out, trace::open_out(file));
    return trace::copy(source, *trace::json_sink(std::move(out), std::move(extras)));
}

}  // namespace viridian::account
