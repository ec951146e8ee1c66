#pragma once
// A Checkpoint is everything that a training run needs in order to go on where it stood: the states of the
// training step under the user's own names, the position in the data, and what the run was started with. It
// is kept as a safetensors file, so that any program that reads this format can read the weights.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "viridian/base/file.hpp"
#include "viridian/train/checkpoint/fingerprint.hpp"
#include "viridian/train/checkpoint/safetensors_header.hpp"
#include "viridian/train/named_tensor.hpp"

namespace viridian::train {

// A SavedState is one tensor that lasts from step to step. A parameter or running statistic has the name
// that it has in the model. What an optimiser remembers about the parameter NAME is called NAME.moment1,
// NAME.moment2 and so on: the weights and their moments are neighbours in a list of names, and a file of the
// parameters alone has the names of the model's file. Readers use `role` and `of`, never the name.
struct SavedState {
    std::string name;
    std::string role;  // parameter, statistic, moment, counter, scale, accumulator, average
    std::string of;    // the parameter to which a moment, accumulator or average belongs; else empty
    graph::Tensor tensor;

    [[nodiscard]] bool operator==(const SavedState& other) const {
        return name == other.name && role == other.role && of == other.of && tensor.same_bytes(other.tensor);
    }
};

// A Position says how far a run is.
struct Position {
    std::int64_t step = 0;    // finished steps
    std::int64_t epoch = 0;   // finished epochs
    std::int64_t sample = 0;  // samples of the epoch under way that were used
    std::uint64_t seed = 0;   // with the epoch it gives the order of the samples

    bool operator==(const Position&) const = default;
};

using Options = std::map<std::string, std::string>;  // "--batch" and "32"

struct Checkpoint {
    std::vector<SavedState> states;
    Position position;
    std::string model;                      // the hash of the forward model
    Options options;                        // those that must be the same when the run goes on
    std::vector<ColumnPrint> data;          // the samples, which must be the same too
    std::map<std::string, double> numbers;  // others that go on, such as the average of the loss
    std::optional<double> score;            // the evaluation's metric, by which the best one is kept

    [[nodiscard]] bool operator==(const Checkpoint&) const = default;
};

// Writes `checkpoint` to `path` in one step: as write_safetensors, with checksums of every tensor and of the
// rest. Errors: those of write_safetensors.
[[nodiscard]] Result<void> write_checkpoint(const Path& path, const Checkpoint& checkpoint);

// Reads a checkpoint and compares every checksum. Errors: those of SafetensorsFile; malformed (a file that
// is no checkpoint, or whose content does not match its checksums).
[[nodiscard]] Result<Checkpoint> read_checkpoint(const Path& path);
// Reads all but the tensors: `states` is empty.
[[nodiscard]] Result<Checkpoint> read_checkpoint_head(const Path& path);

// Checks that a run of `model` with `options` may go on from `saved`, which was read from `file`. Errors:
// mismatch; the sentence names each thing that differs.
[[nodiscard]] Result<void> check_resumable(const Checkpoint& saved, const Path& file, std::string_view model,
                                           const Options& options);

}  // namespace viridian::train
