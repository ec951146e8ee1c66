#pragma once
// A MovingAverage keeps an exponential moving average of weights, which often generalises better than the
// last weights (Polyak and Juditsky, 1992; Tarvainen and Valpola, "Mean Teachers", 2017, equation 2).
#include <span>
#include <vector>

#include "viridian/train/named_tensor.hpp"

namespace viridian::train {

class MovingAverage {
  public:
    // `decay` is the part of the average that stays in each update, in [0, 1). With `warm_up` the n-th
    // update, from 0, uses at most (1 + n) / (10 + n), so that the first weights are soon forgotten (the rule
    // of TensorFlow's ExponentialMovingAverage with num_updates).
    explicit MovingAverage(double decay, bool warm_up = true) : decay_(decay), warm_up_(warm_up) {}

    // Takes the weights after one more step: average ← average + (1 − decay)·(weight − average). The first
    // call copies them. Averages of f64 are f64, of other floating types f32, so that small changes are not
    // rounded away; integers are copied. Errors: mismatch (other names or shapes than in the first call).
    [[nodiscard]] Result<void> update(std::span<const NamedTensor> weights);

    [[nodiscard]] const std::vector<NamedTensor>& averages() const { return averages_; }
    [[nodiscard]] std::int64_t updates() const { return updates_; }  // how many calls there were
    // Goes on from the averages and the count of an earlier run.
    void restore(std::vector<NamedTensor> averages, std::int64_t updates) {
        averages_ = std::move(averages);
        updates_ = updates;
    }

  private:
    double decay_;
    bool warm_up_;
    std::int64_t updates_ = 0;
    std::vector<NamedTensor> averages_;
};

}  // namespace viridian::train
