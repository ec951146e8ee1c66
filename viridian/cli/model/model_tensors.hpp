#pragma once
// Reads a model's inputs from files, and writes its outputs to files, for the commands on models.
#include "viridian/base/file.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::cli {

// One tensor per graph input. `files` are any of
//   NAME=FILE     that input,
//   FILE          the input whose name a .pb holds; else the first that fewest files are for so far, after
//                 those named,
//   FOLDER        every .npy and .pb in it, in the order of the names (input_2 before input_10): a data
//                 set of ONNX's tests, where input_N is the N-th input, or files named after their inputs.
// Without any file inputs are seeded. Errors: missing_entry (an input without a file), invalid_argument (no
// such input, a second file for one), mismatch (type or shape), those of onnx::read_tensor_file.
[[nodiscard]] Result<std::vector<graph::Tensor>> model_inputs(const graph::Graph& graph,
                                                              const std::vector<std::string>& files,
                                                              std::uint64_t seed);

// Several sets: the k-th file for an input is its tensor in set k. Errors: those above; invalid_argument
// where inputs have different numbers of files.
[[nodiscard]] Result<std::vector<std::vector<graph::Tensor>>> model_input_sets(
    const graph::Graph& graph, const std::vector<std::string>& files);

// FOLDER/NAME.npy for every output (.pb where NumPy has no such type), in the outputs' order.
[[nodiscard]] std::vector<Path> output_files(const graph::Graph& graph, const Path& folder);
// Into those files; their paths.
[[nodiscard]] Result<std::vector<Path>> write_outputs(const graph::Graph& graph,
                                                      const std::vector<graph::Tensor>& outputs,
                                                      const Path& folder);

}  // namespace viridian::cli
