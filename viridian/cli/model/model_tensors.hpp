#pragma once
// Reads a model's inputs from files, and writes its outputs to files, for the commands on models.
#include "viridian/base/file.hpp"
#include "viridian/graph/graph.hpp"

namespace viridian::cli {

// Returns one tensor per graph input, and then one per state: its first value, unless a file gives it. Each
// entry of `files` is one of
//
// - NAME=FILE: FILE is for the input NAME.
// - FILE (never for a state): a .pb file that holds the name of an input is for that input. Any other file is
// for the first
//   input among those with the fewest files so far. Files that name their input come first.
// - FOLDER: every .npy and .pb file in it is for the input after which it is named. The name input_N stands
//   for the N-th input, counted from 0, as in the data sets of ONNX's tests. Other files are left out.
//
// If `files` is empty, the inputs are pseudo-random, from `seed`. Errors: missing_entry (an input without a
// file), invalid_argument (no such input, a second file for one), mismatch (type or shape), those of
// onnx::read_tensor_file.
[[nodiscard]] Result<std::vector<graph::Tensor>> model_inputs(const graph::Graph& graph,
                                                              const std::vector<std::string>& files,
                                                              std::uint64_t seed);

// Returns several sets of inputs: the k-th file for an input is its tensor in set k. Errors: those above;
// invalid_argument if inputs have different numbers of files.
[[nodiscard]] Result<std::vector<std::vector<graph::Tensor>>> model_input_sets(
    const graph::Graph& graph, const std::vector<std::string>& files);

// Returns the file of every output, and then of every new value of a state, in their order: FOLDER/NAME.npy,
// or .pb if NumPy lacks the type.
[[nodiscard]] std::vector<Path> output_files(const graph::Graph& graph, const Path& folder);
// Writes `outputs` into those files, creates `folder` if it is missing, and returns the paths. Errors:
// file_not_writable; those of onnx::write_tensor_file.
[[nodiscard]] Result<std::vector<Path>> write_outputs(const graph::Graph& graph,
                                                      const std::vector<graph::Tensor>& outputs,
                                                      const Path& folder);

}  // namespace viridian::cli
