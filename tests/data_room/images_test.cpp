#include "viridian/data/images.hpp"

#include "files.hpp"

namespace viridian::data {
namespace {

using graph::Tensor;
using tests::counting;

// The definition: pixel (row, column) of the result, from the padded and mirrored image.
float expected(const Tensor& image, std::int64_t channel, std::int64_t row, std::int64_t column,
               const ImageChange& change, std::int64_t padding) {
    const std::int64_t height = image.dims()[2], width = image.dims()[3];
    if (change.mirror) column = width - 1 - column;
    row += change.down - padding;
    column += change.right - padding;
    if (row < 0 || row >= height || column < 0 || column >= width) return 0;
    return image.values<float>()[static_cast<std::size_t>((channel * height + row) * width + column)];
}

TEST(Images, AreCutAndMirroredAsDefined) {
    const Tensor image = counting({1, 2, 3, 4});
    const ImageShape shape{2, 3, 4};
    for (const std::int64_t padding : {0, 1, 5})
        for (std::int64_t down = 0; down <= 2 * padding; ++down)
            for (std::int64_t right = 0; right <= 2 * padding; ++right)
                for (const bool mirror : {false, true}) {
                    const std::vector<ImageChange> changes = {{mirror, down, right}};
                    const Tensor changed = change_images(image, shape, changes, padding);
                    for (std::int64_t i = 0; i < 24; ++i)
                        ASSERT_EQ(changed.values<float>()[static_cast<std::size_t>(i)],
                                  expected(image, i / 12, i / 4 % 3, i % 4, changes[0], padding));
                }
}

TEST(Images, DrawsAreSpreadOverAllChanges) {
    std::vector<int> seen(18);
    for (std::int64_t sample = 0; sample < 3600; ++sample) {
        const ImageChange change = draw_change(1, 2, sample, 0.5, 1);
        ++seen[static_cast<std::size_t>((change.mirror ? 9 : 0) + 3 * change.down + change.right)];
    }
    for (const int count : seen) {  // 200 are expected; the standard deviation is below 14
        EXPECT_GT(count, 140);
        EXPECT_LT(count, 260);
    }
    for (std::int64_t sample = 0; sample < 50; ++sample) {
        EXPECT_FALSE(draw_change(1, 2, sample, 0, 0).mirror);
        EXPECT_TRUE(draw_change(1, 2, sample, 1, 0).mirror);
    }
}

TEST(Images, ChannelsComeFirst) {
    const Tensor last = counting({2, 1, 2, 3});
    EXPECT_TRUE(channels_first(last).same_bytes(
        Tensor::f32({2, 3, 1, 2}, std::vector<float>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11})));
}

}  // namespace
}  // namespace viridian::data
