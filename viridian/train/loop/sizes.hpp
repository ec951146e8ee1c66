#pragma once
// Sizes makes one graph ready for each size of batch that occurs: the whole batch, and the last one of an
// epoch. The states are those of the runner that ran last, and move when the size changes; only that runner
// has memory for states and activations.
#include "viridian/train/loop/runner.hpp"

namespace viridian::train {

class Sizes {
  public:
    using Make = std::function<Result<Ready>(std::int64_t batch)>;
    explicit Sizes(Make make) : make_(std::move(make)) {}

    // Returns the runner for this size, with the present states. Errors: those of making one, and of moving
    // states.
    [[nodiscard]] Result<Runner*> at(std::int64_t batch);
    // The runner that ran last; there is one after at().
    [[nodiscard]] Runner& latest() { return *latest_; }
    // Frees memory; the states are lost and have to be set after the next at().
    void rest();

  private:
    Make make_;
    std::map<std::int64_t, Runner> runners_;
    Runner* latest_ = nullptr;  // null: no runner has states
};

}  // namespace viridian::train
