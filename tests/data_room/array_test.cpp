#include "viridian/data/sources/array.hpp"

#include "files.hpp"
#include "viridian/data/open.hpp"

namespace viridian::data {
namespace {

using graph::Tensor;
using tests::counting;
using tests::error_of;
using tests::idx_bytes;
using tests::numbers;

TEST(OpenNpy, ColumnMajorArraysAreReadInRowMajorOrder) {
    const graph::Dims dims = {300, 5, 7};
    const Tensor rows = counting(dims);
    Tensor columns(graph::ElementType::f32, dims);
    for (std::int64_t i = 0; i < 300; ++i)
        for (std::int64_t j = 0; j < 5; ++j)
            for (std::int64_t k = 0; k < 7; ++k)
                columns.mutable_values<float>()[static_cast<std::size_t>(i + 300 * (j + 5 * k))] =
                    rows.values<float>()[static_cast<std::size_t>((i * 5 + j) * 7 + k)];
    std::string bytes = *npy_bytes(columns);
    bytes.replace(bytes.find("False"), 5, "True ");
    const auto dataset = open_bytes(ByteSource::of(bytes, "c.npy"));
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->column(0).name, "c");
    std::vector<std::int64_t> all(300);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const auto read = dataset->read(0, all);
    ASSERT_TRUE(read.ok());
    EXPECT_TRUE(read->same_bytes(rows));
}

TEST(OpenNpy, CutFilesAreRefused) {
    const std::string whole = *npy_bytes(counting({4, 2}));
    EXPECT_EQ(error_of(open_npy(ByteSource::of(whole.substr(0, whole.size() - 4), "x.npy"))),
              "`x.npy` needs 32 bytes of elements and has 28; save the array again with numpy.save");
    std::string objects = whole;
    objects.replace(objects.find("'<f4'"), 5, "'|O8'");
    EXPECT_EQ(error_of(open_npy(ByteSource::of(objects, "o.npy"))),
              "`o.npy` has elements of type `|O8`; convert the array to a plain numeric type");
}

TEST(OpenNpy, AFileThatGetsShorterIsAnErrorAndNoCrash) {
    const tests::Folder folder;
    const std::string whole = *npy_bytes(counting({1000, 10}));
    const Path path = folder.write("x.npy", whole);
    const auto dataset = open(path);
    ASSERT_TRUE(dataset.ok());
    std::filesystem::resize_file(path, whole.size() - 400);
    EXPECT_TRUE(dataset->read(0, std::vector<std::int64_t>{0}).ok());
    const auto read = dataset->read(0, std::vector<std::int64_t>{999});
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().next_step, "copy or write the file again");
    EXPECT_EQ(error_of(dataset->read(0, std::vector<std::int64_t>{1000})),
              fmt::format("`{}` has no sample 1000; ask for samples from 0 to 999", path.string()));
}

TEST(OpenIdx, ReadsBytesAndWiderNumbers) {
    const auto bytes = open_bytes(ByteSource::of(idx_bytes({3, 2, 1}, "abcdef"), "train-images-idx3-ubyte"));
    ASSERT_TRUE(bytes.ok()) << bytes.error().text();
    EXPECT_EQ(bytes->column(0).type, graph::ElementType::u8);
    EXPECT_EQ(numbers(*bytes, "train-images-idx3-ubyte", {2, 0}), (std::vector<double>{'e', 'f', 'a', 'b'}));
    std::string shorts =
        std::string("\0\0\x0B\x01", 4) + tests::big(2, 4) + tests::big(258, 2) + tests::big(0xfffe, 2);
    const auto wide = open_bytes(ByteSource::of(shorts, "w.idx"));
    ASSERT_TRUE(wide.ok());
    EXPECT_EQ(numbers(*wide, "w", {0, 1}), (std::vector<double>{258, -2}));
}

TEST(OpenIdx, IsReadThroughGzip) {
    const std::string plain = idx_bytes({3, 2}, "abcdef");
    const auto dataset = open_bytes(ByteSource::of(tests::gzip(plain), "y-idx2-ubyte.gz"));
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    EXPECT_EQ(dataset->samples(), 3);
    const std::string two = tests::gzip(plain.substr(0, 9)) + tests::gzip(plain.substr(9));
    EXPECT_TRUE(open_bytes(ByteSource::of(two, "two.gz")).ok());
    const std::string cut = tests::gzip(plain).substr(0, 20);
    EXPECT_EQ(error_of(open_bytes(ByteSource::of(cut, "cut.gz"))),
              "the compressed data of `cut.gz` is damaged or cut off; copy or write the file again");
}

TEST(OpenIdx, CutFilesAreRefused) {
    const std::string whole = idx_bytes({3, 2}, "abcdef");
    EXPECT_EQ(error_of(open_idx(ByteSource::of(whole.substr(0, 16), "x.idx"))),
              "`x.idx` is not a readable IDX file: it needs 6 bytes of elements and has 4; download or write "
              "the file "
              "again");
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(open_idx(ByteSource::of(whole.substr(0, length), "cut")).ok()) << length;
    EXPECT_EQ(error_of(open_bytes(ByteSource::of(idx_bytes({0, 2}, ""), "none.idx"))),
              "`none.idx` holds no samples; write at least one sample");
}

}  // namespace
}  // namespace viridian::data
