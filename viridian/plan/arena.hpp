#pragma once
// place() lays the buffers of a plan into one block of memory, the arena. Buffers that are alive at the same
// time do not overlap.
#include <cstdint>
#include <vector>

#include "viridian/plan/format.hpp"

namespace viridian::plan {

// A Lifetime is the size of a buffer and the steps of the plan between which it holds data.
struct Lifetime {
    std::int64_t bytes = 0;
    std::int64_t first = 0;   // the step that writes it
    std::int64_t last = 0;    // the last step that reads it, >= first
    std::int64_t offset = 0;  // in bytes from the start of the arena, set by place()
};

// Sets the offset of every buffer, a multiple of 64, and returns the size of the arena in bytes. The largest
// buffer goes first, and each goes to the lowest offset that is free during its lifetime (greedy by size,
// Pisarchyk and Lee 2020). Alignment costs at most 64 bytes per buffer.
std::int64_t place(std::vector<Lifetime>& lifetimes);

// Returns the bytes with which a device may convert `from` to `to` through f32: copies of the sides in bf16,
// each in whole cache lines, if the layout changes.
[[nodiscard]] std::int64_t conversion_workspace(const Format& from, const Format& to,
                                                const graph::Dims& dims);

}  // namespace viridian::plan
