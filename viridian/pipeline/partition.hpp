#pragma once
// Splits the layers of a model into contiguous stages so that the most expensive stage is as cheap as
// possible, by time, energy or memory; among such splits it takes the most even one. For memory, a stage's
// activations count once per micro-batch that 1F1B holds there (ENVPIPE §4.5.1, Table 2).
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/json_fwd.hpp"
#include "viridian/base/result.hpp"
#include "viridian/base/units.hpp"

namespace viridian::pipeline {

struct Layer {
    std::string name;
    Seconds forward, backward;  // of one micro-batch, at the highest clock
    Joules energy;              // forward and backward together; 0: not known
    Bytes activation, weights;
};

// Balance says which quantity of the most expensive stage is minimised.
enum class Balance { time, energy, memory };

struct StageRange {
    int first = 0, last = 0;    // layers, last included
    Seconds forward, backward;  // sums over the layers, as are the next three
    Joules energy;
    Bytes activation, weights;
    Bytes memory;  // weights plus the activations that 1F1B holds at its peak
};

// Reads a table of layers with the header `layer,forward,backward` and optionally `energy,activation,weights`
// (seconds, joules, bytes). `name` stands for the file in errors. Errors: malformed, missing_entry.
[[nodiscard]] Result<std::vector<Layer>> read_layers_csv(std::string_view text, std::string_view name);

// Splits `layers` into `stages` stages. `micro_batches` matters for memory only. Errors: invalid_argument if
// stages outnumber layers, missing_entry if the table lacks the balanced quantity, limit_exceeded.
[[nodiscard]] Result<std::vector<StageRange>> partition(const std::vector<Layer>& layers, int stages,
                                                        Balance balance, int micro_batches);

}  // namespace viridian::pipeline
