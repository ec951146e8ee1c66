#pragma once
// A running counter of energy with random readings, for tests of what is made of its readings.
#include "viridian/base/random.hpp"
#include "viridian/meter/log/power_log.hpp"

namespace viridian::tests {

// Counter readings at random times, with wraps.
inline meter::Series random_counter(Random& random, std::int64_t begin, std::int64_t end, std::int64_t wrap) {
    meter::Series series{{"test", "cpu:0", meter::Scope::package, meter::Kind::energy_uj, wrap}, {}};
    std::int64_t value = random.between(0, wrap);
    for (std::int64_t time = begin; time < end; time += random.between(1, 40)) {
        series.readings.push_back({time, value, 0});
        value = (value + random.between(1, wrap / 3)) % wrap;
    }
    return series;
}

}  // namespace viridian::tests
