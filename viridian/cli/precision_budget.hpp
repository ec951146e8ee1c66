#pragma once
// The error budget of a plan that rounds to bf16 (`--max-error`): what must stay in f32 so that the outputs
// agree, the worst first.
#include "viridian/execute/blame.hpp"

namespace viridian::cli {

// A region that lost its right to bf16, or to minimal filtering in it: where its error entered, and how large
// it was.
struct Forbidden {
    execute::Blame blame;
    int round = 1;  // of planning, from 1
};

// Of `blames`, worst first: as many as it takes until the rest, whose errors add up as squares and are scaled
// to the whole plan's `error`, is expected to stay below `target`. At least one.
[[nodiscard]] std::span<const execute::Blame> to_forbid(std::span<const execute::Blame> blames, double error,
                                                        double target);

[[nodiscard]] Json to_json(const std::vector<Forbidden>& forbidden);

}  // namespace viridian::cli
