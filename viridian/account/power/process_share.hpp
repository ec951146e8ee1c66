#pragma once
// Divides the joules of a CPU package between the recorded process tree and all other processes, as EFLECT
// does (SMARAGDINE uses it). In each stretch of time the tree's part is its busy jiffies on that package
// divided by the busy jiffies of all processes there (`busy_ticks` in the power log). A thread's jiffies
// count for the package on which it was when they were read, so migration is followed. A jiffy is 10 ms long,
// so each stretch has at least 100 ms.
#include "viridian/account/power/power_types.hpp"

namespace viridian::account {

// Takes the part of other processes out of `curve`, the power of `device` ("cpu:0"), and returns that part's
// energy. It keeps everything and returns 0 if `log` has no busy_ticks of the device. It keeps stretches in
// which no process was busy, because their power is idle power.
[[nodiscard]] Exact keep_process_share(PowerCurve& curve, const meter::PowerLog& log,
                                       std::string_view device);

}  // namespace viridian::account
