#pragma once
// Cuts CSV text into records (lines, if no quoted field holds a line break) and records into fields.
#include <string_view>
#include <vector>

#include "viridian/data/sources/byte_source.hpp"

namespace viridian::data {

// A CsvField is the text of one field. If it is quoted, `text` is what stands between the quotes, with quotes
// inside still doubled.
struct CsvField {
    std::string_view text;
    bool quoted = false;
    [[nodiscard]] std::string plain() const;  // with single quotes inside
};

// Replaces `fields` by those of the record. Returns false if characters follow a closing quote or a quote is
// not closed; the last of `fields` is then the faulty one.
[[nodiscard]] bool split_record(std::string_view record, char delimiter, std::vector<CsvField>& fields);

// A CsvRecords walks through the records of a file, of which it holds a piece at a time.
class CsvRecords {
  public:
    CsvRecords(const ByteSource& file, char delimiter) : file_(file), delimiter_(delimiter) {}
    // Moves to the next record, or returns false at the end of the file. Blank lines are passed over. Errors:
    // limit_exceeded (a record of more than 16 MiB), malformed, file_unreadable.
    [[nodiscard]] Result<bool> next();
    [[nodiscard]] std::string_view record() const { return record_; }  // without its line end
    [[nodiscard]] std::uint64_t offset() const { return offset_; }     // of the record in the file
    [[nodiscard]] std::int64_t line() const { return line_; }          // of the record's first line, from 1
    void set_delimiter(char delimiter) { delimiter_ = delimiter; }

  private:
    [[nodiscard]] bool find_end(std::size_t& end) const;

    const ByteSource& file_;
    char delimiter_;
    std::string piece_;  // bytes of the file from `piece_start_` on
    std::uint64_t piece_start_ = 0;
    std::size_t at_ = 0;  // in the piece: where the next record begins
    std::string_view record_;
    std::uint64_t offset_ = 0;
    std::int64_t line_ = 0, next_line_ = 1;
};

}  // namespace viridian::data
