#include "viridian/train/log/line_log.hpp"

#include "viridian/base/json.hpp"
#include "viridian/train/log/append_file.hpp"

namespace viridian::train {
namespace {

constexpr std::string_view step_schema = "viridian.train-step/1";
constexpr std::string_view evaluation_schema = "viridian.train-evaluation/1";

// Returns the step of a line, or nothing if it is not one of ours.
std::optional<std::int64_t> step_of(std::string_view line) {
    const auto json = parse_json(line, "log");
    if (!json.ok() || !json->is_object()) return std::nullopt;
    const Json schema = json->value("schema", Json());
    if (schema != step_schema && schema != evaluation_schema) return std::nullopt;
    const auto step = json->find("step");
    if (step == json->end() || !step->is_number_unsigned()) return std::nullopt;
    const auto number = step->get<std::uint64_t>();
    if (!std::in_range<std::int64_t>(number)) return std::nullopt;
    return static_cast<std::int64_t>(number);
}

}  // namespace

Json to_json(const StepRecord& record) {
    Json json = {{"schema", step_schema},    {"step", record.step}, {"epoch", record.epoch},
                 {"loss", record.loss},      {"rate", record.rate}, {"seconds", record.seconds.value},
                 {"samples", record.samples}};
    if (record.average_loss) json["average_loss"] = *record.average_loss;
    if (record.gradient_norm) json["gradient_norm"] = *record.gradient_norm;
    if (record.energy) json["joules"] = to_json(*record.energy);
    if (const auto power = record.power())
        json["watts"] = {{"value", power->value}, {"provenance", record.energy->provenance.text()}};
    return json;
}

Json to_json(const EvaluationRecord& record) {
    return {{"schema", evaluation_schema},     {"step", record.step},
            {"epoch", record.epoch},           {"loss", record.loss},
            {"metrics", Json(record.metrics)}, {"seconds", record.seconds.value},
            {"samples", record.samples}};
}

std::string_view lines_until(std::string_view log, std::int64_t step) {
    std::size_t end = 0;
    while (end < log.size()) {
        const auto line_end = log.find('\n', end);
        if (line_end == std::string_view::npos) break;
        const auto found = step_of(log.substr(end, line_end - end));
        if (!found || *found > step) break;
        end = line_end + 1;
    }
    return log.substr(0, end);
}

Result<LineLog> LineLog::open(const Path& path, std::optional<std::int64_t> resumed_at) {
    std::string kept;
    std::error_code unknown;
    if (resumed_at && std::filesystem::exists(path, unknown)) {
        VIRIDIAN_TRY(const std::string log, read_file(path));
        kept = lines_until(log, *resumed_at);
    }
    VIRIDIAN_TRY(write_file(path, kept));
    VIRIDIAN_TRY(auto file, open_to_append(path));
    return LineLog(path, std::move(file));
}

Result<void> LineLog::add(const StepRecord& record) {
    return append(*file_, path_, json_dump(to_json(record), -1) + '\n');
}

Result<void> LineLog::add(const EvaluationRecord& record) {
    return append(*file_, path_, json_dump(to_json(record), -1) + '\n');
}

}  // namespace viridian::train
