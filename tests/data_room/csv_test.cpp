#include "viridian/data/sources/csv.hpp"

#include "files.hpp"

namespace viridian::data {
namespace {

using tests::error_of;
using tests::numbers;

Result<Dataset> csv(std::string text, const CsvOptions& options = {}) {
    return open_csv(ByteSource::of(std::move(text), "t.csv"), options);
}

TEST(Csv, EveryColumnHasItsType) {
    const auto dataset =
        csv("\xef\xbb\xbf"
            "a,b,\"the c\"\r\n1,0.5,cat\r\n-2,3,\"a \"\"dog\"\", big\"\r\n\r\n+3,1e2,cat");
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->samples(), 3);
    ASSERT_EQ(dataset->columns(), 3U);
    EXPECT_EQ(dataset->column(0).type, graph::ElementType::i64);
    EXPECT_EQ(dataset->column(1).type, graph::ElementType::f32);
    EXPECT_EQ(dataset->column(2).name, "the c");
    EXPECT_EQ(dataset->column(2).categories, (std::vector<std::string>{"a \"dog\", big", "cat"}));
    EXPECT_EQ(dataset->column(2).classes, 2);
    EXPECT_EQ(numbers(*dataset, "a", {2, 1, 0}), (std::vector<double>{3, -2, 1}));
    EXPECT_EQ(numbers(*dataset, "b", {0, 1, 2}), (std::vector<double>{0.5, 3, 100}));
    EXPECT_EQ(numbers(*dataset, "the c", {0, 1, 2}), (std::vector<double>{1, 0, 1}));
}

TEST(Csv, TheLabelLeavesTheFeatures) {
    const std::string text = "x;class;y\n1;1;2\n3;0;4,5\n";
    EXPECT_FALSE(csv(text, {.label = "class"}).ok());  // a decimal comma is no number
    const auto dataset = csv("x;class;y\n1;1;2\n3;0;4\n", {.label = "class"});
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->column(0).name, "features");
    EXPECT_EQ(dataset->column(0).dims, (graph::Dims{2}));
    EXPECT_EQ(numbers(*dataset, "features", {1, 0}), (std::vector<double>{3, 4, 1, 2}));
    EXPECT_EQ(numbers(*dataset, "class", {1, 0}), (std::vector<double>{0, 1}));
    const auto chosen = csv("id,x,y,class\nn7,1,2,a\nn8,3,4,b\n", {.label = "class", .features = {"y", "x"}});
    ASSERT_TRUE(chosen.ok()) << chosen.error().text();
    EXPECT_EQ(numbers(*chosen, "features", {0}), (std::vector<double>{2, 1}));
}

TEST(Csv, LinesMaySpanBreaksAndPieces) {
    std::string text = "n,words\n";
    for (int i = 0; i < 40000; ++i)
        text += fmt::format("{},\"line\none, {} of \"\"{}\"\"\"\n", i, i % 3, i % 5);
    const auto dataset = csv(text);
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->samples(), 40000);
    EXPECT_EQ(dataset->column(1).classes, 15);
    EXPECT_EQ(numbers(*dataset, "n", {39999, 20000, 7}), (std::vector<double>{39999, 20000, 7}));
    const auto& categories = dataset->column(1).categories;
    const double found = numbers(*dataset, "words", {31}).front();
    EXPECT_EQ(categories[static_cast<std::size_t>(found)], "line\none, 1 of \"1\"");
}

TEST(Csv, ErrorsNameLineAndColumn) {
    EXPECT_EQ(
        error_of(csv("a,y\n1,0\nabc,1\n", {.label = "y"})),
        "line 3 of `t.csv`, column `a` (1): `abc` is not a finite number; correct it, or remove the column "
        "from the file");
    EXPECT_EQ(
        error_of(csv("a,y\n1,0\n1e39,1\n", {.label = "y"})),
        "line 3 of `t.csv`, column `a` (1): `1e39` is not a finite number; correct it, or remove the column "
        "from the file");
    EXPECT_EQ(error_of(csv("a,y\n\"x\ny\",0\n, 1\n")),
              "line 4 of `t.csv`, column `a` (1): the field is empty; fill it in, or remove the line");
    EXPECT_EQ(
        error_of(csv("a,y\n1,0\n2,one\n")),
        "line 3 of `t.csv`, column `y` (2): `one` is not a finite number, and the lines before have numbers; "
        "correct it");
    EXPECT_EQ(error_of(csv("a,b\n1,2\n3\n")),
              "line 3 of `t.csv` has 1 fields, and the first line has 2; complete the line, and quote fields "
              "that hold "
              "a delimiter");
    EXPECT_EQ(error_of(csv("a,b\n1,\"2\n3,4\n")),
              "line 2 of `t.csv`, field 2: the quotes of the field are not those of CSV; close the quote, "
              "and double "
              "quotes inside a quoted field");
    EXPECT_EQ(error_of(csv("a,b\n1,2\n", {.label = "c"})),
              "`t.csv` has no column `c`; name one of its columns: `a`, `b`");
    EXPECT_EQ(error_of(csv("a,a\n1,2\n")),
              "the columns 1 and 2 of `t.csv` have the same name `a`; give each column a name of its own");
    EXPECT_EQ(error_of(csv("a,b\n")),
              "`t.csv` has column names and no samples; add one line for each sample");
    EXPECT_EQ(error_of(csv("\n\n")),
              "`t.csv` holds no lines; write a first line of column names, then the samples");
}

TEST(Csv, EvaluationHasTheClassesOfTraining) {
    const std::vector<std::string> classes = {"dog", "cat"};
    const CsvOptions options{.label = "y", .categories = {{"y", classes}}};
    const auto dataset = csv("x,y\n1,cat\n2,dog\n", options);
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(numbers(*dataset, "y", {0, 1}), (std::vector<double>{1, 0}));
    EXPECT_EQ(dataset->column(1).categories, classes);
    // Without a label column too, and each column has classes of its own.
    const auto apart = csv("x,y,z\n1,cat,no\n2,dog,yes\n", {.categories = {{"y", classes}}});
    ASSERT_TRUE(apart.ok()) << apart.error().text();
    EXPECT_EQ(numbers(*apart, "y", {0, 1}), (std::vector<double>{1, 0}));
    EXPECT_EQ(numbers(*apart, "z", {0, 1}), (std::vector<double>{0, 1}));
    EXPECT_EQ(
        error_of(csv("x,y\n1,cat\n2,bird\n", options)),
        "line 3 of `t.csv`, column `y` (2): the training data has no class `bird`; correct it, or add such "
        "samples to the training data");
}

TEST(Csv, AFileWithoutNamesCountsItsColumns) {
    const auto dataset = csv("5,1,2\n6,3,4\n", {.label = "0", .header = false});
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->samples(), 2);
    EXPECT_EQ(numbers(*dataset, "features", {0, 1}), (std::vector<double>{1, 2, 3, 4}));
    EXPECT_EQ(numbers(*dataset, "0", {1}), (std::vector<double>{6}));
}

TEST(Csv, AFileThatChangesIsNoticed) {
    const tests::Folder folder;
    const Path path = folder.write("x.csv", "a,b\n1,2\n3,4\n");
    const auto file = ByteSource::open(path);
    const auto dataset = open_csv(*file, {});
    ASSERT_TRUE(dataset.ok());
    std::filesystem::resize_file(path, 0);
    EXPECT_FALSE(dataset->read(0, std::vector<std::int64_t>{1}).ok());
}

}  // namespace
}  // namespace viridian::data
