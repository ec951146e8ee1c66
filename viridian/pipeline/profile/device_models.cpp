#include "viridian/pipeline/profile/device_models.hpp"

#include <algorithm>

namespace viridian::pipeline {
namespace {

// Time = (1 - c) + c·f_max/f, power = static + dynamic·(f/f_max)³: the usual DVFS form (time of
// arXiv:2607.00819, cubic power where voltage follows the clock). Two published numbers fix it: the power at
// the top clock and the clock of least energy ("valley").
struct Calibration {
    double low, high, step;  // MHz
    double valley;           // MHz
    double top_watts;
    double compute;  // c: the share of time that follows the clock
};

std::vector<ClockPoint> calibrated(const Calibration& k) {
    // d/dx [(W - D + D x³)(c/x + 1 - c)] = 0 at x = valley/high, solved for D.
    const double x = k.valley / k.high, c = k.compute;
    const double time = c / x + 1 - c;
    const double dynamic = k.top_watts * c / (x * x) / (3 * x * x * time + (1 - x * x * x) * c / (x * x));
    std::vector<ClockPoint> points;
    for (double f = k.high; f >= k.low - 1e-9; f -= k.step) {
        const double r = f / k.high;
        points.insert(points.begin(),
                      {Hertz(f * 1e6), c / r + 1 - c, Watts(k.top_watts + dynamic * (r * r * r - 1))});
    }
    return points;
}

// Five core clocks of matrixMul at memory clock 877 MHz: measured watts and seconds.
std::vector<ClockPoint> measured_v100() {
    constexpr double rows[][3] = {{705, 8.856, 79.8},
                                  {945, 6.488, 99.0},
                                  {1087, 5.681, 122.2},
                                  {1237, 5.028, 153.8},
                                  {1380, 4.509, 186.1}};
    std::vector<ClockPoint> points;
    for (const auto& [mhz, seconds, watts] : rows)
        points.push_back({Hertz(mhz * 1e6), seconds / 4.509, Watts(watts)});
    return points;
}

}  // namespace

const std::vector<DeviceModel>& device_models() {
    static const std::vector<DeviceModel> models = {
        {"v100",
         "blackjack2015/NV-DVFS-Benchmark, data/v100-dvfs-real.csv, matrixMul (Tang et al., e-Energy 2019); "
         "waiting 50 W "
         "assumed",
         measured_v100(), Watts(50), Bytes(16'000'000'000)},
        {"a100",
         "clocks 210-1410 MHz (nvmlDeviceGetSupportedGraphicsClocks), 400 W board power (A100 SXM data "
         "sheet), waiting "
         "85 W (ml-energy/kareus); least energy at 1050 MHz and 0.9 compute-bound assumed",
         calibrated({750, 1410, 60, 1050, 400, 0.9}), Watts(85), Bytes(40'000'000'000)},
        {"rtx3090",
         "least energy at 1350 MHz (ENVPIPE Figure 1), swept 1100-2000 MHz, 350 W board power, waiting 100 W "
         "(ENVPIPE "
         "4.5.2); 0.9 compute-bound assumed",
         calibrated({1100, 2000, 90, 1350, 350, 0.9}), Watts(100), Bytes(24'000'000'000)},
        {"h100",
         "clocks 345-1980 MHz, 700 W board power (H100 SXM data sheet); least energy at 1300 MHz, waiting "
         "120 W and 0.85 "
         "compute-bound assumed",
         calibrated({1020, 1980, 60, 1300, 700, 0.85}), Watts(120), Bytes(80'000'000'000)},
    };
    return models;
}

Result<DeviceModel> find_device_model(std::string_view name) {
    const auto found = std::ranges::find(device_models(), name, &DeviceModel::name);
    if (found != device_models().end()) return *found;
    std::string names;
    for (const DeviceModel& model : device_models()) names += (names.empty() ? "" : ", ") + model.name;
    return fail(ErrorCode::invalid_argument, "choose one of: " + names + "; or give a profile",
                "no device model is called `{}`", name);
}

std::vector<Point> model_points(const DeviceModel& device, Seconds time) {
    std::vector<Point> points;
    for (const ClockPoint& p : device.points) {
        const Seconds t = time * p.relative_time;
        points.push_back({p.clock, t, p.power * t});
    }
    return points;
}

Profile model_profile(std::span<const DeviceModel> devices, Seconds forward, Seconds backward) {
    Profile profile;
    std::string names;
    for (const DeviceModel& device : devices) {
        StageProfile stage;
        stage.of(Kind::forward) = model_points(device, forward);
        stage.of(Kind::backward) = model_points(device, backward);
        stage.wait = device.wait;
        stage.device = device.name;
        if (names.find(device.name) == std::string::npos) names += (names.empty() ? "" : "+") + device.name;
        profile.stages.push_back(std::move(stage));
    }
    profile.provenance = {Provenance::Kind::estimated, "device model " + names};
    return profile;
}

}  // namespace viridian::pipeline
