#pragma once
// readings() compares the words that a fused graph moves with those of the unfused one. SUBSTATION's "22.91
// %" (section VI-C, from its Table III) does not say what one unfused operator is. Table III prints the
// softmax of attention, with its scaling and its dropout, as one operator; frameworks also run three. Three
// readings follow, and all of them are counted here. docs/movement.md explains them with numbers.
#include "viridian/movement/fusion.hpp"

namespace viridian::movement {

enum class Reading : std::uint8_t {
    printed,        // a softmax with its scaling and its dropout is one operator, and so is its gradient
    split_forward,  // only the gradient is one operator
    split,          // each operator of the user's model is one, and so is each of its gradients
};
[[nodiscard]] std::string_view name_of(Reading reading);
[[nodiscard]] std::string_view explanation_of(Reading reading);

struct ReadWords {
    Reading reading = Reading::split;
    Words unfused;
    Words fused;
    // Words of `fused.written` that the paper does not count: what one operator of a forward kernel hands to
    // another one of the same kernel, and what only the gradients read besides, such as the input of ReLU.
    // The kernel must store it for them. Operators are those of the printed reading.
    std::int64_t interim = 0;

    // Returns the share of the unfused words that fusion avoids, from 0 to 1.
    [[nodiscard]] double saved() const;
    // Returns that share if interim words are not counted, as in the paper.
    [[nodiscard]] double saved_as_the_paper_counts() const;
};

// Returns the three readings, in the order of Reading, for the regions of `fusion`, which fuse() found in
// `graph`. Errors: those of fuse().
[[nodiscard]] Result<std::vector<ReadWords>> readings(const graph::Graph& graph, const Fusion& fusion);

// Returns the words of all regions.
[[nodiscard]] Words words_of(const graph::Graph& graph, const std::vector<Region>& regions);

}  // namespace viridian::movement
