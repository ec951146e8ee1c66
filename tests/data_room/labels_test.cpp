#include "viridian/data/labels.hpp"

#include "files.hpp"
#include "viridian/data/open.hpp"

namespace viridian::data {
namespace {

using tests::error_of;

Dataset labels(const std::vector<std::int64_t>& values) {
    const auto bytes = npy_bytes(graph::Tensor::i64({static_cast<std::int64_t>(values.size())}, values));
    return *open_bytes(ByteSource::of(*bytes, "y.npy"));
}

TEST(Labels, AreCountedAndWeighted) {
    const Dataset dataset = labels({0, 2, 2, 2, -100, 0, 2, 2});
    const auto counts = label_counts(dataset, 0, Subset(8), 4, -100);
    ASSERT_TRUE(counts.ok()) << error_of(counts);
    EXPECT_EQ(*counts, (std::vector<std::int64_t>{2, 0, 5, 0}));
    const graph::Tensor weights = class_weights(*counts);
    EXPECT_EQ(weights.dims(), (graph::Dims{4}));
    EXPECT_FLOAT_EQ(weights.values<float>()[0], 7.0F / (2 * 2));
    EXPECT_EQ(weights.values<float>()[1], 0);
    EXPECT_FLOAT_EQ(weights.values<float>()[2], 7.0F / (2 * 5));
    EXPECT_EQ(*labels_that_count(dataset, 0, std::vector<std::int64_t>{0, 4, 5}, -100), 2);
}

TEST(Labels, OutOfRangeOrNoIntegersAreRefused) {
    EXPECT_EQ(error_of(label_counts(labels({0, 1, 5}), 0, Subset(3), 5)),
              "sample 2 of `y.npy` has the label 5 in `y`, and the labels of 5 classes are 0 to 4; number "
              "the classes "
              "from 0 on, or check that it is the right column");
    EXPECT_FALSE(label_counts(labels({0, -1}), 0, Subset(2), 5).ok());
    const auto floats = open_bytes(ByteSource::of(*npy_bytes(tests::counting({3})), "f.npy"));
    EXPECT_EQ(error_of(label_counts(*floats, 0, Subset(3), 5)),
              "the labels `f` of `f.npy` are f32 numbers, not integers; save class numbers as integers");
}

}  // namespace
}  // namespace viridian::data
