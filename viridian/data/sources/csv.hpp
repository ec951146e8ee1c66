#pragma once
// Opens a CSV file (RFC 4180): a first line of column names, then one sample a line. Fields may be quoted,
// and a quoted field may hold delimiters, line breaks and doubled quotes. The whole file is checked once when
// it is opened. What stays in memory is where each line begins (8 bytes a sample) and the names of the
// classes.
#include <map>
#include <optional>

#include "viridian/data/dataset.hpp"
#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data {

struct CsvOptions {
    // The column of labels. The other columns then form one column "features" of f32 numbers; without a label
    // each column of the file is one of the dataset.
    std::string label = {};
    // The columns that form "features", in this order; all except the label if it is empty.
    std::vector<std::string> features = {};
    char delimiter = 0;  // 0: the most frequent of , ; and tab in the first line
    bool header = true;  // false: the first line is a sample, and columns are named 0, 1, ...
    // The names of the classes of columns whose values are words, by column: those of the training file, when
    // another file is opened for evaluation. A column without an entry has the words of this file, sorted.
    std::map<std::string, std::vector<std::string>> categories = {};
};

// Whole numbers become i64, others f32. If the first label is a word, all labels are words, and the column
// holds their positions among the sorted words. Errors: malformed, with line and column; missing_entry (no
// such column); limit_exceeded (more than 65,536 different words, a line of more than 16 MiB).
[[nodiscard]] Result<Dataset> open_csv(const ByteSource& file, const CsvOptions& options);

}  // namespace viridian::data
