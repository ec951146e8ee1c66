#include "viridian/account/products/epochs.hpp"

#include <algorithm>
#include <cmath>

#include "viridian/account/power/power.hpp"
#include "viridian/account/products/repeated_runs.hpp"

namespace viridian::account {
namespace {

constexpr std::int64_t most_bins = 500;

// Spreads [from, to) over the bins of the epochs that it touches; calls come by start. `give(epoch, bin,
// ns)`.
template <class Give>
void over_bins(const std::vector<Epoch>& epochs, std::size_t& first, Nanoseconds bin, Nanoseconds from,
               Nanoseconds to, const Give& give) {
    while (first < epochs.size() && epochs[first].end <= from) ++first;
    for (std::size_t e = first; e < epochs.size() && epochs[e].begin < to; ++e) {
        const Nanoseconds end = std::min(to, epochs[e].end);
        for (Nanoseconds at = std::max(from, epochs[e].begin); at < end;) {
            const Nanoseconds index = (at - epochs[e].begin) / bin;
            const Nanoseconds next = std::min(end, epochs[e].begin + (index + 1) * bin);
            give(e, static_cast<std::size_t>(index), next - at);
            at = next;
        }
    }
}

// Union of the time in which a set of events ran, by elapsed bin.
struct Active {
    Nanoseconds covered = INT64_MIN;
    std::size_t epoch = 0;
    std::vector<double> by_bin;  // ns
    void add(const std::vector<Epoch>& epochs, Nanoseconds bin, Nanoseconds start, Nanoseconds end) {
        start = std::max(start, covered);
        if (end <= start) return;
        covered = end;
        over_bins(epochs, epoch, bin, start, end, [&](std::size_t, std::size_t at, Nanoseconds ns) {
            if (at >= by_bin.size()) by_bin.resize(at + 1);
            by_bin[at] += static_cast<double>(ns);
        });
    }
};

bool below(std::string_view name, std::string_view layer) {
    return name.starts_with(layer) && (name.size() == layer.size() || name[layer.size()] == '/');
}

// "a/layer_*" of "a/layer_12/x".
bool in_block(std::string_view name, std::string_view block) {
    const std::string_view stem = block.substr(0, block.size() - 1);
    if (block.empty() || !name.starts_with(stem)) return false;
    const std::size_t digits = name.find_first_not_of("0123456789", stem.size());
    return digits != stem.size() && (digits == std::string_view::npos || name[digits] == '/');
}

EpochPower power_by_bin(const Power& power, const std::vector<Epoch>& epochs, Nanoseconds bin) {
    struct Sum {
        double joules = 0.0, seconds = 0.0;
    };
    std::vector<std::vector<Sum>> sums(epochs.size());
    std::size_t first = 0;
    for (const PowerSegment& segment : power.curve.segments) {
        if (segment.gap) continue;
        const double watts =
            joules(segment.energy).value / (1e-9 * static_cast<double>(segment.end - segment.begin));
        over_bins(epochs, first, bin, segment.begin, segment.end,
                  [&](std::size_t e, std::size_t at, Nanoseconds ns) {
                      if (at >= sums[e].size()) sums[e].resize(at + 1);
                      sums[e][at].joules += watts * 1e-9 * static_cast<double>(ns);
                      sums[e][at].seconds += 1e-9 * static_cast<double>(ns);
                  });
    }
    std::size_t bins = 0;
    for (const auto& one : sums) bins = std::max(bins, one.size());
    EpochPower out;
    out.provenance = power.provenance;
    out.bin = Seconds(1e-9 * static_cast<double>(bin));
    for (std::size_t at = 0; at < bins; ++at) {
        std::vector<double> watts;
        for (const auto& one : sums)
            if (at < one.size() && one[at].seconds > 0) watts.push_back(one[at].joules / one[at].seconds);
        const Spread spread = spread_of(watts);
        out.points.push_back({Seconds((static_cast<double>(at) + 0.5) * out.bin.value), Watts(spread.mean),
                              Watts(spread.deviation), watts.size(), 0.0, 0.0});
    }
    return out;
}

}  // namespace

Result<std::vector<EpochPower>> epoch_power(trace::Source& source, const meter::PowerLog& log,
                                            const Outline& outline, const EpochOptions& options) {
    std::vector<std::string> devices;
    for (const meter::Series& series : log.series)
        if (series.channel.is_power() &&
            std::find(devices.begin(), devices.end(), series.channel.device) == devices.end())
            devices.push_back(series.channel.device);
    std::vector<Power> powers;
    Nanoseconds bin = options.bin, longest = 0, total = 0;
    for (const std::string& device : devices) {
        powers.push_back(power_of(log, device, options.meter_shift));
        if (options.bin <= 0 && powers.back().curve.period > 0)
            bin = bin <= 0 ? powers.back().curve.period : std::min(bin, powers.back().curve.period);
    }
    for (const Epoch& epoch : outline.epochs) {
        longest = std::max(longest, epoch.end - epoch.begin);
        total += epoch.end - epoch.begin;
    }
    bin = std::max({bin, longest / most_bins, Nanoseconds{1}});

    Active first, other;
    std::vector<std::uint8_t> kind_of;  // by path: 0 unknown, 1 none, 2 first, 3 other
    for (;;) {
        VIRIDIAN_TRY(const std::span<const trace::Event> batch, source.next());
        if (batch.empty()) break;
        for (const trace::Event& event : batch) {
            if (!trace::is_work(event.kind) || outline.block.empty()) continue;
            if (event.path >= kind_of.size()) kind_of.resize(std::size_t{event.path} + 1);
            std::uint8_t& kind = kind_of[event.path];
            if (kind == 0) {
                const std::string name = source.about().qualified(event.path);
                kind = below(name, outline.first) ? 2 : in_block(name, outline.block) ? 3 : 1;
            }
            if (kind > 1) (kind == 2 ? first : other).add(outline.epochs, bin, event.start, event.end);
        }
    }

    std::vector<EpochPower> out;
    for (std::size_t d = 0; d < devices.size(); ++d) {
        EpochPower one = power_by_bin(powers[d], outline.epochs, bin);
        if (one.points.empty()) continue;
        one.device = devices[d];
        one.length = Seconds(1e-9 * static_cast<double>(total) /
                             static_cast<double>(std::max<std::size_t>(outline.epochs.size(), 1)));
        const double whole = static_cast<double>(bin) * static_cast<double>(outline.epochs.size());
        for (std::size_t at = 0; at < one.points.size(); ++at) {
            if (at < first.by_bin.size()) one.points[at].first = first.by_bin[at] / whole;
            if (at < other.by_bin.size()) one.points[at].other = other.by_bin[at] / whole;
        }
        out.push_back(std::move(one));
    }
    if (out.empty())
        return fail(ErrorCode::missing_entry, "record both at the same time; check the clocks and --offset",
                    "no epoch of the trace has a power reading");
    return out;
}

}  // namespace viridian::account
