#include "viridian/base/system/disturbance.hpp"

#include <atomic>

#include "viridian/base/system/preemptions.hpp"

namespace viridian {
namespace {

std::atomic<std::int64_t> stood_in = 0;  // nanoseconds

}  // namespace

void add_stand_in(std::chrono::nanoseconds time) {
    stood_in.fetch_add(time.count(), std::memory_order_relaxed);
}

Disturbance::Disturbance()
    : preemptions_(preemptions()), stood_in_(stood_in.load(std::memory_order_relaxed)) {}

bool Disturbance::none(double seconds) const {
    constexpr double share = 0.05;
    const auto time = static_cast<double>(stood_in.load(std::memory_order_relaxed) - stood_in_);
    return preemptions() == preemptions_ && 1e-9 * time <= share * seconds;
}

}  // namespace viridian
