#pragma once
// Solves the regression that design.hpp builds: finds the base power, the watts of every kind of operation,
// the drift and the slopes that explain the windows best. The watts are not negative and are drawn toward
// the common mean of all kinds (ridge regression); how strongly is chosen by empirical Bayes, which
// maximises the evidence of a Gaussian prior over one ratio. The drift has a weak prior of its own; base and
// slopes have none.
#include "viridian/account/deconvolve/design.hpp"

namespace viridian::account {

struct Fit {
    Columns columns;
    std::vector<double> theta;        // the coefficients: W, for slopes ns
    double noise_variance = 0.0;      // W^2, of one window
    double ratio = 0.0;               // noise variance / prior variance of the kinds' watts
    double log_evidence = 0.0;        // of the windows, up to a constant of their number
    std::vector<std::size_t> pinned;  // kinds held at 0 W, because the fit would make them negative

    // `posterior` solves by the posterior covariance (X'X + prior)^-1, without the noise variance. `prior` is
    // the prior alone, which robust intervals need.
    Cholesky posterior{Symmetric(0)};
    Symmetric prior;
};

// Fits the sums `normal`, whose unknowns are `columns`. `mean_watts` is the mean power of the windows and
// sets the scale of the drift's prior.
[[nodiscard]] Fit fit(const Normal& normal, const Columns& columns, double mean_watts);
// Returns the coefficients for the sums `normal` with the priors of `like`, to judge a fit by held-out
// windows.
[[nodiscard]] std::vector<double> refit(const Normal& normal, const Fit& like);

}  // namespace viridian::account
