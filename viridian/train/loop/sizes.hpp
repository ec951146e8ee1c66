#pragma once
// Sizes makes one graph ready for each size of batch that occurs: the whole batch, which comes first and runs
// often, and the last one of an epoch. The states are those of the runner that ran last, and stay where they
// are when the size changes; only that runner has memory for activations.
#include "viridian/train/loop/runner.hpp"

namespace viridian::train {

class Sizes {
  public:
    using Make = std::function<Result<graph::Graph>(std::int64_t batch)>;
    using Prepare = std::function<Result<Ready>(graph::Graph graph, Runs runs)>;
    Sizes(Make make, Prepare prepare) : make_(std::move(make)), prepare_(std::move(prepare)) {}

    // Returns the runner for this size, with the present states. Errors: those of making one, and of sharing
    // states.
    [[nodiscard]] Result<Runner*> at(std::int64_t batch);
    // The runner that ran last; there is one after at().
    [[nodiscard]] Runner& latest() { return *latest_; }
    // Frees memory; the states are lost and have to be set after the next at().
    void rest();

  private:
    [[nodiscard]] Result<Runner> ready(std::int64_t batch);

    Make make_;
    Prepare prepare_;
    std::map<std::int64_t, Runner> runners_;
    Runner* latest_ = nullptr;  // null: no runner has states
};

}  // namespace viridian::train
