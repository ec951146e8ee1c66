#pragma once
// Summarises several runs of one program as mean and standard deviation: the energy and power of every
// summarised tensor, and the total of each pass. SMARAGDINE repeats each experiment five times and draws the
// standard deviation as whiskers.
#include "viridian/account/products/footprint.hpp"

namespace viridian::account {

// With fewer runs than this, spreads are hardly known.
inline constexpr std::size_t enough_runs = 5;

struct Spread {
    double mean = 0.0, deviation = 0.0, least = 0.0, most = 0.0;  // deviation: of the sample, n - 1
    std::size_t count = 0;
};
// Returns the spread of `values`.
[[nodiscard]] Spread spread_of(const std::vector<double>& values);

struct RepeatedEntry {
    std::string name;
    Spread joules;         // over all runs; a run that lacks the name counts as 0 J
    Spread watts;          // over the runs that have the name
    std::size_t runs = 0;  // runs that have the name
};

struct RepeatedRuns {
    std::vector<RepeatedEntry> entries;  // by energy, largest first
    Spread total, forward, backward, unknown, idle;
    Provenance provenance;  // the weakest of all
};

// Summarises the accountings of several runs of one program.
[[nodiscard]] RepeatedRuns repeated_runs(const std::vector<Accounting>& runs);
[[nodiscard]] Json to_json(const Spread& spread);

}  // namespace viridian::account
