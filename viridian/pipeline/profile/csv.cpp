#include "viridian/pipeline/profile/csv.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

namespace viridian::pipeline {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    while (true) {
        const std::size_t comma = line.find(',');
        cells.push_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

}  // namespace

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::optional<double> number_of(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
        return std::nullopt;
    return number;
}

std::optional<std::int64_t> whole_of(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

bool Csv::has(std::string_view wanted) const { return std::ranges::find(header, wanted) != header.end(); }

Result<std::size_t> Csv::column(std::string_view wanted) const {
    const auto found = std::ranges::find(header, wanted);
    if (found == header.end())
        return fail(ErrorCode::missing_entry, "the first line names the columns", "`{}` has no column `{}`",
                    name, wanted);
    return static_cast<std::size_t>(found - header.begin());
}

Result<double> Csv::number(const CsvRow& row, std::size_t column) const {
    if (const auto value = number_of(row.cells[column])) return *value;
    return fail(ErrorCode::malformed, "give a plain decimal number",
                "`{}`, line {}: `{}` is not a number for {}", name, row.line, row.cells[column].substr(0, 40),
                header[column]);
}

Result<int> Csv::whole(const CsvRow& row, std::size_t column, int most) const {
    const auto value = whole_of(row.cells[column]);
    if (value && *value >= 0 && *value <= most) return static_cast<int>(*value);
    return fail(ErrorCode::malformed, fmt::format("give a whole number from 0 to {}", most),
                "`{}`, line {}: `{}` is not a usable {}", name, row.line, row.cells[column].substr(0, 40),
                header[column]);
}

Result<Csv> parse_csv(std::string_view text, std::string_view name) {
    Csv csv;
    csv.name = name;
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = trimmed(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (line.empty() || line.starts_with('#')) continue;
        std::vector<std::string_view> cells = cells_of(line);
        if (csv.header.empty()) {
            csv.header = std::move(cells);
            continue;
        }
        if (cells.size() != csv.header.size())
            return fail(ErrorCode::malformed, "give every row as many cells as the header",
                        "`{}`, line {}: {} cells, but the header has {}", name, number, cells.size(),
                        csv.header.size());
        csv.rows.push_back({number, std::move(cells)});
    }
    if (csv.header.empty())
        return fail(ErrorCode::malformed, "the first line names the columns", "`{}` is empty", name);
    return csv;
}

}  // namespace viridian::pipeline
