#include "viridian/trace/join/slice_pairing.hpp"

#include <unordered_map>

namespace viridian::trace {
namespace {

SpillOptions quarter_of(SpillOptions options) {
    options.budget /= 4;
    return options;
}

Result<void> close_slice(Raw raw, Nanoseconds end, RawSorter& slices) {
    raw.phase = Raw::Phase::slice;
    raw.end = end;
    return slices.add(raw);
}

}  // namespace

SlicePairing::SlicePairing(const SpillOptions& spill) : halves_(quarter_of(spill)) {}

Result<void> SlicePairing::add(const Raw& half) {
    any_ = true;
    return halves_.add(half);
}

Result<void> SlicePairing::finish(Nanoseconds latest, RawSorter& slices, Trace& about) {
    if (!any_) return {};
    VIRIDIAN_TRY(halves_.finish());
    std::unordered_map<LaneId, std::vector<Raw>> open;
    std::uint64_t unmatched = 0;
    for (;;) {
        VIRIDIAN_TRY(const Raw* half, halves_.next());
        if (half == nullptr) break;
        std::vector<Raw>& stack = open[half->lane];
        if (half->phase == Raw::Phase::begin) {
            stack.push_back(*half);
        } else if (stack.empty()) {
            ++unmatched;
        } else {
            const Raw begun = stack.back();
            stack.pop_back();
            VIRIDIAN_TRY(close_slice(begun, half->start, slices));
        }
    }
    if (unmatched > 0)
        about.warn("ends without a begin, skipped", "", unmatched), about.lost_events += unmatched;
    std::uint64_t unended = 0;
    for (const auto& [lane, stack] : open) {
        unended += stack.size();
        for (const Raw& begun : stack) VIRIDIAN_TRY(close_slice(begun, latest, slices));
    }
    if (unended > 0) about.warn("begins without an end, closed at the end of the trace", "", unended);
    return {};
}

}  // namespace viridian::trace
