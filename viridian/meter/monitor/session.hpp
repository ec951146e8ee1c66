#pragma once
// Defines what a Monitor keeps of a session. Only the sources of Monitor include it.
#include "viridian/meter/monitor/monitor.hpp"

namespace viridian::meter {

struct Monitor::Session {
    std::string id, name;
    std::uint64_t number = 0;
    Seconds period, lease;
    std::int64_t expires_ns = 0;
    int streams = 0;
    bool ended = false;
    std::vector<Channel> process_channels;
    std::vector<std::int64_t> ticks;
    std::uint64_t process_meter = 0;  // the sampler's number; 0: none
    bool begun = false;               // `first` and `last` are there
    Bound first, last;
    std::uint64_t epochs = 0;
    std::uint64_t place = 0;
    std::mutex advancing;  // one Read at a time; taken before the monitor's own lock

    void renew() { expires_ns = stamp_now().monotonic_ns + static_cast<std::int64_t>(lease.value * 1e9); }
};

}  // namespace viridian::meter
