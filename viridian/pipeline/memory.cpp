#include "viridian/pipeline/memory.hpp"

#include <algorithm>

namespace viridian::pipeline {

std::vector<RankMemory> memory_of(const Schedule& schedule, const Profile& profile) {
    std::vector<RankMemory> ranks;
    for (const auto& order : schedule.ranks) {
        RankMemory& rank = ranks.emplace_back();
        std::vector<std::int32_t> homes;
        Bytes held;
        Bytes most;
        int in_flight = 0;
        rank.after.reserve(order.size());
        for (const Unit& unit : order) {
            const StageProfile& stage = profile.stages[static_cast<std::size_t>(unit.stage)];
            if (homes.empty() || homes.back() != unit.stage) homes.push_back(unit.stage);
            if (unit.kind == Kind::forward) {
                held += stage.activation;
                rank.most_in_flight = std::max(rank.most_in_flight, ++in_flight);
            } else if (unit.kind == Kind::backward) {
                held -= schedule.split_backward ? stage.activation - stage.weight_stash : stage.activation;
                --in_flight;
            } else if (unit.kind == Kind::weight) {
                held -= stage.weight_stash;
            }
            most = std::max(most, held);
            rank.after.push_back(held);
        }
        std::sort(homes.begin(), homes.end());
        homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
        for (const std::int32_t s : homes) {
            const StageProfile& stage = profile.stages[static_cast<std::size_t>(s)];
            rank.weights += stage.weights;
            rank.capacity = std::max(rank.capacity, stage.memory);
        }
        rank.peak = rank.weights + most;
    }
    return ranks;
}

Result<void> check_memory(const std::vector<RankMemory>& ranks) {
    for (std::size_t r = 0; r < ranks.size(); ++r)
        if (ranks[r].capacity.value > 0 && ranks[r].peak > ranks[r].capacity)
            return fail(ErrorCode::limit_exceeded,
                        "use fewer warm-up forwards, smaller micro-batches or more stages",
                        "rank {} needs {:.3f} GB at its peak, more than its {:.3f} GB", r,
                        static_cast<double>(ranks[r].peak.value) * 1e-9,
                        static_cast<double>(ranks[r].capacity.value) * 1e-9);
    return {};
}

}  // namespace viridian::pipeline
