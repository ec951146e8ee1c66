#pragma once
// Proof of equality (docs/method.md, 4): what a device computes against what the original model means, on the
// reference kernels. Relative L2 error per output and the same NaN pattern; integers must be equal.
#include <optional>

#include "viridian/execute/device.hpp"

namespace viridian::execute {

struct OutputAgreement {
    std::string name;
    double error = 0;  // the largest over all inputs; infinite where NaN patterns differ
    double allowed = 0;
    bool same_nan = true;
    // Of matrices of scores [rows, classes], over all inputs: rows, and those in which the class found best
    // is one of the original's best: within `allowed` times the row's largest score of it.
    std::int64_t rows = 0, agreeing = 0;
    [[nodiscard]] bool passed() const { return same_nan && error <= allowed && agreeing == rows; }
};

struct Proof {
    std::vector<OutputAgreement> outputs;
    int inputs = 0;               // how many sets of inputs were tried
    std::size_t worst_input = 0;  // the set on which an output missed its budget by most
    [[nodiscard]] bool passed() const;
};

// ‖a − b‖₂ / ‖b‖₂ over the elements that are not NaN in b (0 where both are zero); equal infinities agree.
[[nodiscard]] double relative_error(const graph::Tensor& a, const graph::Tensor& b);
[[nodiscard]] bool same_nan_pattern(const graph::Tensor& a, const graph::Tensor& b);

// The plan stores values in a lower precision than the graph's.
[[nodiscard]] bool rounds(const plan::Plan& plan);
// The error a plan may show: f32 1e-4, 1e-3 with a Winograd kernel; 2e-2 with bf16. A `budget` of the user's
// holds for bf16 as it is, and for f32 where it is smaller.
[[nodiscard]] double allowed_error(const plan::Plan& plan, std::optional<double> budget = std::nullopt);

// What the model means: one list of outputs per set of inputs, sets on up to `threads` threads. Slow; may be
// reused for every plan of the model.
[[nodiscard]] Result<std::vector<std::vector<graph::Tensor>>> reference_outputs(
    const graph::Graph& original, const std::vector<std::vector<graph::Tensor>>& inputs, int threads = 1);

[[nodiscard]] Result<Proof> prove(const graph::Graph& original,
                                  const std::vector<std::vector<graph::Tensor>>& inputs,
                                  const std::vector<std::vector<graph::Tensor>>& expected,
                                  Executable& executable, double allowed);

// Empty tensors of the graph's output types, to run into. Errors: unsupported when a shape is not known.
[[nodiscard]] Result<std::vector<graph::Tensor>> output_tensors(const graph::Graph& graph);

}  // namespace viridian::execute
