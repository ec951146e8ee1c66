#pragma once
// These functions copy a tensor past the caches. Most processors read a cache line before an ordinary store
// changes it, so that a result that no cache holds is moved twice, and displaces what is read next.
#include <cstddef>
#include <cstdint>

namespace viridian::execute::cpu::simd {

// Copies `bytes`, whole cache lines by stores that keep them in no cache, if the processor has such stores.
// The thread must call finish_stream() before another thread reads them.
void stream(const std::byte* from, std::byte* to, std::int64_t bytes);
void finish_stream();

}  // namespace viridian::execute::cpu::simd
