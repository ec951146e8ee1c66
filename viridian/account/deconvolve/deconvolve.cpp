#include "viridian/account/deconvolve/deconvolve.hpp"

#include <algorithm>
#include <numeric>

#include "viridian/account/deconvolve/fitted_shares.hpp"

namespace viridian::account {
namespace {

// Where the device is never idle, base and the operations' common level cannot be told apart (and need not
// be); the base then stays near this part of the mean power.
constexpr double base_guess = 0.3;
// The search for the sensor makes do with so many kinds. Too few, and what they lump together looks like
// another shift: a 12-layer encoder (123 operations) under 48 kinds was found 20 ms off.
constexpr std::uint32_t search_kinds = 192;
// The longest-running operations are kinds of their own, the rest share the last one.
std::vector<std::uint32_t> choose_kinds(std::span<const Leaf> leaves, std::uint32_t operations,
                                        std::size_t most, std::uint32_t& kinds) {
    std::vector<double> time(operations);
    for (const Leaf& leaf : leaves) time[leaf.operation] += static_cast<double>(leaf.end - leaf.start);
    std::vector<std::uint32_t> order(operations);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return time[a] > time[b]; });
    std::vector<std::uint32_t> kind_of(operations);
    kinds = static_cast<std::uint32_t>(std::min<std::size_t>(operations, std::max<std::size_t>(most, 1)));
    for (std::uint32_t rank = 0; rank < operations; ++rank) kind_of[order[rank]] = std::min(rank, kinds - 1);
    return kind_of;
}

double mean_watts(std::span<const Window> windows) {
    double sum = 0.0;
    for (const Window& window : windows) sum += window.watts;
    return windows.empty() ? 0.0 : sum / static_cast<double>(windows.size());
}

Sensor first_guess(const PowerCurve& curve, const meter::Series* readings, bool counter) {
    Sensor start{counter, 0.0, 0.0, 0.0, static_cast<double>(curve.period)};
    if (counter) start.window_ns = start.period_ns;
    if (!counter && readings->readings.back().window_ns > 0)
        start.window_ns = static_cast<double>(readings->readings.back().window_ns);
    return start;
}

// The sensor's window and shift; fewer kinds are enough to find them. Adds what is doubtful to `warnings`.
Sensor find_sensor(std::span<const Leaf> leaves, std::vector<std::uint32_t> kind_of, std::uint32_t kinds,
                   std::span<const Window> windows, const Sensor& start, const Search& search,
                   std::vector<std::string>& warnings) {
    for (std::uint32_t& kind : kind_of) kind = std::min(kind, search_kinds - 1);
    const Occupancy coarse(leaves, kind_of, std::min(kinds, search_kinds) + 1);
    const Design design{&coarse, make_drift(coarse.begin(), coarse.end()), base_guess * mean_watts(windows)};
    const Identified found = identify(design, windows, start, search);
    if (found.rival_ns)
        warnings.push_back(
            fmt::format("a shift of {:.3g} ms explains the readings almost as well as {:.3g} ms: a "
                        "longer run decides",
                        1e-6 * *found.rival_ns, 1e-6 * found.sensor.shift_ns));
    if (found.at_edge)
        warnings.emplace_back("the shift lies at the end of the range searched; widen it with --max-shift");
    return found.sensor;
}

// Whether the fit may be used, and why.
void judge(const WattsFit& watts, Deconvolution& out) {
    const bool negative = std::any_of(out.attribution.shares.begin(), out.attribution.shares.end(),
                                      [](const Share& share) { return share.energy < 0; });
    // Power while nothing was recorded should not be wilder than power while something was.
    const bool incomplete = watts.idle_noise > 3.0;
    if (watts.dropped > 0.002)
        out.warnings.push_back(
            fmt::format("{:.1f} % of the power readings do not fit what ran and were left out of the fit",
                        100.0 * watts.dropped));
    const bool predicts = watts.held_out < 0.97;
    // In the selftest's programs whose model is right it is at most 1.3, in those where it is wrong mostly
    // from 3 to 300. A drift between two knots makes it 2.7 in a short program that is fitted well.
    const bool wanders = watts.wander > 3.0;
    out.trusted = predicts && !negative && !incomplete && !wanders;
    out.verdict = fmt::format(
        "held-out windows are predicted with {:.3g} of the squared error of a constant power{}{}{}",
        watts.held_out, negative ? ", but some energies came out negative" : "",
        incomplete ? fmt::format(", but power varies {:.3g} times more while nothing ran", watts.idle_noise)
                   : "",
        wanders ? fmt::format(", but what the fit misses goes the same way for seconds, {:.3g} times as much "
                              "as chance gives",
                              watts.wander)
                : "");
    if (incomplete)
        out.next = "The trace may lack events: record all threads and devices";
    else if (!predicts)
        out.next =
            "Record for longer or with a meter that moves faster; if the clocks of trace and meter may "
            "differ by "
            "more, widen --max-shift";
    else if (negative)
        out.next = "Record for longer, or with a meter that moves faster";
    else if (wanders)
        out.next =
            "Power changes for a reason that the trace does not show, such as a governor that changes the "
            "clock: fix the clock and record again";
}

}  // namespace

std::size_t deconvolve_bytes(std::uint64_t leaves, std::uint64_t windows, std::uint64_t kinds) {
    return leaves * sizeof(Leaf) + Occupancy::bytes(leaves) +
           windows * (sizeof(Window) + sizeof(PowerSegment)) + kinds * kinds * 8 * (held_out_folds + 4) +
           kinds * 400 * 8;
}

Deconvolution deconvolve(std::span<const Leaf> leaves, std::uint32_t operations, const PowerCurve& curve,
                         const meter::Series* readings, const DeconvolveOptions& options) {
    Deconvolution out;
    const bool counter = readings == nullptr || readings->channel.kind == meter::Kind::energy_uj;
    const std::vector<Window> windows = counter ? windows_of(curve) : windows_of(*readings);
    std::uint32_t kinds = 0;
    const std::size_t most = std::min(options.most_kinds, std::max<std::size_t>(windows.size() / 3, 1));
    const std::vector<std::uint32_t> kind_of = choose_kinds(leaves, operations, most, kinds);
    if (leaves.empty() || windows.size() < 24 ||
        windows.size() < 2 * std::size_t{std::min(kinds, 48U)} / 3 + 8) {
        out.verdict = fmt::format("{} power readings are too few to tell operations apart", windows.size());
        out.next = "Record for longer, or with a meter that moves faster";
        return out;
    }
    if (kinds < operations)
        out.warnings.push_back(
            fmt::format("{} operations that ran the least share one power", operations - kinds + 1));

    const Sensor sensor = find_sensor(leaves, kind_of, kinds, windows, first_guess(curve, readings, counter),
                                      options.search, out.warnings);
    const double mean = mean_watts(windows);
    const Occupancy occupancy(leaves, kind_of, kinds + 1);
    const Design design{&occupancy, make_drift(occupancy.begin(), occupancy.end()), base_guess * mean};
    const WattsFit watts = fit_watts(design, windows, sensor, Watts(mean));
    out.attribution = fitted_shares(leaves, kind_of, curve, design, watts);

    out.sensor = watts.sensor;
    out.held_out = watts.held_out;
    out.base = Watts(design.centre_watts + watts.fit.theta[0]);
    for (std::uint32_t k = 0; k < kinds; ++k)
        out.kind_watts.push_back(watts.fit.theta[watts.fit.columns.kind(k)]);
    judge(watts, out);
    return out;
}

}  // namespace viridian::account
