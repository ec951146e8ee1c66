#include "viridian/pipeline/runnable.hpp"

#include "viridian/base/units_text.hpp"

namespace viridian::pipeline {

Profile equal_profile(const Schedule& schedule) {
    Profile profile;
    profile.stages.resize(static_cast<std::size_t>(schedule.stages));
    for (StageProfile& stage : profile.stages)
        for (const Kind kind : profiled_kinds) stage.of(kind) = {{Hertz(1e9), Seconds(1), Joules(1)}};
    return profile;
}

Result<void> check_runnable(const Schedule& schedule) {
    const std::int64_t units = 3 * std::int64_t{schedule.stages} * schedule.micro_batches;
    if (units > most_units)
        return fail(ErrorCode::limit_exceeded, "give a smaller schedule",
                    "{} stages × {} micro-batches are too many to check", schedule.stages,
                    schedule.micro_batches);
    if (schedule.stages > schedule.size())  // a file may claim millions
        return fail(ErrorCode::missing_entry, "run every unit once", "the schedule has {} and {}",
                    counted(schedule.stages, "stage"), counted(schedule.size(), "unit"));
    VIRIDIAN_TRY([[maybe_unused]] const Network network, make_network(schedule, equal_profile(schedule)));
    return {};
}

}  // namespace viridian::pipeline
