#pragma once
// How much a plan's outputs may differ from the original's (docs/method.md, 4), and why that much.
#include <optional>
#include <string>

#include "viridian/plan/plan.hpp"

namespace viridian::execute {

struct AllowedError {
    double error = 0;  // relative L2 per output
    std::string because;
};

// The plan stores a value in a lower precision than the graph does.
[[nodiscard]] bool rounds(const graph::Graph& graph, const plan::Plan& plan);

// f32 1e-4, 1e-3 with a Winograd kernel; 2e-2 where the plan rounds more than its graph. An original that is
// f16 or bf16 itself is allowed what its own roundings explain. A `budget` of the user's holds as it is where
// the plan rounds, and elsewhere where it is smaller.
[[nodiscard]] AllowedError allowed_error(const graph::Graph& original, const graph::Graph& graph,
                                         const plan::Plan& plan, std::optional<double> budget = std::nullopt);

// Roundings to f16 or bf16 on the path to an output that has most of them by 2 u sqrt(n), where u is the unit
// roundoff (2^-11, 2^-8): ours and the original's each round by at most u, and independent errors add as
// squares. Operators that move, select or compare do not round.
struct Roundings {
    int count = 0;
    double error = 0;  // 2 sqrt(sum of u^2)
};
[[nodiscard]] Roundings own_roundings(const graph::Graph& graph);

// By output: an integer or boolean that no computed floating value reaches, so that equal means equal.
[[nodiscard]] std::vector<bool> exact_outputs(const graph::Graph& graph);

}  // namespace viridian::execute
