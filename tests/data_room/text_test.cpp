#include "viridian/data/sources/text.hpp"

#include "files.hpp"
#include "viridian/base/random.hpp"
#include "viridian/data/categories.hpp"
#include "viridian/data/sources/utf8.hpp"

namespace viridian::data {
namespace {

using tests::error_of;
using tests::numbers;

Result<Dataset> text(std::string bytes, const TextOptions& options) {
    return open_text(ByteSource::of(std::move(bytes), "t.txt"), options);
}

TEST(Text, WindowsOfBytesHaveTheNextByteAsTarget) {
    const auto dataset = text("abcdefgh", {.bytes = true, .context = 3});
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->samples(), 2);  // the 8th byte is target only
    EXPECT_EQ(dataset->column(0).classes, 256);
    EXPECT_EQ(numbers(*dataset, "tokens", {1, 0}), (std::vector<double>{'d', 'e', 'f', 'a', 'b', 'c'}));
    EXPECT_EQ(numbers(*dataset, "targets", {1, 0}), (std::vector<double>{'e', 'f', 'g', 'b', 'c', 'd'}));
    const auto overlapping = text("abcdefgh", {.bytes = true, .context = 3, .stride = 1});
    EXPECT_EQ(overlapping->samples(), 5);
    EXPECT_EQ(numbers(*overlapping, "targets", {4}), (std::vector<double>{'f', 'g', 'h'}));
}

TEST(Text, TheTailIsPaddedWithIgnoredTargets) {
    const auto dataset = text("abcdefgh", {.bytes = true, .context = 3, .keep_tail = true});
    ASSERT_TRUE(dataset.ok());
    EXPECT_EQ(dataset->samples(), 3);
    EXPECT_EQ(numbers(*dataset, "tokens", {2}), (std::vector<double>{'g', 0, 0}));
    EXPECT_EQ(numbers(*dataset, "targets", {2}), (std::vector<double>{'h', -100, -100}));
    EXPECT_EQ(text("abcd", {.bytes = true, .context = 3, .keep_tail = true})->samples(), 1);
    EXPECT_EQ(text("ab", {.bytes = true, .context = 3, .keep_tail = true})->samples(), 1);
}

TEST(Text, CharactersHaveAVocabulary) {
    const auto dataset = text("b€aéb\nab", {.context = 2});
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->column(0).categories, (std::vector<std::string>{"\n", "a", "b", "é", "€"}));
    EXPECT_EQ(dataset->samples(), 3);
    EXPECT_EQ(numbers(*dataset, "tokens", {0, 1, 2}), (std::vector<double>{2, 4, 1, 3, 2, 0}));
    EXPECT_EQ(numbers(*dataset, "targets", {0, 1, 2}), (std::vector<double>{4, 1, 3, 2, 0, 1}));
    const auto other = text("aéa", {.context = 2, .vocabulary = dataset->column(0).categories});
    ASSERT_TRUE(other.ok());
    EXPECT_EQ(numbers(*other, "tokens", {0}), (std::vector<double>{1, 3}));
    EXPECT_EQ(error_of(text("a\n\nax", {.context = 2, .vocabulary = dataset->column(0).categories})),
              "line 3 of `t.txt` has the character `x`, which the training text lacks; remove it, or train "
              "on a text "
              "that has it");
}

TEST(Text, EveryWindowOfALongTextIsRight) {
    std::string bytes;
    std::vector<double> expected;
    const std::vector<std::string> letters = {"a", "b", "é", "€", "𝄞"};
    Random random(2);
    for (std::size_t i = 0; i < 70000; ++i) {
        const std::size_t k = random.below(letters.size());
        bytes += letters[k];
        expected.push_back(static_cast<double>(k));
    }
    const auto dataset = text(bytes, {.context = 100, .stride = 97});
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    ASSERT_EQ(dataset->samples(), (69999 - 100) / 97 + 1);
    for (std::int64_t sample = 0; sample < dataset->samples(); ++sample) {
        const auto first = expected.begin() + sample * 97;
        ASSERT_EQ(numbers(*dataset, "tokens", {sample}), std::vector<double>(first, first + 100));
        ASSERT_EQ(numbers(*dataset, "targets", {sample}), std::vector<double>(first + 1, first + 101));
    }
}

TEST(Text, WrongTextIsRefused) {
    EXPECT_EQ(
        error_of(text("ab\nc\xff"
                      "d",
                      {.context = 2})),
        "`t.txt` is not UTF-8 text: line 2 has a byte 0xff that begins no character; convert it to UTF-8, or "
        "read it as bytes");
    EXPECT_EQ(
        error_of(text("abc", {.context = 3})),
        "`t.txt` has 3 tokens, too few for a window of 3 and the token after it; choose a shorter context "
        "length, or add text");
    EXPECT_EQ(error_of(text("abc", {.context = 0})),
              "windows of 0 tokens, 0 apart, cannot be cut; choose a context length from 1 to 16777216, and "
              "a positive "
              "stride");
    EXPECT_EQ(
        error_of(text("abc", {.context = 2, .vocabulary = {"a", "bc"}})),
        "entry 1 of the vocabulary is not one character; give the vocabulary of a model that was trained on "
        "characters");
}

TEST(Utf8, ReadsWhatItWrites) {
    for (const char32_t code :
         {0U, 0x7fU, 0x80U, 0x7ffU, 0x800U, 0xd7ffU, 0xe000U, 0xffffU, 0x10000U, 0x10ffffU}) {
        const std::string bytes = utf8_text(code);
        EXPECT_EQ(first_character(bytes).code, code);
        EXPECT_EQ(first_character(bytes).size, bytes.size());
        EXPECT_EQ(first_character(std::string_view(bytes).substr(0, bytes.size() - 1)).size, 0U)
            << bytes.size();
    }
    for (const std::string_view wrong :
         {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80", "\xc3("})
        EXPECT_EQ(first_character(wrong).size, 0U);
}

TEST(Categories, ComeBackFromTheirText) {
    const std::vector<std::string> categories = {"\n", "a", "é", "\""};
    const auto back = parse_categories(categories_text(categories), "v.json");
    ASSERT_TRUE(back.ok()) << back.error().text();
    EXPECT_EQ(*back, categories);
    EXPECT_EQ(
        error_of(
            parse_categories(R"({"schema": "viridian.categories/1", "categories": ["a", "a"]})", "v.json")),
        "`v.json` is not a list of categories: `a` stands twice; give the file that was written beside the "
        "trained model");
    EXPECT_FALSE(parse_categories("[]", "v").ok());
    EXPECT_FALSE(parse_categories(R"({"schema": "viridian.categories/1", "categories": [1]})", "v").ok());
    EXPECT_FALSE(parse_categories(R"({"schema": "viridian.categories/1"})", "v").ok());
}

}  // namespace
}  // namespace viridian::data
