#include "viridian/movement/efficiency.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::movement {
namespace {

Bytes least_bytes(const Demand& demand, Bytes last_cache) {
    if (!demand.product || last_cache.value <= 0) return demand.moved;
    const double words = static_cast<double>(demand.flop.value) /
                         std::sqrt(static_cast<double>(last_cache.value) / demand.word_bytes);
    return Bytes(std::max(demand.moved.value, static_cast<std::int64_t>(demand.word_bytes * words)));
}

double percent_of(double rate, double peak) { return peak > 0 ? 100 * rate / peak : 0; }

}  // namespace

Efficiency efficiency_of(const Demand& demand, Seconds seconds, const Ceiling& ceiling) {
    Efficiency result;
    result.least = least_bytes(demand, ceiling.last_cache);
    result.percent_of_peak =
        percent_of(static_cast<double>(demand.flop.value) / seconds.value, ceiling.flop_in_a_second);
    result.mue =
        percent_of(static_cast<double>(result.least.value) / seconds.value, ceiling.bytes_in_a_second);
    result.residency = demand.moved <= ceiling.near_cache   ? Residency::near_cache
                       : demand.moved <= ceiling.last_cache ? Residency::last_cache
                                                            : Residency::memory;
    result.bound = result.mue > result.percent_of_peak ? Bound::memory : Bound::arithmetic;
    return result;
}

std::string_view name_of(Bound bound) { return bound == Bound::memory ? "memory" : "arithmetic"; }

std::string_view name_of(Residency residency) {
    switch (residency) {
        case Residency::near_cache:
            return "L2";
        case Residency::last_cache:
            return "L3";
        case Residency::memory:
            return "memory";
    }
    return {};
}

}  // namespace viridian::movement
