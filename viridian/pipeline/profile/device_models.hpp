#pragma once
// Offers models of known GPUs for users who have no stage profile of their own: the time and the power of a
// unit at each clock, from published measurements or data sheets. Every profile that is made from a model has
// the provenance `estimated`, so that every result says so.
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/pipeline/profile/profile.hpp"

namespace viridian::pipeline {

struct ClockPoint {
    Hertz clock;
    double relative_time;  // time of a unit divided by its time at the highest clock
    Watts power;           // while a unit runs
};

struct DeviceModel {
    std::string name;                // as on the command line: v100
    std::string citation;            // the source of each number, and what was assumed
    std::vector<ClockPoint> points;  // clocks rise
    Watts wait;                      // while the device waits
    Bytes memory;
};
// Returns all models.
[[nodiscard]] const std::vector<DeviceModel>& device_models();
// Returns the model called `name`. Errors: invalid_argument, with the list of names.
[[nodiscard]] Result<DeviceModel> find_device_model(std::string_view name);

// Returns time and energy at each clock of `device`, for a unit that takes `time` at the highest clock.
[[nodiscard]] std::vector<Point> model_points(const DeviceModel& device, Seconds time);

// Returns a profile with one stage per entry of `devices`. A forward unit takes `forward` at the highest
// clock and a backward unit `backward`. Memory, transfers and clock changes are not set.
[[nodiscard]] Profile model_profile(std::span<const DeviceModel> devices, Seconds forward, Seconds backward);

}  // namespace viridian::pipeline
