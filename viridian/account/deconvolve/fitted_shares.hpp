#pragma once
// Computes the joules of every operation and of idleness from the watts of every kind, and what the fit
// leaves over, all with intervals (docs/account.md, "Intervals"). This is the last part of `deconvolve`
// (deconvolve.hpp).
#include "viridian/account/attribute/overlap.hpp"
#include "viridian/account/deconvolve/fit_watts.hpp"

namespace viridian::account {

// Returns the attribution. `leaves` are sorted by their start, `kind_of` gives the kind of each operation,
// and `watts` is the fit for `design`. `curve` is the power on the meter's own clock, not moved by the
// sensor's shift.
[[nodiscard]] Attribution fitted_shares(std::span<const Leaf> leaves, std::span<const std::uint32_t> kind_of,
                                        const PowerCurve& curve, const Design& design, const WattsFit& watts);

}  // namespace viridian::account
