#pragma once
// Reads one sample of every channel that answers.
#include <optional>
#include <span>
#include <vector>

#include "viridian/base/result.hpp"
#include "viridian/meter/sample.hpp"

namespace viridian::meter {

// `read(i)` is the value of channel i now, a mean over `windows[i]` if those are given. Errors: the last
// of the channels that do not answer; the samples of the others are there.
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
