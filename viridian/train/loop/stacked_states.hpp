#pragma once
// Translates between the states of a training step, some of which hold several tensors side by side
// (gradient/parameters/stack.hpp), and those tensors under the names that the user's model gives them.
#include <span>

#include "viridian/gradient/parameters/stacked_state.hpp"
#include "viridian/train/loop/feed.hpp"
#include "viridian/train/named_tensor.hpp"

namespace viridian::train {

class StackedStates {
  public:
    StackedStates() = default;
    explicit StackedStates(std::vector<gradient::StackedState> all) : all_(std::move(all)) {}

    // Returns the stacked state of this name; null if there is none.
    [[nodiscard]] const gradient::StackedState* find(std::string_view state) const;

    // Returns the names of the states that hold the tensors of these names, each once.
    [[nodiscard]] std::vector<std::string> holders(std::span<const std::string> names) const;

    // Returns `states`, with each stacked one replaced by copies of its parts.
    [[nodiscard]] std::vector<NamedTensor> parted(std::vector<NamedTensor> states) const;
    // Returns the tensors of these names, in that order. `states` are their holders.
    [[nodiscard]] std::vector<NamedTensor> parts(std::vector<NamedTensor> states,
                                                 std::span<const std::string> names) const;

    // Returns `tensors` with stacked states beside their parts. A state of which a part is missing is left
    // out. Errors: mismatch (parts that are not as long as those of the state, or do not fit together).
    [[nodiscard]] Result<Tensors> joined(Tensors tensors) const;

  private:
    std::vector<gradient::StackedState> all_;
};

}  // namespace viridian::train
