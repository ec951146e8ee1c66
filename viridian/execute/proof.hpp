#pragma once
// Proof of equality (docs/method.md, 4): what a device computes against what the original model means, on the
// reference kernels. Relative L2 error per output and the same NaN pattern; integers that no rounding reaches
// must be equal.
#include "viridian/execute/allowed_error.hpp"
#include "viridian/execute/device.hpp"

namespace viridian::execute {

struct OutputAgreement {
    std::string name;
    double error = 0;  // the largest over all inputs; infinite where NaN patterns differ
    double allowed = 0;
    std::string because;  // why that much is allowed
    bool same_nan = true;
    bool exact = false;  // no rounding reaches it: every element must be equal
    // Of integers and booleans, over all inputs: elements, and those that are not equal.
    std::int64_t elements = 0, differing = 0;
    // Of matrices of scores [rows, classes], over all inputs: rows of finite scores, and those in which the
    // class found best is one of the original's best: within `allowed` times the row's largest score of it.
    std::int64_t rows = 0, agreeing = 0;
    [[nodiscard]] bool passed() const {
        return same_nan && error <= allowed && agreeing == rows && (!exact || differing == 0);
    }
};

struct Proof {
    std::vector<OutputAgreement> outputs;
    int inputs = 0;  // how many sets of inputs were tried
    [[nodiscard]] bool passed() const;
};

// ‖a − b‖₂ / ‖b‖₂ over the elements that are not NaN in b (0 where both are zero); equal infinities agree.
[[nodiscard]] double relative_error(const graph::Tensor& a, const graph::Tensor& b);
[[nodiscard]] bool same_nan_pattern(const graph::Tensor& a, const graph::Tensor& b);

// What the model means: one list of outputs per set of inputs, sets on up to `threads` threads. Slow; may be
// reused for every plan of the model.
[[nodiscard]] Result<std::vector<std::vector<graph::Tensor>>> reference_outputs(
    const graph::Graph& original, const std::vector<std::vector<graph::Tensor>>& inputs, int threads = 1);

[[nodiscard]] Result<Proof> prove(const graph::Graph& original,
                                  const std::vector<std::vector<graph::Tensor>>& inputs,
                                  const std::vector<std::vector<graph::Tensor>>& expected,
                                  Executable& executable, const AllowedError& allowed);

// Empty tensors of the graph's output types, to run into. Errors: unsupported when a shape is not known.
[[nodiscard]] Result<std::vector<graph::Tensor>> output_tensors(const graph::Graph& graph);

}  // namespace viridian::execute
