#pragma once
// ONNX's backend tests: a folder per test with model.onnx and test_data_set_N/{input,output}_M.pb.
#include <functional>
#include <string>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::conformance {

struct Case {
    std::string name;  // "node/test_relu"
    Path model;
    std::vector<Path>
        data_sets;  // empty: a light model, whose input is computed and whose output lies beside it
};

// Every test below `root` (node, simple, pytorch-operator, pytorch-converted, light), by name.
[[nodiscard]] std::vector<Case> find_cases(const Path& root);

// Kernels counts the nodes of a run that did not run on the reference kernels.
struct Kernels {
    int computing = 0;  // their kernels compute
    int moving = 0;     // their kernels are views, copies and other movements of elements
};

struct Outputs {
    std::vector<graph::Tensor> tensors;
    Kernels kernels;
};
using Run = std::function<Result<Outputs>(const graph::Graph&, const std::vector<graph::Tensor>&)>;

// Loads, runs, compares: |got − expected| <= atol + rtol |expected| (1e-7, 1e-3), types and shapes equal.
// Returns the kernels of the run with the most. Errors: whatever went wrong.
[[nodiscard]] Result<Kernels> run_case(const Case& test, const Run& run);

// The ways to run a model, by name: "reference", …
struct Device {
    std::string name;
    std::function<Result<Run>()> open;
};
[[nodiscard]] std::vector<Device> devices();

}  // namespace viridian::conformance
