#pragma once
// Compares the footprints of two runs, tensor by tensor (SMARAGDINE §5.4, §6.1): their Pearson correlation
// (PCC), which is called accounting similarity, and their mean error difference (MED), over the names that
// both have.
#include <span>

#include "viridian/account/products/footprint.hpp"

namespace viridian::account {

struct Change {
    std::string name;
    Joules before, after;
};

struct Comparison {
    double energy_correlation = 0.0;  // PCC of STEFs; NaN-free: 0 if a side is constant
    double power_correlation = 0.0;   // of STPFs
    Joules energy_difference;         // MED: mean over names of second - first
    Watts power_difference;
    std::size_t common = 0, only_first = 0, only_second = 0;
    Joules total_first, total_second;
    std::vector<Change> changes;  // largest first, names of both sides
};

[[nodiscard]] Comparison compare(const std::vector<Entry>& first, const std::vector<Entry>& second);
[[nodiscard]] double correlation(std::span<const double> a, std::span<const double> b);
// The mean footprint of several runs, with the standard deviation as whiskers (low, high).
[[nodiscard]] std::vector<Entry> mean_footprint(const std::vector<std::vector<Entry>>& runs);

}  // namespace viridian::account
