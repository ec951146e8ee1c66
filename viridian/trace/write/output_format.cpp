#include "viridian/trace/write/output_format.hpp"

#include <array>

#include "viridian/trace/write/write.hpp"

namespace viridian::trace {
namespace {

struct OutputRow {
    OutputFormat format;
    std::string_view name, ending;
};
// A longer ending stands before the one that it ends in.
constexpr std::array output_rows = {OutputRow{OutputFormat::binary, "binary", ".vtrace"},
                                    OutputRow{OutputFormat::speedscope, "speedscope", ".speedscope.json"},
                                    OutputRow{OutputFormat::json, "json", ".json"},
                                    OutputRow{OutputFormat::csv, "csv", ".csv"},
                                    OutputRow{OutputFormat::folded, "folded", ".folded"},
                                    OutputRow{OutputFormat::pprof, "pprof", ".pb"}};

std::string known_rows(std::string_view OutputRow::* field) {
    std::string all;
    for (const OutputRow& row : output_rows) all += fmt::format("{}{}", all.empty() ? "" : ", ", row.*field);
    return all;
}

Result<void> write_weights(Source& source, Out& out, OutputFormat format) {
    VIRIDIAN_TRY(const Weights weights, self_times(source));
    if (format == OutputFormat::folded) return write_folded(out, source.about(), weights);
    if (format == OutputFormat::speedscope) return write_speedscope(out, source.about(), {weights});
    return write_pprof(out, source.about(), {weights});
}

}  // namespace

std::vector<std::string> output_format_names() {
    std::vector<std::string> names;
    for (const OutputRow& row : output_rows) names.emplace_back(row.name);
    return names;
}

Result<OutputFormat> format_called(std::string_view name) {
    for (const OutputRow& row : output_rows)
        if (row.name == name) return row.format;
    return fail(ErrorCode::invalid_argument, "choose one of: " + known_rows(&OutputRow::name),
                "there is no trace format `{}` to write", name);
}

Result<OutputFormat> format_of_name(const Path& file) {
    const std::string whole = file.filename().string();
    std::string_view name = whole;
    for (const std::string_view packed : {".gz", ".zst"})
        if (name.ends_with(packed)) name.remove_suffix(packed.size());
    for (const OutputRow& row : output_rows)
        if (name.ends_with(row.ending)) return row.format;
    return fail(
        ErrorCode::invalid_argument,
        fmt::format("end the name in {}, and in .gz or .zst to compress it", known_rows(&OutputRow::ending)),
        "the name `{}` does not say which trace format to write", file.string());
}

Result<void> write_as(Source& source, const Path& file, OutputFormat format, Packing packing) {
    VIRIDIAN_TRY(std::unique_ptr<Out> out, open_out(file));
    switch (format) {
        case OutputFormat::binary:
            return copy(source, *binary_sink(std::move(out), packing));
        case OutputFormat::json:
            return copy(source, *json_sink(std::move(out)));
        case OutputFormat::csv:
            return copy(source, *csv_sink(std::move(out)));
        case OutputFormat::folded:
        case OutputFormat::speedscope:
        case OutputFormat::pprof:
            break;
    }
    return write_weights(source, *out, format);
}

}  // namespace viridian::trace
