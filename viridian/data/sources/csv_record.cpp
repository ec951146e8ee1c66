#include "viridian/data/sources/csv_record.hpp"

#include <algorithm>

namespace viridian::data {
namespace {

constexpr std::size_t csv_piece = std::size_t{1} << 20, csv_longest = std::size_t{1} << 24;

}  // namespace

std::string CsvField::plain() const {
    std::string plain(text);
    if (quoted)
        for (std::size_t at = 0; (at = plain.find("\"\"", at)) != std::string::npos; ++at) plain.erase(at, 1);
    return plain;
}

bool split_record(std::string_view record, char delimiter, std::vector<CsvField>& fields) {
    fields.clear();
    for (std::size_t at = 0;;) {
        if (at < record.size() && record[at] == '"') {
            std::size_t end = at + 1;
            while (end < record.size() &&
                   !(record[end] == '"' && (end + 1 == record.size() || record[end + 1] != '"')))
                end += record[end] == '"' ? 2 : 1;
            fields.push_back({record.substr(at + 1, std::min(end, record.size()) - at - 1), true});
            if (end >= record.size()) return false;
            at = end + 1;
            if (at < record.size() && record[at] != delimiter) return false;
        } else {
            const std::size_t end = std::min(record.find(delimiter, at), record.size());
            fields.push_back({record.substr(at, end - at), false});
            at = end;
        }
        if (at >= record.size()) return true;
        ++at;
    }
}

// Finds the end of the record that begins at `at_` within the piece. False: the piece ends before.
bool CsvRecords::find_end(std::size_t& end) const {
    bool quoted = false, field_begins = true;
    for (end = at_; end < piece_.size(); ++end) {
        const char c = piece_[end];
        if (quoted) {
            quoted = c != '"';  // of a doubled quote, the second one opens the field again
            field_begins = !quoted;
        } else if (c == '\n') {
            return true;
        } else {
            quoted = c == '"' && field_begins;
            field_begins = c == delimiter_;
        }
    }
    return false;
}

Result<bool> CsvRecords::next() {
    for (;;) {
        std::size_t end = 0;
        for (;;) {
            const bool whole = find_end(end);
            const std::uint64_t known = piece_start_ + piece_.size();
            if (whole || known >= file_.size()) break;
            if (piece_.size() - at_ > csv_longest)
                return fail(ErrorCode::limit_exceeded, "check that its quotes are closed",
                            "line {} of `{}` is longer than 16 MiB", next_line_, file_.name());
            piece_.erase(0, at_);
            piece_start_ += at_;
            at_ = 0;
            VIRIDIAN_TRY(const std::string more, file_.text(known, std::max(csv_piece, piece_.size())));
            piece_ += more;
        }
        if (at_ >= piece_.size()) return false;
        record_ = std::string_view(piece_).substr(at_, end - at_);
        offset_ = piece_start_ + at_;
        line_ = next_line_;
        next_line_ += std::ranges::count(record_, '\n') + 1;
        at_ = std::min(end + 1, piece_.size());
        if (record_.ends_with('\r')) record_.remove_suffix(1);
        if (!record_.empty()) return true;
    }
}

}  // namespace viridian::data
