#include "viridian/plan/format.hpp"

#include <gtest/gtest.h>

#include <set>

#include "viridian/base/random.hpp"

namespace viridian::plan {
namespace {

TEST(Layout, NamesAreTheFields) {
    EXPECT_EQ(text(plain(4)), "nchw");
    EXPECT_EQ(text(channels_last(4)), "nhwc");
    EXPECT_EQ(text(channels_blocked(4, 16)), "nChw16c");
    EXPECT_EQ(text(plain(2)), "ab");
    EXPECT_EQ(text(permuted({0, 2, 1})), "acb");
    EXPECT_EQ(text(plain(0)), "scalar");
}

TEST(Layout, TextRoundTrips) {
    for (const char* name : {"nchw", "nhwc", "nChw16c", "NChw4n16c", "ab", "ba", "a", "scalar", "abcde",
                             "acdeb", "aBcde16b", "nchw:600,100,10,1+64", "nwhc", "ab+3"}) {
        const auto layout = parse_layout(name);
        ASSERT_TRUE(layout.ok()) << name;
        EXPECT_EQ(text(*layout), name);
    }
    for (const char* name :
         {"", "nn", "nChw", "nChw16", "nchw:1,2", "nchw+", "nChw99999c", ":", "nChw16c:", "abcd", "ab:1"})
        EXPECT_FALSE(parse_layout(name).ok()) << name;
    EXPECT_FALSE(parse_layout("nchx").ok());
    EXPECT_FALSE(parse_layout("abz").ok());
}

TEST(Format, TextRoundTrips) {
    const Format format{channels_last(4), graph::ElementType::bf16, {Memory::Kind::cuda, 1}};
    EXPECT_EQ(text(format), "nhwc:bf16@cuda:1");
    EXPECT_EQ(*parse_format(text(format)), format);
    EXPECT_FALSE(parse_format("nhwc").ok());
}

TEST(Layout, EveryElementHasItsOwnPlace) {
    Random random(7);
    for (int round = 0; round < 200; ++round) {
        const auto rank = static_cast<std::size_t>(random.between(1, 4));
        graph::Dims dims;
        for (std::size_t d = 0; d < rank; ++d) dims.push_back(random.between(1, 5));
        Layout layout = plain(rank);
        for (std::size_t d = rank; d > 1; --d) std::swap(layout.order[d - 1], layout.order[random.below(d)]);
        if (rank > 1 && random.chance(0.5)) layout.blocks.push_back({1, random.between(2, 4)});
        if (random.chance(0.3)) layout.blocks.push_back({0, 2});
        std::int64_t count = 1;
        for (const std::int64_t d : dims) count *= d;
        std::set<std::int64_t> places;
        for (std::int64_t i = 0; i < count; ++i) {
            graph::Dims position(rank);
            std::int64_t rest = i;
            for (std::size_t d = rank; d-- > 0; rest /= dims[d]) position[d] = rest % dims[d];
            const std::int64_t place = element_offset(layout, dims, position);
            EXPECT_GE(place, 0);
            EXPECT_LT(place, padded_elements(layout, dims));
            places.insert(place);
        }
        EXPECT_EQ(static_cast<std::int64_t>(places.size()), count);
    }
    EXPECT_EQ(element_offset(channels_blocked(4, 16), {1, 32, 2, 2}, {0, 17, 1, 0}), 16 * 4 + 2 * 16 + 1);
}

TEST(Format, HoldsWhatStaysInItsBuffer) {
    const auto holds = [](const char* format, const graph::Dims& dims) {
        const auto parsed = parse_format(format);
        return parsed.ok() && can_hold({graph::ElementType::f32, graph::shape_of(dims)}, *parsed);
    };
    EXPECT_TRUE(holds("nChw8c:f32", {1, 3, 2, 2}));
    EXPECT_TRUE(holds("nChw8c:bf16", {1, 3, 2, 2}));
    EXPECT_TRUE(holds("ab:600,1+88:f32", {4, 512}));
    EXPECT_FALSE(holds("ab:512,-1+511:f32", {4, 512}));
    EXPECT_TRUE(holds("nChw2c2c2c2c:f32", {1, 16, 2, 2}));
    EXPECT_FALSE(holds("nChw1c1c1c1c1c:f32", {1, 16, 2, 2}));  // more levels than kernels know
    EXPECT_TRUE(holds("scalar:f32", {}));
    EXPECT_TRUE(holds("abc:f32", {0, 4, 4}));
    EXPECT_FALSE(holds("ab:f32", {std::int64_t{1} << 32, std::int64_t{1} << 32}));
    EXPECT_FALSE(holds("ab:f32", {4}));
}

// The end of a strided layout with tiles is the end of its last tile.
TEST(Format, BytesReachTheLastElement) {
    const graph::Dims dims{1, 12, 3, 2};
    const Layout dense = channels_blocked(4, 8);
    Layout strided = dense;
    strided.strides = strides_of(dense, dims);
    EXPECT_EQ(buffer_bytes({dense, graph::ElementType::f32, {}}, dims), 2 * 3 * 2 * 8 * 4);
    EXPECT_EQ(buffer_bytes({strided, graph::ElementType::f32, {}}, dims), 2 * 3 * 2 * 8 * 4);
    strided.strides[1] += 5;  // a gap between the two tiles of channels
    strided.offset = 3;
    EXPECT_EQ(buffer_bytes({strided, graph::ElementType::f32, {}}, dims), (2 * 3 * 2 * 8 + 5 + 3) * 4);
}

}  // namespace
}  // namespace viridian::plan
