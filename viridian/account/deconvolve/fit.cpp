#include "viridian/account/deconvolve/fit.hpp"

#include <algorithm>
#include <cmath>

namespace viridian::account {
namespace {

// Precision of the prior, in units of 1 / noise variance.
Symmetric prior_precision(const Normal& normal, const Columns& columns, double ratio, double drift_ratio) {
    Symmetric prior(columns.size());
    const std::size_t working =
        columns.kinds - 1;  // the last kind, idleness, is like no other: a hundredth of the pull
    const auto kinds = static_cast<double>(working);
    prior(columns.kind(working), columns.kind(working)) = 0.01 * ratio;
    for (std::size_t i = 0; i < working; ++i)
        for (std::size_t j = 0; j <= i; ++j)
            prior(columns.kind(i), columns.kind(j)) = ratio * ((i == j ? 1.0 : 0.0) - 1.0 / kinds);
    for (std::size_t m = 0; m < columns.knots; ++m) prior(columns.knot(m), columns.knot(m)) = drift_ratio;
    // The level is free; where base and common mean cannot be told apart, a hair of weight decides.
    prior(0, 0) = 1e-4 * ratio;
    for (std::size_t i = 0; i < working; ++i) prior(columns.kind(i), columns.kind(i)) += 1e-7 * ratio;
    for (std::size_t i = 0; i < columns.slopes; ++i)
        prior(columns.slope(i), columns.slope(i)) = 1e-12 * normal.xx(columns.slope(i), columns.slope(i));
    return prior;
}

struct FitCandidate {
    std::vector<double> theta;
    double noise = 0.0;
    double evidence = 0.0;
};

FitCandidate solve(const Normal& normal, const Columns& columns, double ratio, double drift_ratio) {
    Symmetric matrix = prior_precision(normal, columns, ratio, drift_ratio);
    matrix.add(normal.xx, 1.0);
    const Cholesky factor(std::move(matrix));
    FitCandidate candidate;
    candidate.theta = factor.solve(normal.xy);
    double explained = 0.0;
    for (std::size_t i = 0; i < normal.xy.size(); ++i) explained += normal.xy[i] * candidate.theta[i];
    const double free = 1.0 + static_cast<double>(columns.slopes);
    const double freedom = std::max(1.0, static_cast<double>(normal.count) - free);
    candidate.noise = std::max(normal.yy - explained, 1e-12 * normal.yy + 1e-30) / freedom;
    const double kinds =
        static_cast<double>(columns.kinds) - 1.0;  // ranks of the prior: idleness in, the mean out
    candidate.evidence =
        -0.5 * (freedom * std::log(candidate.noise) + factor.log_determinant() - kinds * std::log(ratio) -
                static_cast<double>(columns.knots) * std::log(drift_ratio));
    return candidate;
}

double slow_drift_ratio(double noise, double mean_watts) {
    const double deviation = std::max(0.1 * mean_watts, 1e-6);
    return std::max(noise, 1e-12) / (deviation * deviation);
}

}  // namespace

Fit fit(const Normal& normal, const Columns& columns, double mean_watts) {
    double drift_ratio =
        slow_drift_ratio(normal.yy / std::max<double>(1.0, static_cast<double>(normal.count)), mean_watts);
    double best_log = 0.0;
    for (int round = 0; round < 2; ++round) {
        // Evidence over log10(ratio): a coarse walk, then golden section around the best.
        const auto evidence = [&](double log_ratio) {
            return solve(normal, columns, std::pow(10.0, log_ratio), drift_ratio).evidence;
        };
        double best = -HUGE_VAL;
        for (double x = -10.0; x <= 4.0; x += 2.0)
            if (const double value = evidence(x); value > best) {
                best = value;
                best_log = x;
            }
        double low = best_log - 2.0, high = best_log + 2.0;
        constexpr double golden = 0.6180339887498949;
        double a = high - golden * (high - low), b = low + golden * (high - low);
        double at_a = evidence(a), at_b = evidence(b);
        for (int i = 0; i < 8; ++i) {
            if (at_a > at_b) {
                high = b;
                b = a;
                at_b = at_a;
                a = high - golden * (high - low);
                at_a = evidence(a);
            } else {
                low = a;
                a = b;
                at_a = at_b;
                b = low + golden * (high - low);
                at_b = evidence(b);
            }
        }
        best_log = 0.5 * (low + high);
        if (columns.knots == 0) break;
        drift_ratio =
            slow_drift_ratio(solve(normal, columns, std::pow(10.0, best_log), drift_ratio).noise, mean_watts);
    }
    Fit out;
    out.columns = columns;
    out.ratio = std::pow(10.0, best_log);
    out.log_evidence = solve(normal, columns, out.ratio, drift_ratio).evidence;
    out.prior = prior_precision(normal, columns, out.ratio, drift_ratio);
    Symmetric matrix = out.prior;
    matrix.add(normal.xx, 1.0);
    out.posterior = Cholesky(matrix);
    out.theta = out.posterior.solve(normal.xy);
    for (int round = 0; round < 20; ++round) {  // watts below zero are held at zero
        bool more = false;
        for (std::size_t k = 0; k + 1 < columns.kinds; ++k)
            if (out.theta[columns.kind(k)] < 0.0 &&
                std::find(out.pinned.begin(), out.pinned.end(), k) == out.pinned.end()) {
                out.pinned.push_back(k);
                matrix(columns.kind(k), columns.kind(k)) =
                    1e9 * std::max(matrix(columns.kind(k), columns.kind(k)), 1e-300);
                more = true;
            }
        if (!more) break;
        out.theta = Cholesky(matrix).solve(normal.xy);
    }
    for (const std::size_t k : out.pinned) out.theta[columns.kind(k)] = 0.0;
    double trace = 0.0;  // effective number of parameters: tr((X'X + prior)^-1 X'X)
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::vector<double> row(columns.size());
        for (std::size_t j = 0; j < columns.size(); ++j) row[j] = normal.xx.any(i, j);
        trace += out.posterior.solve(std::move(row))[i];
    }
    out.noise_variance = normal.misfit(out.theta) / std::max(1.0, static_cast<double>(normal.count) - trace);
    return out;
}

std::vector<double> refit(const Normal& normal, const Fit& like) {
    Symmetric matrix = like.prior;
    matrix.add(normal.xx, 1.0);
    for (const std::size_t k : like.pinned) matrix(like.columns.kind(k), like.columns.kind(k)) *= 1e9;
    return Cholesky(std::move(matrix)).solve(normal.xy);
}

}  // namespace viridian::account
