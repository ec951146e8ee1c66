// Two pipelines in opposite directions over the same ranks: stage s of the first half of the micro-batches
// runs on rank s, of the second half on rank K - 1 - s. Each rank holds the weights of two stages.
#include <algorithm>

#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline {
namespace {

Result<void> check_even(std::string_view name, int ranks, int micro_batches, int least) {
    if (ranks % 2 == 0 && micro_batches % 2 == 0 && micro_batches >= least) return {};
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("give an even number of stages and an even number, {} or more, of micro-batches", least),
        "{} cannot run {} micro-batches over {} stages", name, micro_batches, ranks);
}

}  // namespace

// Chimera (Li and Hoefler, arXiv:2107.06925, Figure 3 and direct concatenation): with one slot per unit,
// forward m of stage s runs in slot s + 2m and its backward in slot 2K - 1 - s + 2m; the two directions meet
// in slots of different parity, and every K micro-batches start 2K slots later. The order of the slots is the
// schedule.
Result<Schedule> chimera(int stages, int micro_batches) {
    VIRIDIAN_TRY(check_even("chimera", stages, micro_batches, 2));
    const int half = micro_batches / 2;
    Schedule schedule{"chimera", stages, micro_batches, false, {}};
    for (int r = 0; r < stages; ++r) {
        std::vector<std::pair<std::int64_t, Unit>> slots;
        for (int direction = 0; direction < 2; ++direction)
            for (int m = 0; m < half; ++m) {
                const int s = direction == 0 ? r : stages - 1 - r;
                const std::int64_t base =
                    std::int64_t{2} * stages * (m / (stages / 2)) + 2 * (m % (stages / 2));
                const int number = direction * half + m;
                slots.push_back({base + s, {s, number, Kind::forward}});
                slots.push_back({base + 2 * stages - 1 - s, {s, number, Kind::backward}});
            }
        std::sort(slots.begin(), slots.end());
        auto& rank = schedule.ranks.emplace_back();
        for (const auto& [slot, unit] : slots) rank.push_back(unit);
    }
    return schedule;
}

// DualPipe (DeepSeek-V3 technical report, arXiv:2412.19437, Figure 5): forwards of one direction overlap with
// backwards of the other. Overlapped pairs are marked; their times are added.
Result<Schedule> dual_pipe(int stages, int micro_batches) {
    VIRIDIAN_TRY(check_even("dualpipe", stages, micro_batches, 2 * stages));
    const int half = micro_batches / 2;
    Schedule schedule{"dualpipe", stages, micro_batches, true, {}};
    for (int r = 0; r < stages; ++r) {
        auto& rank = schedule.ranks.emplace_back();
        const int middle = stages / 2, near = std::min(r, stages - 1 - r);
        const int flip = r >= middle ? 1 : 0;
        int done[2][3] = {};
        std::vector<Unit> delayed;  // weight units that wait for their turn
        const auto unit = [&](int direction, Kind kind) {
            direction ^= flip;
            const int m = done[direction][static_cast<int>(kind)]++;
            return Unit{direction == 0 ? r : stages - 1 - r, direction * half + m, kind};
        };
        const auto forward = [&](int direction) { rank.push_back(unit(direction, Kind::forward)); };
        const auto backward = [&](int direction, bool delay_weight) {
            Unit b = unit(direction, Kind::backward);
            b.overlapped = !delay_weight;  // one whole backward
            rank.push_back(b);
            (delay_weight ? delayed : rank).push_back({b.stage, b.micro_batch, Kind::weight});
        };
        const auto both = [&](int forward_direction, int backward_direction) {
            forward(forward_direction);
            rank.back().overlapped = true;
            backward(backward_direction, false);
        };
        const auto weight = [&] {
            rank.push_back(delayed.front());
            delayed.erase(delayed.begin());
        };
        for (int i = 0; i < 2 * (middle - near - 1); ++i) forward(0);
        for (int i = 0; i < near + 1; ++i) forward(0), forward(1);
        for (int i = 0; i < middle - near - 1; ++i) backward(1, true), weight(), forward(1);
        for (int i = 0; i < half - stages + near + 1; ++i) {
            if (i == 0 && near == middle - 1)  // the middle ranks start without overlap
                forward(0), backward(1, false);
            else
                both(0, 1);
            both(1, 0);
        }
        for (int i = 0; i < middle - near - 1; ++i) backward(1, false), both(1, 0);
        bool delay = false;
        for (int i = 0; i < near + 1; ++i) {
            delay = delay || (i == (near + 1) / 2 && near % 2 == 1);
            backward(1, delay);
            delay = delay || (i == (near + 1) / 2 && near % 2 == 0);
            backward(0, delay);
        }
        for (int i = 0; i < middle - near - 1; ++i) weight(), backward(0, true);
        while (!delayed.empty()) weight();
    }
    return schedule;
}

}  // namespace viridian::pipeline
