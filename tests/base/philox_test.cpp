#include "viridian/base/random/philox.hpp"

#include <gtest/gtest.h>

namespace viridian {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known answers that the authors distribute with their code (Random123, kat_vectors: philox4x32 10).
TEST(Philox, KnownAnswers) {
    EXPECT_EQ(philox4x32({}, {}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t ones = 0xffffffff;
    EXPECT_EQ(philox4x32({ones, ones, ones, ones}, {ones, ones}),
              (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, WordsBecomeNumbersInTheirRange) {
    EXPECT_EQ(philox_key(0x0123456789abcdefU), (PhiloxKey{0x89abcdef, 0x01234567}));
    EXPECT_EQ(philox_below(0, 9), 0U);
    EXPECT_EQ(philox_below(0xffffffff, 9), 8U);
    EXPECT_EQ(philox_below(0x80000000, 10), 5U);
    EXPECT_EQ(philox_uniform(0), 0.0);
    EXPECT_EQ(philox_uniform(0x80000000), 0.5);
    EXPECT_LT(philox_uniform(0xffffffff), 1.0);
}

}  // namespace
}  // namespace viridian
