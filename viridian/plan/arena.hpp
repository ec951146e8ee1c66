#pragma once
// One arena for all buffers: those whose lifetimes meet must not overlap, the arena shall be small.
#include <cstdint>
#include <vector>

namespace viridian::plan {

struct Lifetime {
    std::int64_t bytes = 0;
    std::int64_t first = 0;   // the step that writes it
    std::int64_t last = 0;    // the last step that reads it, ≥ first
    std::int64_t offset = 0;  // set by place()
};

// Sets every offset (64-byte aligned), largest first, each at the lowest place that is free while it lives
// (greedy by size, Pisarchyk and Lee 2020). Returns the arena's size; at most 64 bytes per buffer are lost to
// alignment.
std::int64_t place(std::vector<Lifetime>& lifetimes);

}  // namespace viridian::plan
