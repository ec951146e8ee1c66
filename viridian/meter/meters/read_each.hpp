#pragma once
// Reads one sample of every channel of a meter, for meters whose channels are read one after the other.
#include <optional>
#include <span>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/meter/sample.hpp"

namespace viridian::meter {

// Appends to `samples` one sample for each of the `channels` channels that answers. `read(i)` returns the
// value of channel i now, as Result<std::int64_t>. If `windows` is not empty, windows[i] is the time in
// nanoseconds over which that value is a mean. Errors: that of the last channel that does not answer; the
// samples of the others are there all the same.
template <class Read>
Result<void> read_each(std::uint32_t channels, std::vector<Sample>& samples, const Read& read,
                       std::span<const std::int64_t> windows = {}) {
    std::optional<Error> lost;
    for (std::uint32_t i = 0; i < channels; ++i) {
        const Result<std::int64_t> value = read(i);
        const Stamp now = stamp_now();
        if (value.ok())
            samples.push_back({i, now.time_ns, now.monotonic_ns, *value, windows.empty() ? 0 : windows[i]});
        else
            lost = value.error();
    }
    if (lost) return *lost;
    return {};
}

}  // namespace viridian::meter
