#pragma once
// Network is the activity network that planners work on. It is made of a schedule and a profile, numbers the
// units rank by rank, and holds for each unit its cost curve, the unit whose data it needs (at most one,
// beside the unit before it on its rank) and the transfer time after that one. The dependencies are, with s a
// stage, m a micro-batch and K the number of stages:
//   F(s,m) <- F(s-1,m)   B(K-1,m) <- F(K-1,m)   B(s,m) <- B(s+1,m)   W(s,m) <- B(s,m)   reduce(s) <- its rank
#include <cstdint>
#include <span>
#include <vector>

#include "viridian/pipeline/profile/curve.hpp"
#include "viridian/pipeline/profile/profile.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

struct Network {
    std::vector<std::int32_t> rank_begin;  // unit numbers of rank r: [rank_begin[r], rank_begin[r + 1])
    std::vector<std::int32_t> rank_of;     // per curve: its rank
    std::vector<std::int32_t> dependency;  // per unit: the unit whose data it needs, or -1
    std::vector<Nanoseconds> delay;        // per unit: transfer after the dependency
    std::vector<std::int32_t> curve_of;    // per unit: index into `curves`
    std::vector<Curve> curves;             // one for each rank, stage and kind
    std::vector<std::int32_t> order;       // all units, each after those it depends on
    std::vector<Watts> wait;               // per rank: power while it waits

    [[nodiscard]] int size() const { return static_cast<int>(dependency.size()); }
    [[nodiscard]] int ranks() const { return static_cast<int>(wait.size()); }
    [[nodiscard]] const Curve& curve(int unit) const {
        return curves[static_cast<std::size_t>(curve_of[static_cast<std::size_t>(unit)])];
    }
    // Returns the unit before `unit` on its rank, or -1 for the first.
    [[nodiscard]] int before(int unit) const {
        return first_[static_cast<std::size_t>(unit)] != 0 ? -1 : unit - 1;
    }
    [[nodiscard]] bool last_of_rank(int unit) const {
        return unit + 1 == size() || first_[static_cast<std::size_t>(unit) + 1] != 0;
    }
    [[nodiscard]] Watts total_wait() const;

    std::vector<std::uint8_t> first_;  // 1 where a rank begins
};

// Makes the network of `schedule` and checks the schedule: it has every unit exactly once, keeps forward and
// backward of a micro-batch and stage on one rank, has the stages of `profile`, and does not deadlock.
// Errors: malformed (a deadlock too, naming the units that wait), missing_entry, mismatch, limit_exceeded.
[[nodiscard]] Result<Network> make_network(const Schedule& schedule, const Profile& profile);

struct Timing {
    std::vector<Nanoseconds> start;  // per unit
    Nanoseconds makespan = 0;        // end of the last unit
};
// Returns the earliest start of every unit if unit u takes duration[u]. If `gap` is not empty, gap[u] is time
// lost before unit u on its rank.
[[nodiscard]] Timing evaluate(const Network& network, std::span<const Nanoseconds> duration,
                              std::span<const Nanoseconds> gap = {});

// Returns the latest finish of every unit with which the network still ends by `deadline`.
[[nodiscard]] std::vector<Nanoseconds> latest_finish(const Network& network,
                                                     std::span<const Nanoseconds> duration,
                                                     Nanoseconds deadline);

// Return the shortest and the longest useful duration of every unit: the ends of its curve.
[[nodiscard]] std::vector<Nanoseconds> fastest_durations(const Network& network);
[[nodiscard]] std::vector<Nanoseconds> slowest_durations(const Network& network);

}  // namespace viridian::pipeline
