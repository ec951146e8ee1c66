#pragma once
// Finds what each parameter of a network does, so that it can be drawn anew as its layer would be drawn.
#include <map>
#include <span>
#include <string>
#include <vector>

#include "viridian/graph/graph.hpp"
#include "viridian/train/weights/initialise.hpp"

namespace viridian::train {

// A FoundPart says how the constant of a network is drawn: as a tensor of `shape`, which then gets the
// dimensions of the constant.
struct FoundPart {
    ParameterShape shape;
    // How many features the state of a recurrent layer has; PyTorch draws all parameters of such a layer
    // evenly between -1/√hidden and 1/√hidden.
    std::int64_t hidden = 0;
};

// Returns the part of a constant: that of the first node that reads it as a weight, bias, scale, shift or
// table, directly or through Identity, Cast and Transpose. Nothing if no reader says what it is: a slope of
// PRelu, a position table that is added, a factor of Einsum.
[[nodiscard]] std::optional<FoundPart> part_of(const graph::Graph& network, const graph::Uses& uses,
                                               graph::ValueId constant);

struct Redrawn {
    std::map<std::string, graph::Tensor> weights;
    std::vector<std::string> kept;  // those whose part is not known: they stay as they are
};
// Draws the constants `names` of `network`. Errors: missing_entry (no such constant), those of draw().
[[nodiscard]] Result<Redrawn> redraw(const graph::Graph& network, std::span<const std::string> names,
                                     const Drawing& drawing, std::uint64_t seed);

}  // namespace viridian::train
