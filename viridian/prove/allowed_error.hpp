#pragma once
// Says how much a plan's outputs may differ from the original's (docs/method.md, 4), and why.
#include <optional>
#include <string>

#include "viridian/plan/plan.hpp"

namespace viridian::prove {

// An AllowedError is such an error with its reason.
struct AllowedError {
    double error = 0;  // relative L2 per output
    std::string because;
    // For states of a training step that gradients change, relative to what the gradients add to them
    // (training.hpp); absent: `error`.
    std::optional<double> of_gradients = {};
    [[nodiscard]] double gradients() const { return of_gradients.value_or(error); }
};

inline constexpr double allowed_with_winograd = 1e-3;  // of a plan in f32
// Returns whether a kernel of `plan` computes by Winograd's method.
[[nodiscard]] bool uses_winograd(const plan::Plan& plan);

// Returns 1e-4 for a plan in f32, 1e-3 if it has a Winograd kernel, and 2e-2 if it rounds more than its
// graph. What gradients add to states may then have an error of 0.0447, which leaves a cosine of at least
// √(1 − 0.0447²) = 0.999 between the two. An original that is in f16 or bf16 itself is allowed what its own
// roundings explain. A user's `budget` replaces both errors of a plan that rounds, and the error of any other
// plan only if it is smaller.
[[nodiscard]] AllowedError allowed_error(const graph::Graph& original, const graph::Graph& graph,
                                         const plan::Plan& plan, std::optional<double> budget = std::nullopt);

// Roundings count the roundings to f16 or bf16 on the path to an output that has the largest error. With n
// roundings of unit roundoff u (2^-11 for f16, 2^-8 for bf16) the error is 2 u sqrt(n): the plan and the
// original each round by at most u, and independent errors add as squares. Operators that move, select or
// compare do not round.
struct Roundings {
    int count = 0;
    double error = 0;  // 2 sqrt(sum of u^2)
};
// Returns the roundings of `graph` itself, as its types declare them.
[[nodiscard]] Roundings own_roundings(const graph::Graph& graph);

// Returns, for each output, whether it is integer or boolean and no computed floating value reaches it, so
// that every element must be equal.
[[nodiscard]] std::vector<bool> exact_outputs(const graph::Graph& graph);

}  // namespace viridian::prove
