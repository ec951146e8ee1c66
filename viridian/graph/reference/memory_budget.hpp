#pragma once
// A MemoryBudget bounds the memory of values whose size is known only while a graph is evaluated: values
// whose shape is data, and the values of bodies (If, Loop, Scan, functions). memory_need() counts all others
// before.
#include <optional>

#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"

namespace viridian::graph {

class MemoryBudget {
  public:
    // These values may take `most` together. Without it, they may take three quarters of what is free when
    // they first come near 256 MiB.
    explicit MemoryBudget(std::optional<Bytes> most = std::nullopt) : most_(most), given_(most.has_value()) {}

    // Checks that an array of `bytes` may be allocated beside those that are held. Errors: limit_exceeded
    // (beyond the given bytes), out_of_memory (beyond what is free).
    [[nodiscard]] Result<void> check(Bytes bytes);
    void hold(Bytes bytes) { held_ += bytes; }
    void release(Bytes bytes) { held_ -= bytes; }

  private:
    std::optional<Bytes> most_;
    bool given_;
    Bytes held_;
};

}  // namespace viridian::graph
