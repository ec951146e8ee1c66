#include "viridian/pipeline/schedules/schedules.hpp"

#include <algorithm>

namespace viridian::pipeline {

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
