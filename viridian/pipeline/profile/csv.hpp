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

    // Returns the index of the column called `wanted`. Errors: missing_entry.
    [[nodiscard]] Result<std::size_t> column(std::string_view wanted) const;
    [[nodiscard]] bool has(std::string_view wanted) const;
    // Returns a cell as a finite number. Errors: malformed, with file and line.
    [[nodiscard]] Result<double> number(const CsvRow& row, std::size_t column) const;
    // Returns a cell as a whole number from 0 to `most`. Errors: malformed, with file and line.
    [[nodiscard]] Result<int> whole(const CsvRow& row, std::size_t column, int most) const;
};

// Splits `text` into header and rows, which are views into it. `name` stands for the file in errors. Errors:
// malformed if there is no header or a row has another number of cells.
[[nodiscard]] Result<Csv> parse_csv(std::string_view text, std::string_view name);

// Returns `text` without spaces around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
// Return the whole of `text` as a finite number, or as a whole number; nothing if it is none.
[[nodiscard]] std::optional<double> number_of(std::string_view text);
[[nodiscard]] std::optional<std::int64_t> whole_of(std::string_view text);

}  // namespace viridian::pipeline
