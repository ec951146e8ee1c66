#pragma once
// A CheckpointFolder holds the checkpoints of one run: one file each, `step-000000000120.safetensors`. The
// last ones are kept, and the best one. Whatever happens to the process, every file under such a name is
// complete.
#include "viridian/train/checkpoint/checkpoint.hpp"

namespace viridian::train {

// A Keep says which checkpoints stay when a new one is written.
struct Keep {
    int last = 3;                 // at least 1
    bool best = true;             // also the one with the best score, if any has a score
    bool lower_is_better = true;  // true for a loss, false for an accuracy
};

class CheckpointFolder {
  public:
    // Makes the folder if there is none, and removes files that an earlier run did not finish. Only one
    // process at a time can have a folder open. Errors: invalid_argument (`last` below 1), file_not_writable
    // (another process has it open, or the folder cannot be made).
    [[nodiscard]] static Result<CheckpointFolder> open(const Path& folder, Keep keep);

    // Writes `checkpoint`, then removes those that need not be kept, and returns the path of the new one.
    // Until then the folder needs room for one more. Errors: those of write_checkpoint; the older ones are
    // then unchanged, and the error names the newest.
    [[nodiscard]] Result<Path> save(const Checkpoint& checkpoint);

  private:
    CheckpointFolder(Path folder, Keep keep, std::shared_ptr<const int> lock)
        : folder_(std::move(folder)), keep_(keep), lock_(std::move(lock)) {}
    void remove_old(const Path& newest) const;

    Path folder_;
    Keep keep_;
    std::shared_ptr<const int> lock_;
};

// Returns the path of the checkpoint that is written after `step` steps.
[[nodiscard]] Path checkpoint_path(const Path& folder, std::int64_t step);
// Returns the files of checkpoints in `folder`, the newest first. There are none if there is no folder.
[[nodiscard]] std::vector<Path> checkpoints_in(const Path& folder);

struct FoundCheckpoint {
    Path path;
    Checkpoint checkpoint;
    std::vector<std::string> notes;  // a sentence for every newer file that is damaged
};
// Reads the newest checkpoint that is not damaged. Errors: file_not_found (no checkpoint), malformed (all
// are damaged; the error is that of the newest).
[[nodiscard]] Result<FoundCheckpoint> newest_checkpoint(const Path& folder);
// Returns the file with the best score, the earliest of equally good ones, or nothing if none has a score.
[[nodiscard]] std::optional<Path> best_checkpoint(const Path& folder, bool lower_is_better);

}  // namespace viridian::train
