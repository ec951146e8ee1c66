#pragma once
// Joins the beginnings and ends of slices that a file writes as two events ("B" and "E" of Chrome's format).
// Each lane is a stack: an end closes the latest beginning. Beginnings without an end last until the end of
// the trace; ends without a beginning are dropped. Both are warned about. Memory is bounded: the halves are
// sorted on disk if they are many.
#include "viridian/trace/join/raw.hpp"
#include "viridian/trace/join/sorter.hpp"
#include "viridian/trace/trace.hpp"

namespace viridian::trace {

using RawSorter = Sorter<Raw, RawBefore>;

class SlicePairing {
  public:
    explicit SlicePairing(const SpillOptions& spill);
    // Takes an event whose phase is begin or end. Errors: those of spilling.
    [[nodiscard]] Result<void> add(const Raw& half);
    // Adds the slices to `slices` and the warnings to `about`. Call it after the last event; `latest` is the
    // latest end of all events. Errors: those of spilling.
    [[nodiscard]] Result<void> finish(Nanoseconds latest, RawSorter& slices, Trace& about);

  private:
    RawSorter halves_;
    bool any_ = false;
};

}  // namespace viridian::trace
