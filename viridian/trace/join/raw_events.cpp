#include "viridian/trace/join/raw_events.hpp"

#include <algorithm>

namespace viridian::trace {

Result<void> RawEvents::add(Raw raw) {
    if (count_ == 0) earliest_ = latest_ = raw.start;
    raw.order = ++count_;
    earliest_ = std::min(earliest_, raw.start);
    latest_ = std::max(latest_, raw.end);
    backward_seen_ = backward_seen_ || raw.pass == Pass::backward;
    fractions_seen_ = fractions_seen_ || raw.start % 1000 != 0 || raw.end % 1000 != 0;
    const bool half = raw.phase == Raw::Phase::begin || raw.phase == Raw::Phase::end;
    return half ? pairing_.add(raw) : slices_.add(raw);
}

Result<void> RawEvents::finish(Trace& about) {
    VIRIDIAN_TRY(pairing_.finish(latest_, slices_, about));
    return slices_.finish();
}

}  // namespace viridian::trace
