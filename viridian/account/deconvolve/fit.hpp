#pragma once
// Solves the regression: a non-negative ridge toward the kinds' common mean, its strength by empirical Bayes
// (the evidence of a Gaussian prior, maximised over one ratio), drift under a weak prior of its own, slopes
// and base free.
#include "viridian/account/deconvolve/design.hpp"

namespace viridian::account {

struct Fit {
    Columns columns;
    std::vector<double> theta;
    double noise_variance = 0.0;      // W^2, of one window
    double ratio = 0.0;               // noise variance / prior variance of the kinds' watts
    double log_evidence = 0.0;        // of the windows, up to a constant of their number
    std::vector<std::size_t> pinned;  // kinds held at 0 W

    // The posterior covariance (X'X + prior)^-1 without the noise variance, and the prior for robust
    // intervals.
    Cholesky posterior{Symmetric(0)};
    Symmetric prior;
};

// `mean_watts`: the mean over the windows, which is the scale of the drift's prior.
[[nodiscard]] Fit fit(const Normal& normal, const Columns& columns, double mean_watts);
// Coefficients for other data with the strength of prior that `like` has, for folds.
[[nodiscard]] std::vector<double> refit(const Normal& normal, const Fit& like);

}  // namespace viridian::account
