#pragma once
// Finds a learning rate by a range test (Smith, "Cyclical Learning Rates for Training Neural Networks", 2017,
// section 3.3): the rate grows exponentially from step to step until the loss diverges, and the rate at which
// the loss fell fastest is suggested. The caller trains; these functions only see pairs of rate and loss.
#include <cstdint>
#include <span>

#include "viridian/base/result.hpp"

namespace viridian::train {

struct RateRange {
    double lowest = 1e-7;
    double highest = 10;
    std::int64_t steps = 100;  // at least 2
};
// Returns the rate of step `i`, from 0: lowest·(highest / lowest)^(i / (steps − 1)).
[[nodiscard]] double trial_rate(const RateRange& range, std::int64_t i);

struct RateTrial {
    double rate = 0;
    double loss = 0;
};

// Returns whether the test should stop: the last loss is no finite number, or the exponential average of the
// losses is more than four times its least value so far (the rule of fastai and PyTorch Lightning). Losses
// are positive.
[[nodiscard]] bool has_diverged(std::span<const RateTrial> trials);

struct RateFinding {
    double suggested = 0;  // the rate at which the loss surely falls most per factor of the rate
    double least = 0;      // the rate with the least smoothed loss; a tenth of it is Smith's other advice
    bool diverged = false;
};
// Suggests a rate from the trials, which go from low to high rates. Around each trial a line is fitted to the
// losses over the logarithm of the rate (local regression: Cleveland, "Robust Locally Weighted Regression and
// Smoothing Scatterplots", 1979, with equal weights). The loss falls there at least as fast as the slope of
// the line less four of its standard errors says, which the noise of single losses gives; the suggested rate
// is where this is most. Errors: invalid_argument (fewer than 10 finite losses before the divergence; a loss
// that nowhere falls by more than its noise).
[[nodiscard]] Result<RateFinding> find_rate(std::span<const RateTrial> trials);

}  // namespace viridian::train
