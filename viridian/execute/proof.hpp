#pragma once
// Proof of equality (docs/method.md, 4): what a device computes against what the original model means, on the
// reference kernels. Relative L2 error per output and the same NaN pattern; integers must be equal.
#include "viridian/execute/device.hpp"

namespace viridian::execute {

struct OutputAgreement {
    std::string name;
    double error = 0;  // the largest over all inputs; infinite where NaN patterns differ
    double allowed = 0;
    bool same_nan = true;
    [[nodiscard]] bool passed() const { return same_nan && error <= allowed; }
};

struct Proof {
    std::vector<OutputAgreement> outputs;
    int inputs = 0;  // how many sets of inputs were tried
    [[nodiscard]] bool passed() const;
};

// ‖a − b‖₂ / ‖b‖₂ over the elements that are not NaN in b (0 where both are zero); equal infinities agree.
[[nodiscard]] double relative_error(const graph::Tensor& a, const graph::Tensor& b);
[[nodiscard]] bool same_nan_pattern(const graph::Tensor& a, const graph::Tensor& b);

// The error a plan may show: f32 1e-4, 1e-3 with a Winograd kernel, 2e-2 with bf16.
[[nodiscard]] double allowed_error(const plan::Plan& plan);

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
