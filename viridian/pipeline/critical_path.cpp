#include "viridian/pipeline/critical_path.hpp"

#include <limits>

namespace viridian::pipeline {
std::vector<int> walk_back(const Network& network, std::span<const Nanoseconds> duration,
                           const Timing& timing) {
    constexpr Nanoseconds never = std::numeric_limits<Nanoseconds>::max();
    std::vector<int> path;
    int cursor = 0;  // the unit that ends last; of several, that of the first rank (the paper's last backward
                     // on GPU 1)
    const auto end = [&](int u) { return timing.start[at(u)] + duration[at(u)]; };
    for (int u = 0; u < network.size(); ++u)
        if (end(u) > end(cursor)) cursor = u;
    while (cursor >= 0) {
        path.push_back(cursor);
        const int before = network.before(cursor);
        const std::int32_t data = network.dependency[at(cursor)];
        const Nanoseconds start = timing.start[at(cursor)];
        const Nanoseconds bubble = before < 0 ? never : start - end(before);
        const Nanoseconds delay = data < 0 ? never : start - end(data) - network.delay[at(cursor)];
        cursor = bubble < delay ? before : data;
    }
    return path;
}

std::vector<Nanoseconds> slack(const Network& network, std::span<const Nanoseconds> duration,
                               const Timing& timing) {
    std::vector<Nanoseconds> room = latest_finish(network, duration, timing.makespan);
    for (std::size_t u = 0; u < room.size(); ++u) room[u] -= timing.start[u] + duration[u];
    return room;
}

std::vector<std::uint8_t> envelope(const Schedule& schedule, const Network& network) {
    std::vector<std::uint8_t> on(at(network.size()), 0);
    std::size_t u = 0;
    for (const auto& rank : schedule.ranks)
        for (const Unit& unit : rank) {
            on[u++] = unit.stage + 1 == schedule.stages || unit.kind == Kind::reduce ||
                      (unit.kind == Kind::forward && unit.micro_batch == 0) ||
                      (unit.kind != Kind::forward && unit.micro_batch + 1 == schedule.micro_batches);
        }
    return on;
}

}  // namespace viridian::pipeline
