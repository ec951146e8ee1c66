#include "viridian/pipeline/planners/power_cap.hpp"

#include <cmath>

namespace viridian::pipeline {
namespace {

PowerCap at_slowdown(std::span<const ExactFrontier> pipelines, double slowdown) {
    PowerCap out;
    out.slowdown = slowdown;
    for (const ExactFrontier& frontier : pipelines) {
        CappedPipeline one;
        one.time =
            static_cast<Nanoseconds>(std::ceil(static_cast<double>(frontier.points.front().time) * slowdown));
        one.energy = frontier.energy_at(one.time);
        out.power += one.power();
        out.pipelines.push_back(one);
    }
    return out;
}

}  // namespace

Result<PowerCap> share_power(std::span<const ExactFrontier> pipelines, Watts cap) {
    PowerCap best = at_slowdown(pipelines, 1);
    if (best.power <= cap) return best;
    constexpr double slowest = 1e6;
    best = at_slowdown(pipelines, slowest);
    if (best.power > cap)
        return fail(ErrorCode::invalid_argument, fmt::format("allow more than {:.1f} W", best.power.value),
                    "waiting alone takes more than the cap of {:.1f} W", cap.value);
    double low = 1, high = slowest;
    for (int i = 0; i < 200 && high / low > 1 + 1e-12; ++i) {
        const double middle = std::sqrt(low * high);
        const PowerCap tried = at_slowdown(pipelines, middle);
        if (tried.power <= cap) {
            high = middle;
            best = tried;
        } else {
            low = middle;
        }
    }
    return best;
}

}  // namespace viridian::pipeline
