// ENVPIPE's scheduler (§4.3): 1F1B with forwards moved up into bubbles, as far as memory allows, so that
// slack lies behind backwards. r_s = ⌊B_max (K - s - 1) / F_opt⌋ as in its published code: the backward at
// full clock, the forward at the clock of least energy.
#include <algorithm>

#include "viridian/pipeline/schedules/schedules.hpp"

namespace viridian::pipeline {

std::vector<int> advance_depths(const Profile& profile, int micro_batches) {
    const int stages = profile.size();
    std::vector<int> depth;
    int before = micro_batches;
    for (int s = 0; s < stages; ++s) {
        const StageProfile& stage = profile.stages[static_cast<std::size_t>(s)];
        const auto& forward = stage.of(Kind::forward);
        const Point& valley = *std::ranges::min_element(forward, {}, &Point::energy);
        const int warm_up = std::min(micro_batches, stages - s);
        double extra = stage.of(Kind::backward).back().time * (stages - s - 1) / valley.time;
        extra = std::min(extra, static_cast<double>(micro_batches - warm_up));
        if (stage.memory.value > 0 && stage.activation.value > 0) {
            const std::int64_t free = stage.memory.value - stage.weights.value -
                                      stage.activation.value * static_cast<std::int64_t>(warm_up);
            extra = std::min(extra,
                             static_cast<double>(std::max<std::int64_t>(0, free / stage.activation.value)));
        }
        before = std::min(before, static_cast<int>(extra));
        depth.push_back(warm_up + before);
    }
    return depth;
}

Schedule forward_advance(const Profile& profile, int micro_batches) {
    return with_warm_up("envpipe", micro_batches, advance_depths(profile, micro_batches));
}

}  // namespace viridian::pipeline
