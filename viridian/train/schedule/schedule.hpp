#pragma once
// A Schedule says how the learning rate changes during a run. It is a pure function of the step: a run that
// is resumed at step 1000 has the rate that it would have had without the pause.
//
//     VIRIDIAN_TRY(const Schedule schedule, parse_schedule("cosine:final=0.01,warmup=100"));
//     const double rate = 3e-4 * schedule.factor(step, {.steps = 10'000, .steps_per_epoch = 500});
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::train {

// How long a run is. Both are at least 1.
struct RunLength {
    std::int64_t steps = 1;
    std::int64_t steps_per_epoch = 1;
};

// An Amount is the value of an option: a plain number, a number of steps, or a number of epochs ("5e").
struct Amount {
    double value = 0;
    bool epochs = false;

    bool operator==(const Amount&) const = default;
    [[nodiscard]] double steps(const RunLength& run) const {
        return epochs ? value * static_cast<double>(run.steps_per_epoch) : value;
    }
};

// A ScheduleOption is one option of a schedule, "final=0.01", and the values that it may have.
struct ScheduleOption {
    enum class Kind { number, length, lengths };  // lengths: several, as in at=30e/60e/80e
    std::string_view name;
    Kind kind = Kind::number;
    double least = 0;
    double most = 1;
    double otherwise = 0;   // the value without the option
    bool required = false;  // there is no such value
};

struct ScheduleRow;

// `values` has one entry for each option of the row, in its order.
struct Schedule {
    const ScheduleRow* row = nullptr;
    std::vector<std::vector<Amount>> values;

    // Returns the factor of the rate in `step`, which is counted from 0.
    [[nodiscard]] double factor(std::int64_t step, const RunLength& run) const;
    // Returns how many steps the rate rises at first.
    [[nodiscard]] double warmup(const RunLength& run) const;
    [[nodiscard]] std::string text() const;  // with all options; parse_schedule reads it
    bool operator==(const Schedule&) const = default;
};

// A ScheduleRow is one kind of schedule.
struct ScheduleRow {
    std::string_view name;
    std::string_view summary;
    std::string_view example;
    std::span<const ScheduleOption> options;
    double (*factor)(const Schedule& schedule, double step, const RunLength& run);
    bool follows_length;  // the factor of a step depends on how many steps the run has
};
// Returns every schedule, in the order in which help texts list them.
[[nodiscard]] std::span<const ScheduleRow> schedule_rows();

// Reads "NAME" or "NAME:OPTION=VALUE,OPTION=VALUE". Errors: invalid_argument (an unknown name or option, an
// option twice, a value outside its limits, an option that is missing).
[[nodiscard]] Result<Schedule> parse_schedule(std::string_view text);

}  // namespace viridian::train
