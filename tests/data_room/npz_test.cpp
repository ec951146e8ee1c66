#include "viridian/data/sources/npz.hpp"

#include <cstring>

#include "files.hpp"
#include "viridian/base/random.hpp"
#include "viridian/data/sources/zip.hpp"

namespace viridian::data {
namespace {

using tests::counting;
using tests::counting_labels;
using tests::error_of;
using tests::numbers;
using tests::zip_archive;

ByteSource archive_of(bool deflate, bool zip64) {
    return ByteSource::of(zip_archive({{"x.npy", *npy_bytes(counting({5, 2, 3})), deflate},
                                       {"y.npy", *npy_bytes(counting_labels(5, 3)), deflate}},
                                      zip64),
                          "a.npz");
}

TEST(Npz, StoredDeflatedAndZip64ArchivesHoldTheSame) {
    for (const bool deflate : {false, true})
        for (const bool zip64 : {false, true}) {
            const auto dataset = open_npz(archive_of(deflate, zip64), {});
            ASSERT_TRUE(dataset.ok()) << dataset.error().text();
            EXPECT_EQ(dataset->samples(), 5);
            ASSERT_EQ(dataset->columns(), 2U);
            EXPECT_EQ(dataset->column(0).name, "x");
            EXPECT_EQ(dataset->column(0).type, graph::ElementType::f32);
            EXPECT_EQ(dataset->column(0).dims, (graph::Dims{2, 3}));
            EXPECT_EQ(numbers(*dataset, "x", {4, 1}),
                      (std::vector<double>{24, 25, 26, 27, 28, 29, 6, 7, 8, 9, 10, 11}));
            EXPECT_EQ(numbers(*dataset, "y", {4, 0, 1, 2}), (std::vector<double>{1, 0, 1, 2}));
        }
}

TEST(Npz, LargeDeflatedMembersAreReadFromATemporaryFile) {
    Random random(1);
    graph::Tensor large(graph::ElementType::u8, {3000, 1000});
    for (std::uint8_t& byte : large.mutable_values<std::uint8_t>())
        byte = static_cast<std::uint8_t>(random.below(7));
    const auto dataset =
        open_npz(ByteSource::of(zip_archive({{"x.npy", *npy_bytes(large), true}}), "l.npz"), {});
    ASSERT_TRUE(dataset.ok()) << dataset.error().text();
    const std::vector<std::int64_t> samples = {2999, 0, 1, 2, 17};
    const auto read = dataset->read(0, samples);
    ASSERT_TRUE(read.ok());
    for (std::size_t i = 0; i < samples.size(); ++i)
        EXPECT_EQ(std::memcmp(read->bytes() + i * 1000, large.bytes() + samples[i] * 1000, 1000), 0);
}

TEST(Npz, OnlyWantedArraysMustBelongTogether) {
    const auto archive = ByteSource::of(zip_archive({{"x_train.npy", *npy_bytes(counting({4, 2}))},
                                                     {"x_test.npy", *npy_bytes(counting({2, 2}))},
                                                     {"y_train.npy", *npy_bytes(counting_labels(4, 2))}}),
                                        "mnist.npz");
    EXPECT_EQ(
        error_of(open_npz(archive, {})),
        "the arrays of `mnist.npz` have different numbers of samples: `x_train` 4, `x_test` 2, `y_train` 4; "
        "save those that belong together in a file of their own");
    const auto dataset = open_npz(archive, {"y_train", "x_train"});
    ASSERT_TRUE(dataset.ok());
    EXPECT_EQ(dataset->column(0).name, "y_train");
    EXPECT_EQ(error_of(open_npz(archive, {"z"})),
              "`mnist.npz` has no array `z`; name one of its arrays: `x_train`, `x_test`, `y_train`");
}

TEST(Npz, DamagedArchivesAreRefused) {
    const std::string whole = zip_archive({{"x.npy", *npy_bytes(counting({5, 2})), true}});
    for (std::size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(open_npz(ByteSource::of(whole.substr(0, length), "cut.npz"), {}).ok()) << length;
    EXPECT_EQ(error_of(open_npz(ByteSource::of(whole.substr(0, 60), "cut.npz"), {})),
              "`cut.npz` is a damaged zip archive: its directory is missing, so it is cut off; copy it "
              "again, or write "
              "it again with numpy.savez");
    std::string flipped = whole;
    flipped[whole.find("PK\x01\x02") + 16] ^= 1;  // the checksum
    EXPECT_EQ(error_of(open_npz(ByteSource::of(flipped, "f.npz"), {})),
              "`f.npz` is a damaged zip archive: the checksum of `x.npy` is wrong; copy it again, or write "
              "it again "
              "with numpy.savez");
    EXPECT_EQ(error_of(open_npz(ByteSource::of(zip_archive({}), "none.npz"), {})),
              "`none.npz` holds no arrays; save at least one array in it");
    EXPECT_EQ(
        error_of(open_npz(ByteSource::of(zip_archive({{"x.npy", *npy_bytes(counting({}))}}), "s.npz"), {})),
        "`s.npz/x.npy` is a single number, not one value for each sample; save an array whose first "
        "dimension "
        "counts the samples");
}

TEST(Npz, EveryByteMayBeWrong) {
    const std::string whole = zip_archive({{"x.npy", *npy_bytes(counting({3, 2})), true}}, true);
    Random random(4);
    for (int i = 0; i < 3000; ++i) {
        std::string mutant = whole;
        mutant[random.below(mutant.size())] = static_cast<char>(random.below(256));
        const auto dataset = open_npz(ByteSource::of(mutant, "m.npz"), {});
        EXPECT_TRUE(!dataset.ok() || dataset->read(0, std::vector<std::int64_t>{0}).ok());
    }
}

}  // namespace
}  // namespace viridian::data
