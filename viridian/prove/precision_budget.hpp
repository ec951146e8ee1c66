#pragma once
// Keeps a plan that rounds to bf16 within its error budget (`--max-error`): chooses the regions that must
// stay in f32 so that the outputs agree.
#include "viridian/prove/blame.hpp"

namespace viridian::prove {

// A Forbidden is a region that may no longer use bf16, or no longer Winograd in bf16, and the error that it
// had caused.
struct Forbidden {
    Blame blame;
    int round = 1;  // the round of planning, from 1
};

// Returns the first of `blames`, which are sorted worst first: as many, and at least one, as it takes until
// the rest is expected to stay below `target`. Errors of regions add up as squares, and are scaled so that
// all together make `error`, that of the whole plan. All are relative L2.
[[nodiscard]] std::span<const Blame> to_forbid(std::span<const Blame> blames, double error, double target);

// Returns the list as JSON, for the result of `optimize`.
[[nodiscard]] Json to_json(const std::vector<Forbidden>& forbidden);

}  // namespace viridian::prove
