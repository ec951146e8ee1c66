// Zero-bubble schedules (Qi et al., arXiv:2401.10241; the V shape: arXiv:2405.15362): the weight gradient is
// a unit of its own that nobody waits for, and fills what would be bubbles.
#include <algorithm>

#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline {
namespace {

// `depth` forwards first; each weight unit follows its backward `lag` micro-batches later.
std::vector<Unit> rank_order(int s, int micro_batches, int depth, int lag) {
    std::vector<Unit> order;
    int forward = 0, weight = 0;
    while (forward < std::min(depth, micro_batches)) order.push_back({s, forward++, Kind::forward});
    for (int backward = 0; backward < micro_batches; ++backward) {
        order.push_back({s, backward, Kind::backward});
        if (backward >= lag) order.push_back({s, weight++, Kind::weight});
        if (forward < micro_batches) order.push_back({s, forward++, Kind::forward});
    }
    while (weight < micro_batches) order.push_back({s, weight++, Kind::weight});
    return order;
}

}  // namespace

// H1: the warm-up, and so the memory, of 1F1B.
Schedule zero_bubble_h1(int stages, int micro_batches) {
    Schedule schedule{"zb-h1", stages, micro_batches, true, {}};
    for (int s = 0; s < stages; ++s) schedule.ranks.push_back(rank_order(s, micro_batches, stages - s, s));
    return schedule;
}

// H2: about twice the warm-up; no bubble between the first and the last unit of a rank where F = B = W.
Schedule zero_bubble_h2(int stages, int micro_batches) {
    Schedule schedule{"zb-h2", stages, micro_batches, true, {}};
    for (int s = 0; s < stages; ++s)
        schedule.ranks.push_back(rank_order(s, micro_batches, 2 * (stages - s) - 1, 2 * s));
    return schedule;
}

// V: rank r holds stages r and 2p - 1 - r, so that the last stage sits beside the first.
Result<Schedule> zero_bubble_v(int ranks, int micro_batches) {
    if (micro_batches < 2 * ranks)
        return fail(ErrorCode::invalid_argument, fmt::format("give {} micro-batches or more", 2 * ranks),
                    "zb-v over {} ranks does not fill with {} micro-batches", ranks, micro_batches);
    Schedule schedule{"zb-v", 2 * ranks, micro_batches, true, {}};
    for (int r = 0; r < ranks; ++r) {
        auto& rank = schedule.ranks.emplace_back();
        const int stage[2] = {r, 2 * ranks - 1 - r};
        int done[2][3] = {};
        const auto run = [&](int chunk, Kind kind) {
            int& next = done[chunk][static_cast<int>(kind)];
            if (next < micro_batches) rank.push_back({stage[chunk], next++, kind});
        };
        for (int i = 0; i < 2 * (ranks - r) - 1; ++i) run(0, Kind::forward);
        for (int i = 0; i < r; ++i) run(1, Kind::forward), run(0, Kind::forward);
        for (int i = 0; i < ranks - r; ++i)
            run(1, Kind::forward), run(1, Kind::backward), run(1, Kind::weight);
        while (done[1][0] < done[0][0] || done[0][0] < micro_batches) {
            run(0, Kind::forward);
            run(0, Kind::backward), run(0, Kind::weight);
            run(1, Kind::forward);
            run(1, Kind::backward), run(1, Kind::weight);
        }
        for (int i = 0; i < r; ++i) run(0, Kind::backward), run(1, Kind::backward);
        for (int i = 0; i < ranks - r; ++i) run(0, Kind::backward), run(0, Kind::weight);
        for (int chunk : {1, 0})
            for (int i = 0; i < micro_batches; ++i) {
                run(chunk, Kind::backward);
            }
        for (int chunk : {1, 0})
            for (int i = 0; i < micro_batches; ++i) run(chunk, Kind::weight);
    }
    return schedule;
}

}  // namespace viridian::pipeline
