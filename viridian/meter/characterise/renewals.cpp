#include "viridian/meter/characterise/renewals.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::meter {
namespace {

double median(std::vector<double> values) {
    if (values.empty()) return 0.0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

struct Change {
    double low, high;  // bracket, since the first
    [[nodiscard]] double middle() const { return 0.5 * (low + high); }
    [[nodiscard]] double width() const { return high - low; }
};

struct Line {
    double period, phase;
};

// Least squares of time over count, on the changes that were seen sharply.
Line fit(const std::vector<Change>& changes, const std::vector<double>& count, double sharp) {
    double n = 0, sk = 0, st = 0, skk = 0, skt = 0;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        if (changes[i].width() > sharp) continue;
        const double k = count[i], t = changes[i].middle();
        n += 1;
        sk += k;
        st += t;
        skk += k * k;
        skt += k * t;
    }
    const double spread = n * skk - sk * sk;
    if (n < 3 || spread <= 0.0) return {0.0, 0.0};
    const double period = (n * skt - sk * st) / spread;
    return {period, (st - period * sk) / n};
}

}  // namespace

std::optional<Renewals> find_renewals(std::span<const ProbeReading> readings) {
    if (readings.size() < 10) return std::nullopt;
    const std::int64_t zero = readings.front().not_before_ns;
    std::vector<Change> changes;
    for (const ProbeReading& reading : readings.subspan(1))  // the first shows no change
        changes.push_back(
            {static_cast<double>(reading.not_before_ns - zero), static_cast<double>(reading.seen_ns - zero)});
    std::vector<double> gaps, widths;
    for (std::size_t i = 0; i < changes.size(); ++i) {
        widths.push_back(changes[i].width());
        if (i > 0) gaps.push_back(changes[i].middle() - changes[i - 1].middle());
    }
    Renewals out;
    const double typical = median(gaps), asking = median(widths);
    out.times_ns.push_back(0.0);
    for (const Change& change : changes) out.times_ns.push_back(change.middle());
    out.limited = typical < 1.8 * asking;
    out.period_ns = typical;
    // Counts of periods since the first change. The beat is followed: the error of a first guess of the
    // period must not add up to a whole one, nor that of a reading that came late.
    double period = typical;
    std::vector<double> count(changes.size(), 0.0);
    const double sharp = std::max(0.4 * typical, 1.5 * asking);
    for (int round = 0; round < 4; ++round) {
        double anchor = changes[0].middle(), k = 0.0;
        for (std::size_t i = 1; i < changes.size(); ++i) {
            const double steps = std::max(1.0, std::round((changes[i].middle() - anchor) / period));
            count[i] = k + steps;
            if (changes[i].width() > sharp) continue;
            k = count[i];
            const double expected = anchor + steps * period;
            anchor = expected + 0.3 * (changes[i].middle() - expected);
        }
        const Line line = fit(changes, count, sharp);
        if (line.period <= 0.0 || std::abs(line.period - typical) > 0.5 * typical) break;
        period = line.period;
        std::vector<double> misses;
        for (std::size_t i = 0; i < changes.size(); ++i)
            if (changes[i].width() <= sharp)
                misses.push_back(std::abs(changes[i].middle() - line.phase - line.period * count[i]));
        out.jitter_ns = median(misses);
        if (out.jitter_ns > 0.25 * period) continue;  // not a beat: the changes themselves are all we know
        out.period_ns = period;
        for (std::size_t i = 0; i < changes.size(); ++i)
            out.times_ns[i + 1] = line.phase + line.period * count[i];
    }
    const double steps = std::max(1.0, count.back());
    const double doubt = out.jitter_ns > 0.25 * out.period_ns
                             ? 2.0 * out.jitter_ns / std::sqrt(static_cast<double>(gaps.size()))
                             : 2.0 * (asking + out.jitter_ns) / steps;
    out.low_ns = out.limited ? 0.0 : out.period_ns - doubt;
    out.high_ns = out.period_ns + doubt;
    return out;
}

}  // namespace viridian::meter
