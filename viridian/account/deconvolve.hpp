#pragma once
// `deconvolve` (method §5): one device's watts by kind of operation, fitted to the energies of the sensor's
// windows; the sensor's window and shift are found first and their uncertainty enters every interval. A gate
// on held-out windows decides whether it may be used at all.
#include "viridian/account/identify.hpp"
#include "viridian/account/overlap.hpp"

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

// `leaves` by start; `operations` is one more than the largest OperationId. `steps` (already the sum of
// channels) gives totals; `readings` the sensor's own series where it is a power, nullptr for counters.
[[nodiscard]] Deconvolution deconvolve(std::span<const Leaf> leaves, std::uint32_t operations,
                                       const Steps& steps, const meter::Series* readings,
                                       const DeconvolveOptions& options = {});

// What it will need, said beforehand.
[[nodiscard]] std::size_t deconvolve_bytes(std::uint64_t leaves, std::uint64_t windows, std::uint64_t kinds);

}  // namespace viridian::account
