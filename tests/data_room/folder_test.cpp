#include "viridian/data/sources/folder.hpp"

#include "files.hpp"
#include "viridian/data/open.hpp"

namespace viridian::data {
namespace {

using tests::counting;
using tests::counting_labels;
using tests::error_of;
using tests::Folder;
using tests::idx_bytes;
using tests::numbers;

TEST(FolderOfArrays, FilesAreColumns) {
    const Folder folder;
    folder.write("train-images-idx3-ubyte", idx_bytes({3, 1, 2}, "abcdef"));
    folder.write("train-labels-idx1-ubyte.gz", tests::gzip(idx_bytes({3}, "\1\2\3")));
    folder.write("weight.npy", *npy_bytes(counting({3})));
    folder.write(".hidden", "ignored");
    const auto dataset = open(folder.path());
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->samples(), 3);
    EXPECT_EQ(numbers(*dataset, "train-images", {2}), (std::vector<double>{'e', 'f'}));
    EXPECT_EQ(numbers(*dataset, "train-labels", {0, 1, 2}), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(numbers(*dataset, "weight", {1}), (std::vector<double>{1}));
    folder.write("t10k-labels-idx1-ubyte", idx_bytes({2}, "\1\2"));
    EXPECT_NE(error_of(open(folder.path())).find("have different numbers of samples: `t10k-labels` 2"),
              std::string::npos);
    OpenOptions options;
    options.arrays = {"train-images", "train-labels"};
    EXPECT_EQ(open(folder.path(), options)->columns(), 2U);
    options.arrays = {"test-images"};
    EXPECT_EQ(
        error_of(open(folder.path(), options)),
        fmt::format("the folder `{}` has no array `test-images`; name one of its files without the extension",
                    folder.path().string()));
}

TEST(FolderOfArrays, ClassesAreFolders) {
    const Folder folder;
    folder.write("dog/2.npy", *npy_bytes(counting({2, 2})));
    folder.write("cat/1.npy", *npy_bytes(counting({2, 2})));
    folder.write("cat/0.npy", *npy_bytes(graph::Tensor::f32({2, 2}, std::vector<float>{9, 8, 7, 6})));
    const auto dataset = open(folder.path());
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->samples(), 3);
    EXPECT_EQ(dataset->column(1).categories, (std::vector<std::string>{"cat", "dog"}));
    EXPECT_EQ(numbers(*dataset, "data", {0, 2}), (std::vector<double>{9, 8, 7, 6, 0, 1, 2, 3}));
    EXPECT_EQ(numbers(*dataset, "label", {0, 1, 2}), (std::vector<double>{0, 0, 1}));
    OpenOptions options;
    options.folder.categories = {"dog", "bird", "cat"};
    EXPECT_EQ(numbers(*open(folder.path(), options), "label", {0, 1, 2}), (std::vector<double>{2, 2, 0}));
    options.folder.categories = {"dog"};
    EXPECT_NE(error_of(open(folder.path(), options)).find("has no class `cat`"), std::string::npos);
}

TEST(FolderOfArrays, SamplesMayDifferInTheirFirstDimension) {
    const Folder folder;
    folder.write("a.npy", *npy_bytes(counting_labels(2, 9)));
    folder.write("b.npy", *npy_bytes(counting_labels(4, 9)));
    OpenOptions options;
    options.folder.samples = true;
    const auto dataset = open(folder.path(), options);
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_TRUE(dataset->column(0).varies);
    EXPECT_EQ(dataset->column(0).dims, (graph::Dims{4}));
    EXPECT_EQ(numbers(*dataset, "data", {1, 0}), (std::vector<double>{0, 1, 2, 3, 0, 1, 0, 0}));
    EXPECT_EQ(numbers(*dataset, "data", {0}), (std::vector<double>{0, 1}));
    EXPECT_EQ(*dataset->lengths(0, std::vector<std::int64_t>{1, 0}), (std::vector<std::int64_t>{4, 2}));
    folder.write("c.npy", *npy_bytes(counting({2})));
    EXPECT_EQ(error_of(open(folder.path(), options)),
              fmt::format(
                  "`{}` holds f32[2], and the samples before it hold i64[4]; write all samples with one type "
                  "and one shape; only the first dimension may differ",
                  (folder / "c.npy").string()));
}

TEST(FolderOfArrays, WrongFoldersAreRefused) {
    const Folder folder;
    EXPECT_EQ(error_of(open(folder.path())),
              fmt::format("the folder `{}` is empty; put .npy files, or one folder for each class into it",
                          folder.path().string()));
    folder.write("cat/0.npy", *npy_bytes(counting({2})));
    folder.write("x.npy", *npy_bytes(counting({2})));
    EXPECT_EQ(
        error_of(open(folder.path())),
        fmt::format(
            "the folder `{}` holds files and folders, as `x.npy` and `cat`; keep arrays as files, or one "
            "folder for each class, not both",
            folder.path().string()));
}

}  // namespace
}  // namespace viridian::data
