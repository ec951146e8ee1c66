#pragma once
// `deconvolve` (method §5) fits one device's watts by kind of operation to the energies of the sensor's
// windows, so that a slow meter tells short operations apart. Three parts: the sensor's window and shift
// (identify.hpp), the watts (fit_watts.hpp), the joules of each operation (fitted_shares.hpp). The
// uncertainty of the first enters every interval; held-out windows decide whether the fit may be used at all.
#include "viridian/account/attribute/overlap.hpp"
#include "viridian/account/deconvolve/identify.hpp"

namespace viridian::account {

struct Deconvolution {
    bool trusted = false;  // the gate's verdict
    std::string verdict;   // in one sentence
    Sensor sensor;
    Attribution attribution;         // low and high are 95 % intervals
    std::vector<double> kind_watts;  // above the base
    Watts base;
    double held_out = 0.0;  // misfit on windows not fitted, relative to a constant power
    std::vector<std::string> warnings;
};

struct DeconvolveOptions {
    Search search;
    std::size_t most_kinds = 768;  // rarer ones share one
};

// `leaves` by start; `operations` is one more than the largest OperationId. `curve` (already the sum of
// channels) gives totals; `readings` the sensor's own series if it is a power, nullptr for counters.
[[nodiscard]] Deconvolution deconvolve(std::span<const Leaf> leaves, std::uint32_t operations,
                                       const PowerCurve& curve, const meter::Series* readings,
                                       const DeconvolveOptions& options = {});

// The bytes of memory that a fit will need.
[[nodiscard]] std::size_t deconvolve_bytes(std::uint64_t leaves, std::uint64_t windows, std::uint64_t kinds);

}  // namespace viridian::account
