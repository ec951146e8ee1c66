#pragma once
// Writes the trained model and proves that the file gives what the run computed.
#include "viridian/base/system/reserved_space.hpp"
#include "viridian/cli/train/train_options.hpp"
#include "viridian/onnx/onnx.hpp"
#include "viridian/prove/proof.hpp"
#include "viridian/train/loop/train.hpp"

namespace viridian::cli {

// Keeps room for the trained model, which is as large as the given one, from before the first step on.
// Errors: those of reading the model, disk_full, file_not_writable.
[[nodiscard]] Result<ReservedSpace> room_for_model(const TrainOptions& options);

// The versions that the given and the written file say they are written in.
struct WrittenVersions {
    onnx::Versions given, written;
};
// Writes the user's model with the trained weights to options.output: in the operator set that the user's
// file has, or the nearest that is written. `samples`: the names of their classes go into the metadata.
// Errors: those of reading the model and of onnx::save.
[[nodiscard]] Result<WrittenVersions> write_trained(const TrainOptions& options, const data::Dataset& samples,
                                                    const train::TrainResult& result);

// Loads the model file as `viridian run` does, runs it on the inputs of `witness` and compares its outputs
// with those of the run. `model`: how the model is opened; its file and batch are not read. Errors: those of
// opening and running; outputs that differ are no error.
[[nodiscard]] Result<prove::Proof> prove_written(const Path& file, ModelOptions model,
                                                 const train::Witness& witness);

// Checks the proof of the file. If it has failed, the file is renamed, so that nobody takes it for the
// trained model. Errors: broken_invariant, with the new name.
[[nodiscard]] Result<void> check_proven(const prove::Proof& proof, const Path& file);

}  // namespace viridian::cli
