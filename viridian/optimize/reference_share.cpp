#include "viridian/optimize/reference_share.hpp"

#include <numeric>

namespace viridian::optimize {

std::optional<std::string> reference_share_note(const PlannedModel& planned,
                                                const std::vector<double>& step_seconds) {
    constexpr double noteworthy = 0.05;
    std::size_t slow = 0;
    double seconds = 0;
    for (std::size_t s = 0; s < step_seconds.size(); ++s) {
        const plan::Step& step = planned.plan.steps[s];
        if (step.kind != plan::Step::Kind::kernel ||
            step.choice.variant.algorithm != plan::Algorithm::reference)
            continue;
        ++slow;
        seconds += step_seconds[s];
    }
    const double all = std::accumulate(step_seconds.begin(), step_seconds.end(), 0.0);
    if (!(seconds > noteworthy * all)) return std::nullopt;
    return fmt::format(
        "{} of {} steps have no fast kernel for their types and take {:.0f} % of the time on the slow "
        "reference kernels: --as f32 takes a model in f16 or of quantised integers in f32 (`viridian "
        "inspect` "
        "lists operators and types)",
        slow, step_seconds.size(), 100 * seconds / all);
}

}  // namespace viridian::optimize
