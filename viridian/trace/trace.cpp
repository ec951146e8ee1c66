#include "viridian/trace/trace.hpp"

#include <algorithm>

namespace viridian::trace {

DeviceId Trace::device(std::string_view name) {
    const auto found = std::ranges::find(devices, name);
    if (found == devices.end()) {
        devices.emplace_back(name);
        return static_cast<DeviceId>(devices.size() - 1);
    }
    return static_cast<DeviceId>(found - devices.begin());
}

LaneId Trace::lane(DeviceId on, std::int64_t process, std::int64_t thread) {
    const auto found = std::ranges::find_if(lanes, [&](const Lane& known) {
        return known.device == on && known.process == process && known.thread == thread;
    });
    if (found == lanes.end()) {
        lanes.push_back({on, process, thread, {}});
        return static_cast<LaneId>(lanes.size() - 1);
    }
    return static_cast<LaneId>(found - lanes.begin());
}

std::uint32_t Trace::part(LaneId lane) const { return lane < lanes.size() ? lanes[lane].part : 0; }

std::string Trace::process(LaneId lane) const {
    const std::uint32_t index = part(lane);
    return index < processes.size() ? processes[index] : "";
}

void Trace::take_origin(const Trace& from) {
    format = from.format;
    source = from.source;
    clock = from.clock;
    warnings = from.warnings;
    lost_events = from.lost_events;
    capped = from.capped;
}

void Trace::warn(std::string_view what, std::string_view first, std::uint64_t count) {
    const auto found = std::ranges::find(warnings, what, &Warning::what);
    if (found == warnings.end())
        warnings.push_back({std::string(what), count, std::string(first)});
    else
        found->count += count;
}

}  // namespace viridian::trace
