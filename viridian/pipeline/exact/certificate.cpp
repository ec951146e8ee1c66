#include "viridian/pipeline/exact/certificate.hpp"

#include <algorithm>

namespace viridian::pipeline {
namespace {

bool times_hold(const Network& network, const FlowSolution& s) {
    for (int u = 0; u < network.size(); ++u) {
        if (s.start[at(u)] < 0 || s.finish[at(u)] > s.time) return false;
        if (s.finish[at(u)] - s.start[at(u)] < network.curve(u).fastest()) return false;
        if (const int p = network.before(u); p >= 0 && s.start[at(u)] < s.finish[at(p)]) return false;
        if (const std::int32_t d = network.dependency[at(u)];
            d >= 0 && s.start[at(u)] < s.finish[at(d)] + network.delay[at(u)])
            return false;
    }
    return true;
}

bool flow_holds(const Network& network, const FlowSolution& s) {
    std::vector<std::int64_t> out(s.unit.size(), 0);  // leaving each finish
    std::int64_t total = 0;
    for (int u = 0; u < network.size(); ++u) {
        const std::size_t i = at(u);
        if (std::min({s.unit[i], s.from_rank[i], s.from_data[i], s.from_source[i], s.to_sink[i]}) < 0)
            return false;
        if (s.unit[i] != s.from_rank[i] + s.from_data[i] + s.from_source[i]) return false;
        const int before = network.before(u);
        const std::int32_t data = network.dependency[i];
        if ((before < 0 && s.from_rank[i] > 0) || (data < 0 && s.from_data[i] > 0)) return false;
        if (before >= 0) out[at(before)] += s.from_rank[i];
        if (data >= 0) out[at(data)] += s.from_data[i];
        out[i] += s.to_sink[i];
        total += s.from_source[i];
    }
    return out == s.unit && total == s.total;
}

}  // namespace

Certificate certify(const Network& network, const FlowSolution& s) {
    Certificate certificate;
    certificate.time = s.time;
    certificate.feasible = times_hold(network, s) && flow_holds(network, s);
    for (int u = 0; u < network.size(); ++u) {
        const Curve& curve = network.curve(u);
        const Int128 flow = s.unit[at(u)];
        certificate.primal += curve.cost(s.finish[at(u)] - s.start[at(u)]);
        Int128 least =
            curve.slowest_cost + flow * curve.slowest();  // of the Lagrangian, convex in the duration
        for (std::size_t j = 0; j < curve.slope.size() && curve.slope[j] < flow; ++j)
            least += (curve.slope[j] - flow) * (curve.duration[j] - curve.duration[j + 1]);
        certificate.dual += least + static_cast<Int128>(s.from_data[at(u)]) * network.delay[at(u)];
    }
    certificate.dual -= static_cast<Int128>(s.total) * s.time;
    return certificate;
}

}  // namespace viridian::pipeline
