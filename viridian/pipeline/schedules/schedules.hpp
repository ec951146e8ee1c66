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

// Returns the schedule that runs all forwards, then all backwards (GPipe, arXiv:1811.06965).
[[nodiscard]] Schedule gpipe(int stages, int micro_batches);
// Returns 1F1B (PipeDream-flush, arXiv:2006.09503): stage s of K stages runs min(M, K - s) of the M
// micro-batches forward as its warm-up, then one backward and one forward in turn.
[[nodiscard]] Schedule one_f_one_b(int stages, int micro_batches);
// Returns 1F1B with any warm-up per stage, called `name`: on stage s, depth[s] forwards run before the first
// backward. Depths are cut to [1, micro_batches].
[[nodiscard]] Schedule with_warm_up(std::string name, int micro_batches, std::span<const int> depth);

// Returns ENVPIPE's schedule (§4.3): 1F1B whose forwards are advanced into bubbles as far as each stage's
// memory allows. `advance_depths` returns the warm-up depth of each stage in it.
[[nodiscard]] Schedule forward_advance(const Profile& profile, int micro_batches);
[[nodiscard]] std::vector<int> advance_depths(const Profile& profile, int micro_batches);

// Returns interleaved 1F1B (arXiv:2104.04473) over ranks × chunks stages: each rank runs `chunks` of them.
// Errors: invalid_argument if `micro_batches` is not a multiple of `ranks`.
[[nodiscard]] Result<Schedule> interleaved(int ranks, int chunks, int micro_batches);

// Return zero-bubble schedules, in which the weight gradient is a unit of its own (arXiv:2401.10241): H1
// needs the memory of 1F1B, H2 about twice that. V (arXiv:2405.15362) puts two stages on each rank, 2 × ranks
// in all. Errors of V: invalid_argument if there are too few micro-batches.
[[nodiscard]] Schedule zero_bubble_h1(int stages, int micro_batches);
[[nodiscard]] Schedule zero_bubble_h2(int stages, int micro_batches);
[[nodiscard]] Result<Schedule> zero_bubble_v(int ranks, int micro_batches);

// Return schedules of two pipelines in opposite directions over the same ranks: Chimera (arXiv:2107.06925)
// and DualPipe, which overlaps forwards with backwards. Errors: invalid_argument if the number of stages or
// of micro-batches is odd, or there are too few micro-batches.
[[nodiscard]] Result<Schedule> chimera(int stages, int micro_batches);
[[nodiscard]] Result<Schedule> dual_pipe(int stages, int micro_batches);

struct ScheduleOptions {
    int micro_batches = 0;  // at least 1
    // Virtual stages per rank. 0 takes the schedule's own number: 2 for `interleaved` and `zb-v`, 1 for the
    // others. Only `interleaved` allows any other number.
    int chunks = 0;
};

inline constexpr int any_chunks = 0;

// A ScheduleRow is one schedule that users can name.
struct ScheduleRow {
    std::string name;
    std::string summary;
    // Builds the schedule for the stages of `profile`. Errors: invalid_argument, mismatch.
    std::function<Result<Schedule>(const Profile& profile, const ScheduleOptions& options)> make;
    int chunks = 1;  // stages per rank and direction that it is built for, or any_chunks
};
// Returns all schedules.
[[nodiscard]] const std::vector<ScheduleRow>& schedules();

// Returns the schedule `name` for the stages of `profile`. If the profile has an all-reduce, each rank ends
// with one for each of its stages. Errors: those of the schedule; invalid_argument for an unknown name, fewer
// than one micro-batch or a number of chunks for which the schedule is not built; limit_exceeded for more
// than `most_units` units.
[[nodiscard]] Result<Schedule> make_schedule(std::string_view name, const Profile& profile,
                                             const ScheduleOptions& options);

}  // namespace viridian::pipeline
