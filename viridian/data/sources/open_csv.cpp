#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "viridian/data/sources/csv.hpp"
#include "viridian/data/sources/csv_record.hpp"

namespace viridian::data {
namespace {

using graph::ElementType;

std::string_view csv_trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

template <class Number>
bool csv_number(std::string_view text, Number& number) {
    text = csv_trim(text);
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    return fault == std::errc() && end == text.data() + text.size();
}

// A finite number that f32 can hold.
bool csv_float(std::string_view text, float& number) {
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (!text.empty() && text.size() < 8 && std::ranges::all_of(text, digit)) {  // the usual case of pixels
        int whole = 0;
        for (const char c : text) whole = 10 * whole + (c - '0');
        number = static_cast<float>(whole);
        return true;
    }
    double wide = 0;
    if (!csv_number(text, wide) || !(std::abs(wide) <= std::numeric_limits<float>::max())) return false;
    number = static_cast<float>(wide);
    return true;
}

enum class CsvKind { integers, numbers, words };

// One column of the file that the dataset uses.
struct CsvUse {
    std::string name;
    std::size_t position = 0;
    CsvKind kind = CsvKind::integers;
    std::unordered_map<std::string, std::int64_t> words;  // the classes
};

// What reading a line needs, shared by the columns.
struct CsvTable {
    ByteSource file;
    char delimiter = ',';
    std::size_t width = 0;              // columns in the file
    std::vector<std::uint64_t> begins;  // where each sample's line begins, and the end of the file
};

Result<void> read_csv_line(const CsvTable& table, std::int64_t sample, std::string& line,
                           std::vector<CsvField>& fields) {
    const auto index = static_cast<std::size_t>(sample);
    const std::uint64_t begin = table.begins[index];
    line.resize(table.begins[index + 1] - begin);
    VIRIDIAN_TRY(table.file.read(begin, std::as_writable_bytes(std::span(line))));
    while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
    if (split_record(line, table.delimiter, fields) && fields.size() == table.width) return {};
    return fail(ErrorCode::malformed, "leave the file unchanged during training",
                "sample {} of `{}` has changed since the file was opened", sample, table.file.name());
}

bool read_csv_value(const CsvUse& use, const CsvField& field, std::byte* out) {
    if (use.kind == CsvKind::numbers) {
        float number = 0;
        if (!csv_float(field.text, number)) return false;
        std::memcpy(out, &number, sizeof number);
        return true;
    }
    std::int64_t number = 0;
    if (use.kind == CsvKind::integers) {
        if (!csv_number(field.text, number)) return false;
    } else {
        const auto found = use.words.find(std::string(csv_trim(field.plain())));
        if (found == use.words.end()) return false;
        number = found->second;
    }
    std::memcpy(out, &number, sizeof number);
    return true;
}

Field csv_field(std::shared_ptr<const CsvTable> table, Column column, std::vector<CsvUse> uses) {
    const auto size = static_cast<std::size_t>(graph::size_of(column.type));
    auto read = [table = std::move(table), uses = std::move(uses), size](
                    SampleList samples, std::span<std::byte> out) -> Result<void> {
        std::string line;
        std::vector<CsvField> fields;
        std::byte* at = out.data();
        for (const std::int64_t sample : samples) {
            VIRIDIAN_TRY(read_csv_line(*table, sample, line, fields));
            for (const CsvUse& use : uses) {
                if (!read_csv_value(use, fields[use.position], at))
                    return fail(ErrorCode::malformed, "leave the file unchanged during training",
                                "sample {} of `{}` has changed since the file was opened", sample,
                                table->file.name());
                at += size;
            }
        }
        return {};
    };
    return {std::move(column), std::move(read), {}};
}

class CsvOpener {
  public:
    CsvOpener(const ByteSource& file, const CsvOptions& options)
        : file_(file), options_(options), records_(file, ',') {}

    Result<Dataset> open() {
        VIRIDIAN_TRY(read_header());
        VIRIDIAN_TRY(choose_columns());
        VIRIDIAN_TRY(scan());
        return dataset();
    }

  private:
    Error at(const CsvUse& use, std::string next_step, std::string_view what) const {
        return fail(ErrorCode::malformed, std::move(next_step), "line {} of `{}`, column `{}` ({}): {}",
                    records_.line(), file_.name(), use.name, use.position + 1, what);
    }

    Result<void> read_header() {
        table_->file = file_;
        VIRIDIAN_TRY(const std::string beginning, file_.text(0, 1 << 16));
        const std::string_view first = std::string_view(beginning).substr(0, beginning.find('\n'));
        table_->delimiter = options_.delimiter;
        if (options_.delimiter == 0)
            table_->delimiter = *std::ranges::max_element(std::string_view(",;\t"), {}, [&](char delimiter) {
                return std::ranges::count(first, delimiter);
            });
        records_.set_delimiter(table_->delimiter);
        VIRIDIAN_TRY(const bool any, records_.next());
        if (!any)
            return fail(ErrorCode::malformed, "write a first line of column names, then the samples",
                        "`{}` holds no lines", file_.name());
        std::string_view record = records_.record();
        if (records_.offset() == 0 && record.starts_with("\xef\xbb\xbf")) record.remove_prefix(3);
        if (!split_record(record, table_->delimiter, fields_)) return unclosed();
        for (const CsvField& field : fields_)
            names_.emplace_back(options_.header ? csv_trim(field.plain()) : std::to_string(names_.size()));
        table_->width = names_.size();
        for (std::size_t i = 0; options_.header && i < names_.size(); ++i)
            for (std::size_t j = 0; j < i && names_.size() < 4096; ++j)
                if (names_[i] == names_[j])
                    return fail(ErrorCode::malformed, "give each column a name of its own",
                                "the columns {} and {} of `{}` have the same name `{}`", j + 1, i + 1,
                                file_.name(), names_[i]);
        return {};
    }

    Error unclosed() const {
        return fail(ErrorCode::malformed, "close the quote, and double quotes inside a quoted field",
                    "line {} of `{}`, field {}: the quotes of the field are not those of CSV",
                    records_.line(), file_.name(), fields_.size());
    }

    Result<std::size_t> position_of(const std::string& name) const {
        for (std::size_t i = 0; i < names_.size(); ++i)
            if (names_[i] == name) return i;
        return fail(ErrorCode::missing_entry, fmt::format("name one of its columns: {}", column_list(names_)),
                    "`{}` has no column `{}`", file_.name(), name);
    }

    Result<void> choose_columns() {
        std::size_t label = names_.size();
        if (!options_.label.empty()) {
            VIRIDIAN_TRY(label, position_of(options_.label));
        }
        for (const std::string& name : options_.features) {
            VIRIDIAN_TRY(const std::size_t position, position_of(name));
            features_.push_back({name, position, CsvKind::numbers, {}});
        }
        const bool grouped = !options_.label.empty() || !options_.features.empty();
        for (std::size_t i = 0; i < names_.size(); ++i) {
            if (i == label || (!grouped)) singles_.push_back({names_[i], i, CsvKind::integers, {}});
            if (i != label && grouped && options_.features.empty())
                features_.push_back({names_[i], i, CsvKind::numbers, {}});
        }
        return {};
    }

    Result<void> scan() {
        VIRIDIAN_TRY(bool more, options_.header ? records_.next() : Result<bool>(true));
        while (more) {
            if (!split_record(records_.record(), table_->delimiter, fields_)) return unclosed();
            if (fields_.size() != table_->width)
                return fail(ErrorCode::malformed, "complete the line, and quote fields that hold a delimiter",
                            "line {} of `{}` has {} fields, and the first line has {}", records_.line(),
                            file_.name(), fields_.size(), table_->width);
            for (const CsvUse& use : features_) VIRIDIAN_TRY(check_number(use));
            for (CsvUse& use : singles_) VIRIDIAN_TRY(check_single(use));
            table_->begins.push_back(records_.offset());
            VIRIDIAN_TRY(more, records_.next());
        }
        if (table_->begins.empty())
            return fail(ErrorCode::malformed, "add one line for each sample",
                        "`{}` has column names and no samples", file_.name());
        table_->begins.push_back(file_.size());
        return {};
    }

    Result<void> check_number(const CsvUse& use) const {
        const std::string_view text = fields_[use.position].text;
        float number = 0;
        if (csv_float(text, number)) return {};
        if (csv_trim(text).empty()) return at(use, "fill it in, or remove the line", "the field is empty");
        return at(use, "correct it, or remove the column from the file",
                  fmt::format("`{}` is not a finite number", text.substr(0, 80)));
    }

    Result<void> check_single(CsvUse& use) {
        const CsvField& field = fields_[use.position];
        if (csv_trim(field.text).empty())
            return at(use, "fill it in, or remove the line", "the field is empty");
        float number = 0;
        const bool is_number = csv_float(field.text, number);
        const auto given = options_.categories.find(use.name);
        const bool words_given = given != options_.categories.end() && !given->second.empty();
        if (table_->begins.empty() && (words_given || !is_number)) use.kind = CsvKind::words;
        if (use.kind == CsvKind::words)
            return add_word(use, std::string(csv_trim(field.plain())),
                            words_given ? &given->second : nullptr);
        std::int64_t whole = 0;
        if (!is_number)
            return at(use, "correct it",
                      fmt::format("`{}` is not a finite number, and the lines before have numbers",
                                  field.text.substr(0, 80)));
        if (!csv_number(field.text, whole)) use.kind = CsvKind::numbers;
        return {};
    }

    // `given`: the words that there may be; null: any.
    Result<void> add_word(CsvUse& use, std::string word, const std::vector<std::string>* given) {
        constexpr std::size_t most = 65536;
        if (given != nullptr) {
            if (use.words.empty())
                for (const std::string& known : *given)
                    use.words.emplace(known, static_cast<std::int64_t>(use.words.size()));
            if (!use.words.contains(word))
                return at(use, "correct it, or add such samples to the training data",
                          fmt::format("the training data has no class `{}`", word.substr(0, 80)));
            return {};
        }
        use.words.emplace(std::move(word), 0);
        if (use.words.size() > most)
            return fail(ErrorCode::limit_exceeded, "leave the column out, or replace its words by numbers",
                        "the column `{}` of `{}` has more than {} different words", use.name, file_.name(),
                        most);
        return {};
    }

    Result<Dataset> dataset() {
        std::vector<Field> fields;
        if (!features_.empty()) {
            Column column{"features", ElementType::f32, {static_cast<std::int64_t>(features_.size())}};
            fields.push_back(csv_field(table_, std::move(column), std::move(features_)));
        }
        for (CsvUse& use : singles_) {
            Column column{use.name, use.kind == CsvKind::numbers ? ElementType::f32 : ElementType::i64, {}};
            if (use.kind == CsvKind::words) {
                if (const auto given = options_.categories.find(use.name); given != options_.categories.end())
                    column.categories = given->second;
                if (column.categories.empty()) {
                    for (const auto& [word, number] : use.words) column.categories.push_back(word);
                    std::ranges::sort(column.categories);
                    std::int64_t next = 0;
                    for (const std::string& word : column.categories) use.words[word] = next++;
                }
                column.classes = static_cast<std::int64_t>(column.categories.size());
            }
            fields.push_back(csv_field(table_, std::move(column), {std::move(use)}));
        }
        const auto samples = static_cast<std::int64_t>(table_->begins.size()) - 1;
        return Dataset(file_.name(), samples, std::move(fields));
    }

    const ByteSource& file_;
    const CsvOptions& options_;
    CsvRecords records_;
    std::shared_ptr<CsvTable> table_ = std::make_shared<CsvTable>();
    std::vector<std::string> names_;
    std::vector<CsvUse> features_, singles_;
    std::vector<CsvField> fields_;
};

}  // namespace

Result<Dataset> open_csv(const ByteSource& file, const CsvOptions& options) {
    return CsvOpener(file, options).open();
}

}  // namespace viridian::data
