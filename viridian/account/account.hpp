#pragma once
// Accounts the energy of a power log to the operations of a trace (docs/account.md): joules per operation.
#include <functional>

#include "viridian/account/deconvolve/identify.hpp"
#include "viridian/account/result.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::account {

enum class Method { automatic, recency, overlap, deconvolve };
[[nodiscard]] std::optional<Method> method_from(std::string_view name);  // "auto", "recency", ...

// A Forecast says what a fit of `deconvolve` will need, before it begins.
struct Forecast {
    std::string device;
    std::uint64_t leaves = 0, windows = 0, kinds = 0, bytes = 0;
};

struct Options {
    Method method = Method::automatic;
    Nanoseconds meter_shift = 0;  // known lag of the meter behind the trace; deconvolve searches around it
    Search search = {};
    Nanoseconds tick = 1000;                 // recency
    std::uint64_t most_leaves = 24'000'000;  // that deconvolve may hold (64 bytes each)
    std::vector<std::pair<std::string, std::uint32_t>> weights =
        {};  // of concurrent leaves, by name or type; else 1
    // Asked before each fit; false refuses it, and overlap is used.
    std::function<bool(const Forecast&)> may_fit = {};
    int sparse = 1;  // keep each n-th power reading only (precision, ASSS)
};

// Errors: those of the source; missing_entry (no device of the trace has power), mismatch (trace and power
// log share no time, or the trace's clock has no epoch).
[[nodiscard]] Result<Accounting> account(trace::Source& source, const meter::PowerLog& log,
                                         const Options& options = {});

}  // namespace viridian::account
