#include <algorithm>
#include <array>
#include <cstring>

#include "viridian/data/sources/text.hpp"
#include "viridian/data/sources/utf8.hpp"

namespace viridian::data {
namespace {

constexpr std::int64_t characters_per_mark = 1024;

// Where the tokens of a text are, and which numbers they have.
struct TokenTable {
    ByteSource file;
    bool bytes = false;
    std::int64_t tokens = 0;
    std::vector<std::uint64_t> marks;  // where character 1024 i begins; the last is the end of the file
    std::array<std::int64_t, 128> ascii{};
    std::vector<std::pair<char32_t, std::int64_t>> others;  // sorted
    std::vector<std::string> vocabulary;

    [[nodiscard]] std::int64_t number_of(char32_t code) const {  // -1: not in the vocabulary
        if (code < ascii.size()) return ascii[code];
        const auto found =
            std::ranges::lower_bound(others, code, {}, &std::pair<char32_t, std::int64_t>::first);
        return found != others.end() && found->first == code ? found->second : -1;
    }
};

// Calls `visit` with every character of the file in turn, until it returns an error.
template <class Visit>
Result<void> each_character(const ByteSource& file, Visit visit) {
    constexpr std::size_t piece = std::size_t{1} << 18;
    std::int64_t line = 1;
    for (std::uint64_t at = 0; at < file.size();) {
        VIRIDIAN_TRY(const std::string bytes, file.text(at, piece));
        std::string_view rest(bytes);
        const bool last = at + bytes.size() == file.size();
        while (!rest.empty() && (last || rest.size() >= 4)) {
            const Utf8Character character = first_character(rest);
            if (character.size == 0)
                return fail(ErrorCode::malformed, "convert it to UTF-8, or read it as bytes",
                            "`{}` is not UTF-8 text: line {} has a byte {:#04x} that begins no character",
                            file.name(), line, static_cast<unsigned char>(rest.front()));
            VIRIDIAN_TRY(visit(character.code, at + (bytes.size() - rest.size()), line));
            if (character.code == '\n') ++line;
            rest.remove_prefix(character.size);
        }
        at += bytes.size() - rest.size();
    }
    return {};
}

Result<void> set_vocabulary(TokenTable& table, const std::vector<std::string>& vocabulary) {
    table.ascii.fill(-1);
    for (const std::string& text : vocabulary) {
        const Utf8Character character = first_character(text);
        const auto number = static_cast<std::int64_t>(table.vocabulary.size());
        if (character.size == 0 || character.size != text.size())
            return fail(ErrorCode::malformed, "give the vocabulary of a model that was trained on characters",
                        "entry {} of the vocabulary is not one character", number);
        if (character.code < table.ascii.size())
            table.ascii[character.code] = number;
        else
            table.others.emplace_back(character.code, number);
        table.vocabulary.push_back(text);
    }
    std::ranges::sort(table.others);
    return {};
}

Result<void> index_characters(TokenTable& table, const std::vector<std::string>& vocabulary) {
    VIRIDIAN_TRY(set_vocabulary(table, vocabulary));
    std::vector<bool> seen(vocabulary.empty() ? 0x110000 : 0);
    VIRIDIAN_TRY(
        each_character(table.file, [&](char32_t code, std::uint64_t at, std::int64_t line) -> Result<void> {
            if (table.tokens++ % characters_per_mark == 0) table.marks.push_back(at);
            if (!seen.empty())
                seen[code] = true;
            else if (table.number_of(code) < 0)
                return fail(ErrorCode::missing_entry, "remove it, or train on a text that has it",
                            "line {} of `{}` has the character `{}`, which the training text lacks", line,
                            table.file.name(), utf8_text(code));
            return {};
        }));
    table.marks.push_back(table.file.size());
    if (seen.empty()) return {};
    std::vector<std::string> found;
    for (std::size_t code = 0; code < seen.size(); ++code)
        if (seen[code]) found.push_back(utf8_text(static_cast<char32_t>(code)));
    return set_vocabulary(table, found);
}

// Reads the tokens from `first` on.
Result<void> read_tokens(const TokenTable& table, std::int64_t first, std::span<std::int64_t> out) {
    const auto count = static_cast<std::int64_t>(out.size());
    if (table.bytes) {
        VIRIDIAN_TRY(const std::string bytes, table.file.text(static_cast<std::uint64_t>(first), out.size()));
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<unsigned char>(bytes[i]);
        return {};
    }
    const auto mark = static_cast<std::size_t>(first / characters_per_mark);
    const auto end =
        static_cast<std::size_t>((first + count + characters_per_mark - 1) / characters_per_mark);
    const std::uint64_t begin = table.marks[mark];
    VIRIDIAN_TRY(const std::string bytes, table.file.text(begin, table.marks[end] - begin));
    std::string_view rest(bytes);
    for (std::int64_t i = -(first % characters_per_mark); i < count; ++i) {
        const Utf8Character character = first_character(rest);
        const std::int64_t number = character.size == 0 ? -1 : i < 0 ? 0 : table.number_of(character.code);
        if (number < 0)
            return fail(ErrorCode::malformed, "leave the file unchanged during training",
                        "`{}` has changed since it was opened", table.file.name());
        if (i >= 0) out[static_cast<std::size_t>(i)] = number;
        rest.remove_prefix(character.size);
    }
    return {};
}

// Column "tokens" for `shift` 0 and "targets" for `shift` 1.
Field token_field(std::shared_ptr<const TokenTable> table, const TextOptions& options, std::int64_t stride,
                  std::int64_t shift) {
    Column column{shift == 0 ? "tokens" : "targets", graph::ElementType::i64, {options.context}};
    column.categories = table->vocabulary;
    column.classes = options.bytes ? 256 : static_cast<std::int64_t>(table->vocabulary.size());
    auto read = [table = std::move(table), context = options.context, stride, shift](
                    SampleList samples, std::span<std::byte> out) -> Result<void> {
        std::vector<std::int64_t> window(static_cast<std::size_t>(context));
        std::byte* at = out.data();
        for (const std::int64_t sample : samples) {
            const std::int64_t first = sample * stride;
            const std::int64_t held = std::min(context, table->tokens - 1 - first);
            VIRIDIAN_TRY(
                read_tokens(*table, first + shift, std::span(window).first(static_cast<std::size_t>(held))));
            std::fill(window.begin() + held, window.end(), shift == 0 ? 0 : ignored_label);
            std::memcpy(at, window.data(), window.size() * sizeof(std::int64_t));
            at += window.size() * sizeof(std::int64_t);
        }
        return {};
    };
    return {std::move(column), std::move(read), {}};
}

}  // namespace

Result<Dataset> open_text(const ByteSource& file, const TextOptions& options) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const std::int64_t stride = options.stride == 0 ? options.context : options.stride;
    if (options.context < 1 || options.context > most || stride < 1)
        return fail(ErrorCode::invalid_argument,
                    "choose a context length from 1 to 16777216, and a positive stride",
                    "windows of {} tokens, {} apart, cannot be cut", options.context, stride);
    auto table = std::make_shared<TokenTable>();
    table->file = file;
    table->bytes = options.bytes;
    if (options.bytes)
        table->tokens = static_cast<std::int64_t>(file.size());
    else
        VIRIDIAN_TRY(index_characters(*table, options.vocabulary));
    const std::int64_t targets = table->tokens - 1;  // the last token has no next one
    if (targets < (options.keep_tail ? 1 : options.context))
        return fail(ErrorCode::malformed, "choose a shorter context length, or add text",
                    "`{}` has {} tokens, too few for a window of {} and the token after it", file.name(),
                    table->tokens, options.context);
    const std::int64_t samples =
        options.keep_tail ? (targets - 1) / stride + 1 : (targets - options.context) / stride + 1;
    std::vector<Field> fields;
    fields.push_back(token_field(table, options, stride, 0));
    fields.push_back(token_field(table, options, stride, 1));
    return Dataset(file.name(), samples, std::move(fields));
}

}  // namespace viridian::data
