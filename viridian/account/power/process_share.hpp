#pragma once
// Divides the joules of a CPU package among processes (EFLECT, as SMARAGDINE uses it): in each stretch of
// time by the recorded process tree's share of all busy jiffies on that package. Threads were placed by the
// CPU they ran on when the ticks were recorded, so migration is followed. Jiffies are 10 ms long: shares are
// formed over at least 100 ms.
#include "viridian/account/power/power_types.hpp"

namespace viridian::account {

// Takes the other processes' part out of `curve` and returns it. If the log has no busy_ticks of this device,
// all is kept. A stretch in which nobody was busy is idle power: it is kept.
[[nodiscard]] Exact keep_process_share(PowerCurve& curve, const meter::PowerLog& log,
                                       std::string_view device);

}  // namespace viridian::account
