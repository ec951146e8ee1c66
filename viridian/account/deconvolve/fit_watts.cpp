#include "viridian/account/deconvolve/fit_watts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace viridian::account {
namespace {

struct Folded {
    std::vector<Normal> parts;
    Normal all;
};

// Neighbouring windows go to the same fold: their errors are related.
Folded fold_normals(const Design& design, std::span<const Window> windows, const Sensor& sensor,
                    std::span<const double> theta, std::size_t slopes) {
    const std::size_t size = design.columns(slopes).size();
    Folded folded{std::vector<Normal>(held_out_folds, Normal(size)), Normal(size)};
    const std::size_t block = std::max<std::size_t>(1, windows.size() / (held_out_folds * 12));
    design.visit(windows, sensor, theta, slopes,
                 [&](std::size_t j, const Row& row) { folded.parts[j / block % held_out_folds].add(row); });
    for (const Normal& part : folded.parts) folded.all.add(part, 1.0);
    return folded;
}

// Misfit on each fold of a fit to the others, summed, relative to that of base and drift alone.
double held_out_misfit(const Folded& folded, const Fit& fitted) {
    double model = 0.0, constant = 0.0;
    const std::size_t size = fitted.columns.size();
    for (const Normal& part : folded.parts) {
        Normal rest = folded.all;
        rest.add(part, -1.0);
        model += part.misfit(refit(rest, fitted));
        Symmetric small(1 + fitted.columns.knots);
        std::vector<double> right(small.size());
        const auto column = [&](std::size_t i) { return i == 0 ? 0 : fitted.columns.knot(i - 1); };
        for (std::size_t i = 0; i < small.size(); ++i) {
            right[i] = rest.xy[column(i)];
            for (std::size_t j = 0; j <= i; ++j) small(i, j) = rest.xx(column(i), column(j));
            if (i > 0) small(i, i) += fitted.prior(column(i), column(i));
        }
        const std::vector<double> level = Cholesky(std::move(small)).solve(std::move(right));
        std::vector<double> theta(size, 0.0);
        for (std::size_t i = 0; i < level.size(); ++i) theta[column(i)] = level[i];
        constant += part.misfit(theta);
    }
    return constant > 0.0 ? model / constant : 1.0;
}

// Windows that a fit cannot explain at all: work that the trace lost, another program on the device.
struct Trimmed {
    std::vector<Window> kept;
    double dropped = 0.0;     // part of the windows
    double idle_noise = 1.0;  // squared misfit of the half with more idle time, relative to the other half
};

Trimmed trim(const Design& design, std::span<const Window> windows, const Sensor& sensor, const Fit& fitted) {
    struct Seen {
        std::size_t window;
        double misfit, idle;
    };
    std::vector<Seen> seen;
    const std::size_t idle = fitted.columns.kind(fitted.columns.kinds - 1);
    design.visit(windows, sensor, {}, 0, [&](std::size_t j, const Row& row) {
        double idleness = 0.0;
        for (std::size_t i = 0; i < row.columns.size(); ++i)
            if (row.columns[i] == idle) idleness = row.values[i];
        seen.push_back({j, std::abs(row.watts - row.dot(fitted.theta)), idleness});
    });
    Trimmed out;
    if (seen.size() < 8) return {{windows.begin(), windows.end()}};
    const auto middle = seen.begin() + static_cast<std::ptrdiff_t>(seen.size() / 2);
    std::nth_element(seen.begin(), middle, seen.end(),
                     [](const Seen& a, const Seen& b) { return a.misfit < b.misfit; });
    const double limit = 6.0 * 1.4826 * middle->misfit;
    std::vector<bool> drop(windows.size(), false);
    std::vector<Seen> left;
    for (const Seen& one : seen)
        if (one.misfit > limit)
            drop[one.window] = true;
        else
            left.push_back(one);
    for (std::size_t j = 0; j < windows.size(); ++j)
        if (!drop[j]) out.kept.push_back(windows[j]);
    out.dropped = 1.0 - static_cast<double>(left.size()) / static_cast<double>(seen.size());
    std::sort(left.begin(), left.end(), [](const Seen& a, const Seen& b) { return a.idle < b.idle; });
    double halves[2] = {0.0, 0.0};
    for (std::size_t i = 0; i < left.size(); ++i)
        halves[2 * i >= left.size() ? 1 : 0] += left[i].misfit * left[i].misfit;
    if (halves[0] > 0.0) out.idle_noise = halves[1] / halves[0];
    return out;
}

// Scores of `count` blocks of windows: intervals that hold when errors differ in size and are related nearby.
WattsFit::Blocks scores_of_blocks(const Design& design, std::span<const Window> windows, const Sensor& sensor,
                                  const Fit& fitted, std::span<const double> slope_theta, std::size_t count,
                                  std::size_t rows) {
    WattsFit::Blocks out;
    out.scores.assign(count, std::vector<double>(fitted.columns.size()));
    design.visit(windows, sensor, slope_theta, fitted.columns.slopes, [&](std::size_t j, const Row& row) {
        const double residual = row.watts - row.dot(fitted.theta);
        std::vector<double>& score = out.scores[j * count / windows.size()];
        for (std::size_t i = 0; i < row.columns.size(); ++i)
            score[row.columns[i]] += row.values[i] * residual;
    });
    const auto blocks = static_cast<double>(count), windows_used = static_cast<double>(rows);
    const auto unknowns = static_cast<double>(std::min(fitted.columns.size(), rows / 2));
    out.correction =
        blocks / std::max(1.0, blocks - 1.0) * windows_used / std::max(1.0, windows_used - unknowns);
    return out;
}

// WattsFit::wander, over blocks of about two seconds.
double wander_of(const Design& design, std::span<const Window> windows, const Sensor& sensor,
                 const Fit& fitted, std::span<const double> slope_theta) {
    constexpr double block_ns = 2e9;
    const double span = static_cast<double>(windows.back().end - windows.front().end);
    const auto blocks = static_cast<std::size_t>(std::clamp(span / block_ns, 1.0, 1e6));
    std::vector<double> sums(blocks);
    double squares = 0.0;
    design.visit(windows, sensor, slope_theta, fitted.columns.slopes, [&](std::size_t j, const Row& row) {
        const double residual = row.watts - row.dot(fitted.theta);
        sums[j * blocks / windows.size()] += residual;
        squares += residual * residual;
    });
    double related = 0.0;
    for (const double sum : sums) related += sum * sum;
    return squares > 0.0 ? related / squares : 1.0;
}

// A fit to the windows that it can explain: fitted and trimmed in turn until no more windows are left out.
struct TrimmedFit {
    Trimmed used;
    Fit fit;
};
TrimmedFit fit_trimmed(const Design& design, std::span<const Window> windows, const Sensor& sensor,
                       double mean) {
    TrimmedFit out;
    out.used.kept.assign(windows.begin(), windows.end());
    for (int round = 0; round < 6; ++round) {
        Trimmed& used = out.used;
        out.fit = fit(fold_normals(design, used.kept, sensor, {}, 0).all, design.columns(0), mean);
        Trimmed next = trim(design, windows, sensor, out.fit);
        const bool too_few = next.kept.size() < windows.size() / 2;
        const bool settled = next.kept.size() == used.kept.size() || too_few;
        if (too_few)
            used.idle_noise = next.idle_noise;
        else
            used = std::move(next);
        if (settled) break;
    }
    return out;
}

}  // namespace

double WattsFit::deviation_of(const std::vector<double>& weights) const {
    const std::vector<double> z = fit.posterior.solve(weights);
    double model = 0.0, robust = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) model += z[i] * weights[i];
    for (const Blocks& some : blocks) {
        double scatter = 0.0;
        for (const std::vector<double>& score : some.scores) {
            double sum = 0.0;
            for (std::size_t i = 0; i < z.size(); ++i) sum += z[i] * score[i];
            scatter += sum * sum;
        }
        robust = std::max(robust, scatter * some.correction);
    }
    robust += fit.noise_variance * fit.prior.quadratic(z);
    return std::sqrt(std::max({0.0, model * fit.noise_variance, robust}));
}

WattsFit fit_watts(const Design& design, std::span<const Window> windows, const Sensor& sensor, Watts mean) {
    const std::size_t slopes = sensor.counter ? 1 : 2;
    const Columns columns = design.columns(slopes);
    TrimmedFit first = fit_trimmed(design, windows, sensor, mean.value);
    WattsFit out;
    out.sensor = sensor;
    out.dropped = first.used.dropped;
    out.idle_noise = first.used.idle_noise;
    Folded folded;
    std::vector<double> slopes_at = first.fit.theta;
    for (int round = 0; round < 6; ++round) {  // the light fit that found the sensor was a little biased
        folded = fold_normals(design, first.used.kept, out.sensor, slopes_at, slopes);
        out.fit = fit(folded.all, columns, mean.value);
        const double move = out.fit.theta[columns.slope(0)];
        const double stretch = slopes > 1 ? out.fit.theta[columns.slope(1)] : 0.0;
        if (round == 5 || (std::abs(move) < 500.0 && std::abs(stretch) < 500.0)) break;
        out.sensor.shift_ns += std::clamp(move, -60e3, 60e3);
        if (slopes > 1)
            out.sensor.window_ns = std::max(1e5, out.sensor.window_ns + std::clamp(stretch, -60e3, 60e3));
        slopes_at.assign(out.fit.theta.begin(), out.fit.theta.end() - static_cast<std::ptrdiff_t>(slopes));
    }
    out.held_out = held_out_misfit(folded, out.fit);
    const std::vector<Window>& used = first.used.kept;
    constexpr std::array<std::size_t, 3> most_blocks = {400, 100, 30};
    for (const std::size_t most : most_blocks)
        out.blocks.push_back(scores_of_blocks(design, used, out.sensor, out.fit, slopes_at,
                                              std::clamp<std::size_t>(used.size() / 4, 1, most),
                                              folded.all.count));
    out.wander = wander_of(design, used, out.sensor, out.fit, slopes_at);
    std::vector<double> along_shift(columns.size());
    along_shift[columns.slope(0)] = 1.0;
    out.sensor.shift_ns += std::clamp(out.fit.theta[columns.slope(0)], -500.0, 500.0);
    out.sensor.shift_deviation_ns = out.deviation_of(along_shift);
    return out;
}

}  // namespace viridian::account
