#pragma once
// An activity network is made of a schedule and a profile. It numbers the units rank by rank and holds for
// each unit its cost curve, the unit whose data it needs (at most one, beside the unit before it on its rank)
// and the transfer time after that one. s is a stage, m a micro-batch, K the number of stages:
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
    std::vector<std::int32_t> rank_of;     // per curve
    std::vector<std::int32_t> dependency;  // per unit: the unit whose data it needs, or -1
    std::vector<Nanoseconds> delay;        // per unit: transfer after the dependency
    std::vector<std::int32_t> curve_of;    // per unit
    std::vector<Curve> curves;             // per rank, stage and kind
    std::vector<std::int32_t> order;       // topological
    std::vector<Watts> wait;               // per rank

    [[nodiscard]] int size() const { return static_cast<int>(dependency.size()); }
    [[nodiscard]] int ranks() const { return static_cast<int>(wait.size()); }
    [[nodiscard]] const Curve& curve(int unit) const {
        return curves[static_cast<std::size_t>(curve_of[static_cast<std::size_t>(unit)])];
    }
    // The unit before it on its rank, or -1.
    [[nodiscard]] int before(int unit) const {
        return first_[static_cast<std::size_t>(unit)] != 0 ? -1 : unit - 1;
    }
    [[nodiscard]] bool last_of_rank(int unit) const {
        return unit + 1 == size() || first_[static_cast<std::size_t>(unit) + 1] != 0;
    }
    [[nodiscard]] Watts total_wait() const;

    std::vector<std::uint8_t> first_;  // 1 where a rank begins
};

// Makes the network and checks the schedule: every unit exactly once, forward and backward of a micro-batch
// on one rank, stages the profile knows, no deadlock (the error names what each side waits for). Errors:
// malformed, missing_entry, mismatch, limit_exceeded.
[[nodiscard]] Result<Network> make_network(const Schedule& schedule, const Profile& profile);

// The earliest start of every unit for given durations. If `gap` is not empty, gap[u] is time lost before
// unit u on its rank.
struct Timing {
    std::vector<Nanoseconds> start;
    Nanoseconds makespan = 0;
};
[[nodiscard]] Timing evaluate(const Network& network, std::span<const Nanoseconds> duration,
                              std::span<const Nanoseconds> gap = {});

// The latest finish of every unit with which the network still ends by `deadline`.
[[nodiscard]] std::vector<Nanoseconds> latest_finish(const Network& network,
                                                     std::span<const Nanoseconds> duration,
                                                     Nanoseconds deadline);

[[nodiscard]] std::vector<Nanoseconds> fastest_durations(const Network& network);
[[nodiscard]] std::vector<Nanoseconds> slowest_durations(const Network& network);

}  // namespace viridian::pipeline
