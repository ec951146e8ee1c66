// Interleaved 1F1B (Narayanan et al. 2021, arXiv:2104.04473): each rank holds several chunks; chunk c of rank
// r is stage c·p + r. Micro-batches go in groups of p through chunk after chunk.
#include <algorithm>

#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline {

Result<Schedule> interleaved(int ranks, int chunks, int micro_batches) {
    if (micro_batches % ranks != 0)
        return fail(ErrorCode::invalid_argument, fmt::format("give a multiple of {} micro-batches", ranks),
                    "interleaved 1F1B needs whole groups of {} micro-batches, not {}", ranks, micro_batches);
    Schedule schedule{"interleaved", ranks * chunks, micro_batches, false, {}};
    const int total = micro_batches * chunks;
    for (int r = 0; r < ranks; ++r) {
        const auto unit = [&](int k, Kind kind) {
            const int group = k / (ranks * chunks), inside = k % (ranks * chunks);
            const int chunk = kind == Kind::forward ? inside / ranks : chunks - 1 - inside / ranks;
            return Unit{chunk * ranks + r, group * ranks + k % ranks, kind};
        };
        auto& rank = schedule.ranks.emplace_back();
        const int warm_up = std::min(total, 2 * (ranks - r - 1) + (chunks - 1) * ranks);
        int forward = 0, backward = 0;
        while (forward < warm_up) rank.push_back(unit(forward++, Kind::forward));
        while (forward < total) {
            rank.push_back(unit(forward++, Kind::forward));
            rank.push_back(unit(backward++, Kind::backward));
        }
        while (backward < total) rank.push_back(unit(backward++, Kind::backward));
    }
    return schedule;
}

}  // namespace viridian::pipeline
