#pragma once
// The last part of `deconvolve`: from the watts of every kind to the joules of every operation, with 95 %
// intervals, and what the fit leaves over.
#include "viridian/account/attribute/overlap.hpp"
#include "viridian/account/deconvolve/fit_watts.hpp"

namespace viridian::account {

// `leaves` by start; `kind_of` says which kind each operation is; `curve` as the meter says it, not moved.
[[nodiscard]] Attribution fitted_shares(std::span<const Leaf> leaves, std::span<const std::uint32_t> kind_of,
                                        const PowerCurve& curve, const Design& design, const WattsFit& watts);

}  // namespace viridian::account
