#pragma once
// `deconvolve` (docs/method.md, 5) finds the joules of short operations from the readings of a slow meter:
// it fits watts per kind of operation so that they explain the mean power of the sensor's windows. It has
// three parts: the sensor's window and shift (identify.hpp), the watts of each kind (fit_watts.hpp), and the
// joules of each operation (fitted_shares.hpp). The uncertainty of the sensor enters every interval. Windows
// that were held out of the fit decide whether it may be used at all.
#include "viridian/account/attribute/overlap.hpp"
#include "viridian/account/deconvolve/identify.hpp"

namespace viridian::account {

struct Deconvolution {
    bool trusted = false;  // the fit may be used
    std::string verdict;   // the reason, in one sentence
    std::string next;      // if it may not be used: what to do about it, in one sentence
    Sensor sensor;
    Attribution attribution;         // intervals are 2.5 deviations wide: nominally 98.8 %
    std::vector<double> kind_watts;  // above the base
    Watts base;
    double held_out = 0.0;  // misfit on windows not fitted, relative to a constant power
    std::vector<std::string> warnings;
};

struct DeconvolveOptions {
    Search search;
    std::size_t most_kinds = 768;  // of operation; those that ran least share the last kind
};

// Fits the watts and returns the joules of each operation. `leaves` are sorted by their start; `operations`
// is one more than the largest OperationId. `curve` is the power of the device, the sum of its channels, and
// gives the totals. `readings` is the sensor's own series if it reports a power, nullptr for a counter. If
// there are too few readings, the result is not trusted and its attribution is empty.
[[nodiscard]] Deconvolution deconvolve(std::span<const Leaf> leaves, std::uint32_t operations,
                                       const PowerCurve& curve, const meter::Series* readings,
                                       const DeconvolveOptions& options = {});

// Returns the bytes of memory that a fit will need.
[[nodiscard]] std::size_t deconvolve_bytes(std::uint64_t leaves, std::uint64_t windows, std::uint64_t kinds);

}  // namespace viridian::account
