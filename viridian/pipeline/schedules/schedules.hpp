#pragma once
// Builds every schedule that this project knows, and lists their names.
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/pipeline/profile/profile.hpp"
#include "viridian/pipeline/schedule.hpp"

namespace viridian::pipeline {

// All forwards, then all backwards (GPipe, arXiv:1811.06965).
[[nodiscard]] Schedule gpipe(int stages, int micro_batches);
// Warm-up of min(M, K - s) forwards, then backward and forward in turn (PipeDream-flush, arXiv:2006.09503).
[[nodiscard]] Schedule one_f_one_b(int stages, int micro_batches);
// 1F1B with any warm-up depth per stage: depth[s] forwards run before the first backward.
[[nodiscard]] Schedule with_warm_up(std::string name, int micro_batches, std::span<const int> depth);

// ENVPIPE's forward-advance under memory, and its warm-up depths.
[[nodiscard]] Schedule forward_advance(const Profile& profile, int micro_batches);
[[nodiscard]] std::vector<int> advance_depths(const Profile& profile, int micro_batches);

// Stages = ranks × chunks. Errors: invalid_argument unless micro-batches come in groups of `ranks`.
[[nodiscard]] Result<Schedule> interleaved(int ranks, int chunks, int micro_batches);

[[nodiscard]] Schedule zero_bubble_h1(int stages, int micro_batches);
[[nodiscard]] Schedule zero_bubble_h2(int stages, int micro_batches);
[[nodiscard]] Result<Schedule> zero_bubble_v(int ranks, int micro_batches);  // stages = 2 × ranks

[[nodiscard]] Result<Schedule> chimera(int stages, int micro_batches);
[[nodiscard]] Result<Schedule> dual_pipe(int stages, int micro_batches);

struct ScheduleOptions {
    int micro_batches = 0;
    // Virtual stages per rank. 0 takes the schedule's own number: 2 for `interleaved` and `zb-v`, 1 for the
    // others. Only `interleaved` allows any other number.
    int chunks = 0;
};

inline constexpr int any_chunks = 0;

struct ScheduleRow {
    std::string name;
    std::string summary;
    // Builds it for the profile's stages. Errors: invalid_argument, mismatch, limit_exceeded.
    std::function<Result<Schedule>(const Profile& profile, const ScheduleOptions& options)> make;
    int chunks = 1;  // stages per rank and direction that it is built for, or any_chunks
};
[[nodiscard]] const std::vector<ScheduleRow>& schedules();

// The schedule `name` for the profile's stages, with a gradient all-reduce after the last unit of each stage
// if the profile has one. Errors: those of the schedule, invalid_argument for an unknown name or a number of
// chunks for which the schedule is not built, limit_exceeded.
[[nodiscard]] Result<Schedule> make_schedule(std::string_view name, const Profile& profile,
                                             const ScheduleOptions& options);

}  // namespace viridian::pipeline
