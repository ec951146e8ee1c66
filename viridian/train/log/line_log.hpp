#pragma once
// Writes the log of a training run as JSON lines: one object for each step and for each evaluation, with a
// schema field (https://jsonlines.org).
#include <memory>

#include "viridian/base/file.hpp"
#include "viridian/base/json_fwd.hpp"
#include "viridian/train/log/step_record.hpp"

namespace viridian::train {

// These return the object of one line. Numbers that are not finite are null, because JSON has no other.
[[nodiscard]] Json to_json(const StepRecord& record);
[[nodiscard]] Json to_json(const EvaluationRecord& record);

// Returns the lines of `log` up to `step`: those that a resumed run does not write again. A line that is not
// an object of these schemas, such as the half line of a process that was killed, ends the log.
[[nodiscard]] std::string_view lines_until(std::string_view log, std::int64_t step);

class LineLog {
  public:
    // Makes `path` anew, or keeps its lines up to `resumed_at` and appends. Errors: file_not_writable,
    // disk_full, those of read_file.
    [[nodiscard]] static Result<LineLog> open(const Path& path, std::optional<std::int64_t> resumed_at);
    // These append one line; others see it at once. Errors: file_not_writable, disk_full.
    [[nodiscard]] Result<void> add(const StepRecord& record);
    [[nodiscard]] Result<void> add(const EvaluationRecord& record);

  private:
    LineLog(Path path, std::shared_ptr<const int> file) : path_(std::move(path)), file_(std::move(file)) {}

    Path path_;
    std::shared_ptr<const int> file_;
};

}  // namespace viridian::train
