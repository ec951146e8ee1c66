#pragma once
// Parses CSV tables of numbers: a header with names, then rows. Lines that start with `#` are comments;
// quoting is not supported.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "viridian/base/result.hpp"

namespace viridian::pipeline {

struct CsvRow {
    int line = 0;  // in the file, from 1
    std::vector<std::string_view> cells;
};

struct Csv {
    std::string name;
    std::vector<std::string_view> header;
    std::vector<CsvRow> rows;

    // Column of a name. Errors: missing_entry.
    [[nodiscard]] Result<std::size_t> column(std::string_view wanted) const;
    [[nodiscard]] bool has(std::string_view wanted) const;
    // A cell as a finite number. Errors: malformed, with file and line.
    [[nodiscard]] Result<double> number(const CsvRow& row, std::size_t column) const;
    // A cell as a whole number in [0, most].
    [[nodiscard]] Result<int> whole(const CsvRow& row, std::size_t column, int most) const;
};

// Views into `text`. Errors: malformed when a row has another number of cells than the header.
[[nodiscard]] Result<Csv> parse_csv(std::string_view text, std::string_view name);

[[nodiscard]] std::string_view trimmed(std::string_view text);
// The whole of `text` as a finite number.
[[nodiscard]] std::optional<double> number_of(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> whole_of(std::string_view text);

}  // namespace viridian::pipeline
