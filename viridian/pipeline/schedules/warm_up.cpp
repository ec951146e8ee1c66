// Schedules that are nothing but a warm-up depth per stage: GPipe, 1F1B and all between them.
#include <algorithm>

#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline {

Schedule with_warm_up(std::string name, int micro_batches, std::span<const int> depth) {
    Schedule schedule{std::move(name), static_cast<int>(depth.size()), micro_batches, false, {}};
    for (int s = 0; s < schedule.stages; ++s) {
        auto& rank = schedule.ranks.emplace_back();
        rank.reserve(static_cast<std::size_t>(micro_batches) * 2);
        int forward = 0;
        const int warm_up = std::clamp(depth[static_cast<std::size_t>(s)], 1, micro_batches);
        while (forward < warm_up) rank.push_back({s, forward++, Kind::forward});
        for (int backward = 0; backward < micro_batches; ++backward) {
            rank.push_back({s, backward, Kind::backward});
            if (forward < micro_batches) rank.push_back({s, forward++, Kind::forward});
        }
    }
    return schedule;
}

Schedule gpipe(int stages, int micro_batches) {
    return with_warm_up("gpipe", micro_batches,
                        std::vector<int>(static_cast<std::size_t>(stages), micro_batches));
}

Schedule one_f_one_b(int stages, int micro_batches) {
    std::vector<int> depth;
    for (int s = 0; s < stages; ++s) depth.push_back(stages - s);
    return with_warm_up("1f1b", micro_batches, depth);
}

}  // namespace viridian::pipeline
