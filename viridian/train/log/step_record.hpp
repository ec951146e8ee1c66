#pragma once
// A StepRecord is what is known about one step of a training run, and an EvaluationRecord about one
// evaluation. The log in JSON and TensorBoard's file are written from both, the line of progress from steps.
#include <map>
#include <optional>
#include <string>

#include "viridian/base/energy.hpp"

namespace viridian::train {

struct StepRecord {
    std::int64_t step = 0;    // finished steps
    std::int64_t steps = 0;   // of the whole run; 0: not known
    std::int64_t epoch = 0;   // the epoch under way, from 1
    std::int64_t epochs = 0;  // of the whole run; 0: not known
    double loss = 0;
    std::optional<double> average_loss{};  // LossAverage
    double rate = 0;                       // the learning rate
    Seconds seconds{};                     // of this step
    std::int64_t samples = 0;              // in this step
    std::optional<double> gradient_norm{};
    std::optional<Energy> energy{};  // of this step; nothing if it is not known
    std::optional<Seconds> remaining{};

    [[nodiscard]] double samples_per_second() const {
        return seconds.value > 0 ? static_cast<double>(samples) / seconds.value : 0;
    }
    // Returns the mean power of the step; it has the provenance of the energy.
    [[nodiscard]] std::optional<Watts> power() const {
        if (!energy || seconds.value <= 0) return std::nullopt;
        return energy->value / seconds;
    }
};

struct EvaluationRecord {
    std::int64_t step = 0;   // finished steps
    std::int64_t epoch = 0;  // the epoch that it ends, from 1
    double loss = 0;         // of the samples for evaluation, as training computes it
    std::map<std::string, double> metrics{};
    Seconds seconds{};
    std::int64_t samples = 0;
};

// A LossAverage is the exponential average of the losses that a line of progress shows, without the bias
// towards 0 of its first steps. Both numbers go on when a run is resumed.
struct LossAverage {
    double decay = 0.98;
    double sum = 0;
    double weight = 0;

    void add(double loss) {
        sum = decay * sum + (1 - decay) * loss;
        weight = decay * weight + (1 - decay);
    }
    [[nodiscard]] std::optional<double> value() const {
        return weight > 0 ? std::optional(sum / weight) : std::nullopt;
    }
};

}  // namespace viridian::train
