#pragma once
// Proves that a plan is equal to its model (docs/method.md, 4): compares what a device computes with what the
// reference kernels compute from the original model. Each output must stay within a relative L2 error and
// have the original's NaN pattern; integers that no rounding reaches must be equal.
#include "viridian/execute/device.hpp"
#include "viridian/prove/allowed_error.hpp"

namespace viridian::prove {

// An OutputAgreement says how far one output agrees.
struct OutputAgreement {
    std::string name;
    double error = 0;  // the largest over all inputs; infinite if types or shapes differ
    double allowed = 0;
    std::string because;  // why that much is allowed
    bool same_nan = true;
    bool exact = false;  // no rounding reaches it: every element must be equal
    // `elements` counts the integers and booleans over all inputs, `differing` those that are not equal.
    std::int64_t elements = 0, differing = 0;
    // These two are used if the output is a matrix of scores [rows, classes] and not the gradient of a
    // parameter. `rows` counts the rows of finite scores over all inputs, `agreeing` those whose best class
    // is one of the original's best. A class counts as one of the best if its score is within `allowed` times
    // the row's largest absolute score of the best one.
    std::int64_t rows = 0, agreeing = 0;
    [[nodiscard]] bool passed() const {
        return same_nan && error <= allowed && agreeing == rows && (!exact || differing == 0);
    }
};

// A Proof has passed if every output has.
struct Proof {
    std::vector<OutputAgreement> outputs;
    int inputs = 0;  // how many sets of inputs were tried
    [[nodiscard]] bool passed() const;
};

// Returns ‖a − b‖₂ / max(‖b‖₂, least) over the elements that are not NaN in b, 0 if both are zero. Equal
// infinities agree.
[[nodiscard]] double relative_error(const graph::Tensor& a, const graph::Tensor& b, double least = 0);
[[nodiscard]] bool same_nan_pattern(const graph::Tensor& a, const graph::Tensor& b);

// Runs the model on the reference kernels and returns one list of outputs for each set in `inputs`. Up to
// `threads` sets run at once. This is slow; the result serves every plan of the model. Errors: those of
// graph::evaluate.
[[nodiscard]] Result<std::vector<std::vector<graph::Tensor>>> reference_outputs(
    const graph::Graph& original, const std::vector<std::vector<graph::Tensor>>& inputs, int threads = 1);

// Runs `executable` on every set in `inputs` and compares its outputs with `expected`, those of the reference
// kernels. A set holds the values of the states behind the inputs, and their new values are compared too, by
// what the gradients added to them (training.hpp). If `more` is given, more[i] replaces the bound of result i
// where that is in f32 and the bound is smaller (f32_rounding.hpp). Errors: those of running; outputs that
// differ are no error.
[[nodiscard]] Result<Proof> prove(const graph::Graph& original,
                                  const std::vector<std::vector<graph::Tensor>>& inputs,
                                  const std::vector<std::vector<graph::Tensor>>& expected,
                                  execute::Executable& executable, const AllowedError& allowed,
                                  std::span<const AllowedError> more = {});

}  // namespace viridian::prove
