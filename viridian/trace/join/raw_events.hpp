#pragma once
// RawEvents gives the raw events of a trace in order of time, whatever the order of the file: they are
// sorted on the way, on disk if they are many, and slices that are written as two events are joined.
#include "viridian/trace/join/slice_pairing.hpp"

namespace viridian::trace {

class RawEvents {
  public:
    explicit RawEvents(const SpillOptions& spill) : slices_(spill), pairing_(spill) {}

    // Takes an event. Errors, here and below: those of spilling.
    [[nodiscard]] Result<void> add(Raw raw);
    // Ends the adding; `about` receives the warnings. Then `next` returns the events in order, and nullptr at
    // the end.
    [[nodiscard]] Result<void> finish(Trace& about);
    [[nodiscard]] Result<const Raw*> next() { return slices_.next(); }

    [[nodiscard]] std::size_t runs() const { return slices_.runs(); }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] bool backward_seen() const { return backward_seen_; }
    // Returns whether any time had a fraction of a microsecond.
    [[nodiscard]] bool fractions_seen() const { return fractions_seen_; }
    // Returns the earliest start.
    [[nodiscard]] Nanoseconds earliest() const { return earliest_; }

  private:
    RawSorter slices_;
    SlicePairing pairing_;
    std::uint64_t count_ = 0;
    Nanoseconds earliest_ = 0, latest_ = 0;
    bool backward_seen_ = false, fractions_seen_ = false;
};

}  // namespace viridian::trace
