#include "viridian/prove/precision_budget.hpp"

#include "viridian/base/json.hpp"

#include <cmath>

namespace viridian::prove {

std::span<const Blame> to_forbid(std::span<const Blame> blames, double error, double target) {
    double left = 0;  // sum of squares
    for (const Blame& blame : blames)
        if (std::isfinite(blame.error)) left += blame.error * blame.error;
    const double scale = left > 0 && std::isfinite(error) ? error * error / left : 1;
    std::size_t count = 0;
    for (; count < blames.size(); ++count) {
        const double own = blames[count].error;
        if (count > 0 && std::isfinite(own) && left * scale <= target * target) break;
        if (std::isfinite(own)) left -= own * own;
    }
    return blames.first(count);
}

Json to_json(const std::vector<Forbidden>& forbidden) {
    Json list = Json::array();
    for (const Forbidden& entry : forbidden)
        list.push_back({{"node", entry.blame.node},
                        {"tensor", entry.blame.tensor},
                        {"kernel", entry.blame.kernel},
                        {"local_error", std::isfinite(entry.blame.local) ? Json(entry.blame.local) : Json()},
                        {"output_error", std::isfinite(entry.blame.error) ? Json(entry.blame.error) : Json()},
                        {"kept", entry.blame.winograd_bf16 ? "without_winograd" : "f32"},
                        {"round", entry.round}});
    return list;
}

}  // namespace viridian::prove
