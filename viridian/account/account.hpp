#pragma once
// Accounts the energy of a power log to the operations of a trace: returns joules per operation
// (docs/account.md).
#include <functional>

#include "viridian/account/deconvolve/identify.hpp"
#include "viridian/account/result.hpp"
#include "viridian/meter/log/power_log.hpp"
#include "viridian/trace/source.hpp"

namespace viridian::account {

// The methods of attribution (attribute/, deconvolve/). `automatic` chooses between overlap and deconvolve
// for each device. `recency` is the paper's algorithm, in which callers share with those they call;
// `recency_leaves` gives it only the leaves to which the other methods attribute.
enum class Method { automatic, recency, recency_leaves, overlap, deconvolve };
// Returns the method of a name ("auto", "recency", ...), nothing if there is none of that name.
[[nodiscard]] std::optional<Method> method_from(std::string_view name);

// A Forecast says what a fit of `deconvolve` will need, before it begins.
struct Forecast {
    std::string device;
    std::uint64_t leaves = 0, windows = 0, kinds = 0, bytes = 0;
};

struct Options {
    Method method = Method::automatic;
    Nanoseconds meter_shift = 0;  // known lag of the meter behind the trace; deconvolve searches around it
    Search search = {};           // for deconvolve
    Nanoseconds tick = 1000;      // for recency: length of a tick
    std::uint64_t most_leaves = 24'000'000;  // most that deconvolve may hold (64 bytes each); more: overlap
    // Weights among concurrent leaves, by the name or type of an event. All others have weight 1.
    std::vector<std::pair<std::string, std::uint32_t>> weights = {};
    // Called before each fit. If it returns false, overlap is used instead. If it is empty, all fits may run.
    std::function<bool(const Forecast&)> may_fit = {};
    int sparse = 1;  // keep each n-th power reading only, to find out what precision costs (ASSS)
};

// Reads `source` to its end and returns the accounting. Errors: those of the source; missing_entry (no device
// of the trace has power), mismatch (trace and power log share no time, or the trace's clock has no epoch).
[[nodiscard]] Result<Accounting> account(trace::Source& source, const meter::PowerLog& log,
                                         const Options& options = {});

}  // namespace viridian::account
