#pragma once
// Compares the footprints of two runs, tensor by tensor (SMARAGDINE §5.4, §6.1): their Pearson correlation
// (PCC), which is called accounting similarity, and their mean error difference (MED), over the names that
// both have.
#include <span>

#include "viridian/account/products/footprint.hpp"

namespace viridian::account {

// A Change is one name with its energy in both runs; 0 in a run that lacks it.
struct Change {
    std::string name;
    Joules before, after;
};

struct Comparison {
    double energy_correlation = 0.0;  // PCC of the energies (STEF); 0 if one side is constant
    double power_correlation = 0.0;   // PCC of the powers (STPF)
    Joules energy_difference;         // MED: mean over common names of second - first
    Watts power_difference;           // the same for powers
    std::size_t common = 0, only_first = 0, only_second = 0;  // numbers of names
    Joules total_first, total_second;
    std::vector<Change> changes;  // of all names, largest change first
};

// Compares the footprints `first` and `second` (footprint.hpp), name by name.
[[nodiscard]] Comparison compare(const std::vector<FootprintRow>& first,
                                 const std::vector<FootprintRow>& second);
// Returns Pearson's correlation of `a` and `b`, which have equal sizes; 0 if one of them is constant.
[[nodiscard]] double correlation(std::span<const double> a, std::span<const double> b);
// Returns the mean footprint of several runs. Its `low` and `high` are the mean energy minus and plus the
// standard deviation. A run that lacks a name counts as 0 for it.
[[nodiscard]] std::vector<FootprintRow> mean_footprint(const std::vector<std::vector<FootprintRow>>& runs);

}  // namespace viridian::account
