#pragma once
// A StepRecord is what is known about one step of a training run. The log in JSON, TensorBoard's file and the
// line of progress are written from it.
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
    std::optional<std::int64_t> tokens{};  // in this step, of a model of text
    std::optional<double> gradient_norm{};
    std::optional<double> loss_scale{};
    std::optional<Energy> energy{};  // of this step; nothing if no meter and no model was asked for
    std::optional<Seconds> remaining{};
    std::map<std::string, double> metrics{};  // of an evaluation after this step

    [[nodiscard]] double samples_per_second() const {
        return seconds.value > 0 ? static_cast<double>(samples) / seconds.value : 0;
    }
    // Returns the mean power of the step; it has the provenance of the energy.
    [[nodiscard]] std::optional<Watts> power() const {
        if (!energy || seconds.value <= 0) return std::nullopt;
        return energy->value / seconds;
    }
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
