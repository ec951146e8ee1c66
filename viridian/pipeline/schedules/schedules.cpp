#include "viridian/pipeline/schedules/schedules.hpp"

#include <algorithm>

namespace viridian::pipeline {
namespace {

Result<int> ranks_of(const Profile& profile, int chunks) {
    if (chunks < 1 || profile.size() % chunks != 0)
        return fail(ErrorCode::mismatch, "profile a multiple of the chunks",
                    "{} stages do not make {} chunks per rank", profile.size(), chunks);
    return profile.size() / chunks;
}

}  // namespace

const std::vector<ScheduleRow>& schedules() {
    static const std::vector<ScheduleRow> rows = {
        {"gpipe", "all forwards, then all backwards",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             return gpipe(p.size(), o.micro_batches);
         }},
        {"1f1b", "one forward, one backward in turn",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             return one_f_one_b(p.size(), o.micro_batches);
         }},
        {"envpipe", "1F1B with forwards advanced under memory (ENVPIPE)",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             return forward_advance(p, o.micro_batches);
         }},
        {"interleaved", "1F1B over several chunks per rank (--chunks; the profile's stages are all chunks)",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             const int chunks = o.chunks > 0 ? o.chunks : 2;
             VIRIDIAN_TRY(const int ranks, ranks_of(p, chunks));
             return interleaved(ranks, chunks, o.micro_batches);
         },
         any_chunks},
        {"zb-h1", "zero bubble with the memory of 1F1B",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             return zero_bubble_h1(p.size(), o.micro_batches);
         }},
        {"zb-h2", "zero bubble with twice the memory",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             return zero_bubble_h2(p.size(), o.micro_batches);
         }},
        {"zb-v", "zero bubble, two chunks per rank in a V",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             VIRIDIAN_TRY(const int ranks, ranks_of(p, 2));
             return zero_bubble_v(ranks, o.micro_batches);
         },
         2},
        {"chimera", "two 1F1B pipelines in opposite directions",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             return chimera(p.size(), o.micro_batches);
         }},
        {"dualpipe", "two directions, forwards overlapping backwards",
         [](const Profile& p, const ScheduleOptions& o) -> Result<Schedule> {
             return dual_pipe(p.size(), o.micro_batches);
         }},
    };
    return rows;
}

Result<Schedule> make_schedule(std::string_view name, const Profile& profile,
                               const ScheduleOptions& options) {
    const auto row = std::ranges::find(schedules(), name, &ScheduleRow::name);
    if (row == schedules().end()) {
        std::string names;
        for (const ScheduleRow& one : schedules()) names += (names.empty() ? "" : ", ") + one.name;
        return fail(ErrorCode::invalid_argument, "choose one of: " + names, "no schedule is called `{}`",
                    name);
    }
    if (options.micro_batches < 1)
        return fail(ErrorCode::invalid_argument, "give --micro-batches 1 or more",
                    "{} micro-batches make no schedule", options.micro_batches);
    if (options.chunks != 0 && row->chunks != any_chunks && options.chunks != row->chunks)
        return fail(ErrorCode::invalid_argument, "leave --chunks out, or choose the schedule `interleaved`",
                    "the schedule `{}` puts {} of the model's stages on each rank, not {}", name, row->chunks,
                    options.chunks);
    if (3 * std::int64_t{profile.size()} * options.micro_batches > most_units)
        return fail(ErrorCode::limit_exceeded, "use fewer stages or micro-batches",
                    "{} stages × {} micro-batches are more than the {} units that fit", profile.size(),
                    options.micro_batches, most_units);
    VIRIDIAN_TRY(Schedule schedule, row->make(profile, options));
    if (profile.all_reduce.value > 0)
        for (auto& rank : schedule.ranks) {
            std::vector<std::int32_t> homes;
            for (const Unit& unit : rank) homes.push_back(unit.stage);
            std::sort(homes.begin(), homes.end());
            homes.erase(std::unique(homes.begin(), homes.end()), homes.end());
            for (const std::int32_t stage : homes) rank.push_back({stage, 0, Kind::reduce});
        }
    return schedule;
}

}  // namespace viridian::pipeline
