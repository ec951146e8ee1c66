#pragma once
// Whose joules a CPU package's are (EFLECT, as SMARAGDINE uses it): of each stretch of time, the recorded
// process tree's share of all busy jiffies on that package. Threads were placed by the CPU they ran on when
// the ticks were recorded, so migration is followed. Jiffies are 10 ms long: shares are formed over at least
// 100 ms.
#include "viridian/account/steps.hpp"

namespace viridian::account {

// Takes the other processes' part out of `steps` and returns it. Log without busy_ticks of this device: 0,
// all is kept. A stretch in which nobody was busy is idle power: it is kept.
[[nodiscard]] Exact keep_own_share(Steps& steps, const meter::PowerLog& log, std::string_view device);

}  // namespace viridian::account
