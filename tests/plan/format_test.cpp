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

}  // namespace
}  // namespace viridian::plan
