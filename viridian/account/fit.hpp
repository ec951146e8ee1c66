#pragma once
// Non-negative ridge toward the kinds' common mean, its strength by empirical Bayes (the evidence of a
// Gaussian prior, maximised over one ratio), drift under a weak prior of its own, slopes and base free.
#include "viridian/account/design.hpp"

namespace viridian::account {

struct Fit {
    Columns columns;
    std::vector<double> theta;
    double noise_variance = 0.0;      // W^2, of one window
    double ratio = 0.0;               // noise variance / prior variance of the kinds' watts
    double log_evidence = 0.0;        // of the windows, up to a constant of their number
    std::vector<std::size_t> pinned;  // kinds held at 0 W

    // Of the posterior: (X'X + prior)^-1, without the noise variance. The prior's part for robust intervals.
    Cholesky posterior{Symmetric(0)};
    Symmetric prior;
};

// `mean_watts`: of the windows, the scale of the drift's prior.
[[nodiscard]] Fit fit(const Normal& normal, const Columns& columns, double mean_watts);
// The same strength of prior on other data: for folds.
[[nodiscard]] std::vector<double> refit(const Normal& normal, const Fit& like);

}  // namespace viridian::account
