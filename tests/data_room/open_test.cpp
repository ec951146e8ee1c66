#include "viridian/data/open.hpp"

#include "files.hpp"

namespace viridian::data {
namespace {

using tests::counting;
using tests::error_of;
using tests::Folder;
using tests::idx_bytes;
using tests::numbers;
using tests::zip_archive;

std::string opened(const std::string& name, std::string bytes, Format format = Format::automatic) {
    OpenOptions options;
    options.format = format;
    options.text.context = 2;
    const auto dataset = open_bytes(ByteSource::of(std::move(bytes), name), options);
    return dataset.ok() ? dataset->column(0).name : error_of(dataset);
}

TEST(Open, ContentDecidesBeforeTheExtension) {
    const std::string npy = *npy_bytes(counting({2, 2}));
    EXPECT_EQ(opened("x.npy", npy), "x");
    EXPECT_EQ(opened("x", npy), "x");
    EXPECT_EQ(opened("x.npz", npy), "x");  // named wrongly, and still clear
    EXPECT_EQ(opened("a.npz", zip_archive({{"in.npy", npy}})), "in");
    EXPECT_EQ(opened("i-idx1-ubyte", idx_bytes({2}, "ab")), "i-idx1-ubyte");
    EXPECT_EQ(opened("a.csv", "p,q\n1,2\n"), "p");
    EXPECT_EQ(opened("a.csv.gz", tests::gzip("p,q\n1,2\n")), "p");
    EXPECT_EQ(opened("a.tsv", "p\tq\n1\t2\n"), "p");
    EXPECT_EQ(opened("a.txt", "p,q\n1,2\n"), "tokens");
    EXPECT_EQ(opened("a", "p,q\n1,2\n", Format::csv), "p");
    EXPECT_EQ(opened("a.csv", "p,q\n1,2\n", Format::text), "tokens");
}

TEST(Open, WhatIsNoDataFileIsRefused) {
    EXPECT_EQ(opened("x.npz", ""), "`x.npz` is empty; write it again, or name another file");
    EXPECT_EQ(opened("x.npz", "hello"),
              "`x.npz` is not a readable .npz file: it does not begin as one; check that it is the right "
              "file, or write "
              "it again");
    EXPECT_EQ(opened("x.bin", "hello"),
              "`x.bin` is not a data file of a known format; give it the extension .npz, .npy, .idx, .csv or "
              ".txt of its "
              "format");
    EXPECT_EQ(opened("x.npy", zip_archive({}), Format::npy),
              "`x.npy` is not a readable .npy file: it does not begin as one; check that it is the right "
              "file, or write "
              "it again");
    EXPECT_EQ(opened("x.gz", tests::gzip(tests::gzip("a,b\n1,2\n"))),
              "`x.gz` is compressed twice; unpack it once with gunzip");
    EXPECT_EQ(error_of(open("/none.npz")), "there is no file `/none.npz`; check the path");
    const Folder folder;
    OpenOptions options;
    options.format = Format::csv;
    EXPECT_EQ(error_of(open(folder.path(), options)),
              fmt::format("`{}` is a folder, not a CSV file; name a file inside it", folder.path().string()));
}

TEST(Open, FilesAreJoinedByTheirSamples) {
    OpenOptions images, labels;
    images.name = "images";
    labels.name = "labels";
    const auto a = open_bytes(ByteSource::of(idx_bytes({3, 2}, "abcdef"), "a.idx"), images);
    const auto b = open_bytes(ByteSource::of(idx_bytes({3}, {"\0\1\2", 3}), "b.idx"), labels);
    const auto c = open_bytes(ByteSource::of(idx_bytes({2}, "xy"), "c.idx"), labels);
    const auto both = join("train", {*a, *b});
    ASSERT_TRUE(both.ok());
    EXPECT_EQ(numbers(*both, "labels", {2}), (std::vector<double>{2}));
    EXPECT_EQ(numbers(*both, "images", {2}), (std::vector<double>{'e', 'f'}));
    EXPECT_EQ(error_of(join("train", {*a, *c})),
              "`a.idx` has 3 samples and `c.idx` has 2; give files whose samples belong together");
    EXPECT_EQ(error_of(join("train", {*b, *b})),
              "`train` has two columns of the name `labels`; give one of them another name: NAME=FILE");
    EXPECT_EQ(error_of(both->find("label")),
              "`train` has no column `label`; name one of its columns: `images`, `labels`");
    const auto chosen = both->select({"labels"});
    ASSERT_TRUE(chosen.ok());
    EXPECT_EQ(chosen->columns(), 1U);
}

}  // namespace
}  // namespace viridian::data
