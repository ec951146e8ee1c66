#pragma once
// Models time and power by clock, for users without a profile. Every result that is made from them says that
// it is an estimate.
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/pipeline/profile/profile.hpp"

namespace viridian::pipeline {

struct ClockPoint {
    Hertz clock;
    double relative_time;  // 1 at the highest clock
    Watts power;
};

struct DeviceModel {
    std::string name;                // as on the command line: v100
    std::string citation;            // where the numbers come from
    std::vector<ClockPoint> points;  // clocks rising
    Watts wait;
    Bytes memory;
};
[[nodiscard]] const std::vector<DeviceModel>& device_models();
// Errors: invalid_argument with the list of names.
[[nodiscard]] Result<DeviceModel> find_device_model(std::string_view name);

// The points of a unit that takes `time` at the device's highest clock.
[[nodiscard]] std::vector<Point> model_points(const DeviceModel& device, Seconds time);

// A profile with one stage per device; forward takes `forward` seconds at the highest clock, backward
// `backward`.
[[nodiscard]] Profile model_profile(std::span<const DeviceModel> devices, Seconds forward, Seconds backward);

}  // namespace viridian::pipeline
