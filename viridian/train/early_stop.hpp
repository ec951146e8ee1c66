#pragma once
// An EarlyStop ends a run that no longer improves: after `patience` evaluations in a row whose score is not
// better than the best one by more than `least_gain` (Prechelt, "Early Stopping - But When?", 1998; the rule
// of Keras' EarlyStopping). A score that is NaN is no improvement.
#include <cmath>
#include <limits>

namespace viridian::train {

struct EarlyStop {
    int patience = 10;
    double least_gain = 0;
    bool lower_is_better = true;
    // What goes on when a run is resumed.
    double best = std::numeric_limits<double>::quiet_NaN();  // NaN: no score yet
    int waited = 0;                                          // evaluations since the best one

    // Takes the score of one more evaluation and returns whether the run should stop.
    [[nodiscard]] bool update(double score) {
        const double gain = lower_is_better ? best - score : score - best;
        if (!std::isnan(score) && (std::isnan(best) || gain > least_gain)) {
            best = score;
            waited = 0;
        } else {
            ++waited;
        }
        return waited >= patience;
    }
};

}  // namespace viridian::train
