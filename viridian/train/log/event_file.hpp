#pragma once
// Writes scalars to the event files that TensorBoard shows. A file is a row of records; a record is its
// length (8 bytes), the masked CRC-32C of the length (4), the data and the masked CRC-32C of the data (4)
// (tensorflow/core/lib/io/record_writer.h). The data of a record is an Event in protocol-buffer encoding
// (tensorflow/core/util/event.proto and framework/summary.proto).
#include <memory>
#include <span>

#include "viridian/base/file.hpp"
#include "viridian/train/log/step_record.hpp"

namespace viridian::train {

struct Scalar {
    std::string tag;  // "loss/train"
    double value = 0;
};

// Returns the record with which every file begins. `wall` is the Unix time.
[[nodiscard]] std::string version_event(Seconds wall);
// Returns the record that holds the scalars of one step.
[[nodiscard]] std::string scalar_event(Seconds wall, std::int64_t step, std::span<const Scalar> scalars);
// Returns the scalars of a step: loss/train, rate, samples_per_second, and what else is known, with joules
// and watts under tags that end in their provenance: energy/joules_per_step/estimated.
[[nodiscard]] std::vector<Scalar> scalars_of(const StepRecord& record);
// Returns those of an evaluation: loss/evaluation, which TensorBoard shows beside loss/train, and
// metric/NAME.
[[nodiscard]] std::vector<Scalar> scalars_of(const EvaluationRecord& record);

class EventFile {
  public:
    // Makes a new file in `folder`, which is made if there is none, with the name that TensorBoard looks for:
    // events.out.tfevents.TIME.HOST.PID. `wall` is the Unix time. Errors: file_not_writable, disk_full.
    [[nodiscard]] static Result<EventFile> create(const Path& folder, Seconds wall);
    // Appends one record; TensorBoard sees it at once. Errors: file_not_writable, disk_full.
    [[nodiscard]] Result<void> add(Seconds wall, std::int64_t step, std::span<const Scalar> scalars);
    [[nodiscard]] const Path& path() const { return path_; }

  private:
    EventFile(Path path, std::shared_ptr<const int> file) : path_(std::move(path)), file_(std::move(file)) {}

    Path path_;
    std::shared_ptr<const int> file_;
};

}  // namespace viridian::train
