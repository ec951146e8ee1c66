#pragma once
// Divides the joules of a CPU package among processes, as EFLECT does (SMARAGDINE uses it): the recorded
// process tree gets its share of all busy jiffies on that package, in each stretch of time. A thread counts
// for the CPU on which it ran when the ticks were recorded, so migration is followed. Jiffies are 10 ms
// long, so shares are formed over at least 100 ms.
#include "viridian/account/power/power_types.hpp"

namespace viridian::account {

// Takes the other processes' part out of `curve` and returns it. If the log has no busy_ticks of this device,
// all is kept. A stretch in which nobody was busy is idle power: it is kept.
[[nodiscard]] Exact keep_process_share(PowerCurve& curve, const meter::PowerLog& log,
                                       std::string_view device);

}  // namespace viridian::account
