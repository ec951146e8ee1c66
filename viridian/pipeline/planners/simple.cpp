// Planners that need no search: maximum, Uniform, NoRecfg.
#include "viridian/pipeline/critical_path.hpp"
#include "viridian/pipeline/planners/planners.hpp"

namespace viridian::pipeline {
std::vector<int> maximum_levels(const Network& network) {
    std::vector<int> level(at(network.size()));
    for (int u = 0; u < network.size(); ++u)
        level[at(u)] = static_cast<int>(network.curve(u).points.size()) - 1;
    return level;
}

std::vector<int> valley_levels(const Network& network) {
    std::vector<int> of_curve;
    for (const Curve& curve : network.curves) {
        int best = static_cast<int>(curve.points.size()) - 1;
        for (int l = best; l >= 0; --l)
            if (curve.points[at(l)].energy < curve.points[at(best)].energy) best = l;
        of_curve.push_back(best);
    }
    std::vector<int> level(at(network.size()));
    for (int u = 0; u < network.size(); ++u) level[at(u)] = of_curve[at(network.curve_of[at(u)])];
    return level;
}

std::vector<int> unreconfigured_levels(const Schedule& schedule, const Network& network) {
    std::vector<int> level = valley_levels(network);
    const std::vector<int> maximum = maximum_levels(network);
    const std::vector<std::uint8_t> outside = envelope(schedule, network);
    for (std::size_t u = 0; u < level.size(); ++u)
        if (outside[u] != 0) level[u] = maximum[u];
    return level;
}

}  // namespace viridian::pipeline
