#include "viridian/data/convert.hpp"

#include "files.hpp"

namespace viridian::data {
namespace {

using graph::ElementType;
using graph::Tensor;
using tests::error_of;

constexpr ElementType types[] = {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16,
                                 ElementType::i64, ElementType::i32, ElementType::i16, ElementType::i8,
                                 ElementType::u64, ElementType::u32, ElementType::u16, ElementType::u8};

TEST(Convert, EveryPairOfTypesKeepsSmallNumbers) {
    const Tensor source = Tensor::i64({2, 75}, [] {
        std::vector<std::int64_t> numbers(150);
        for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i % 120);
        return numbers;
    }());
    for (const ElementType from : types) {
        const auto values = convert(source, from, {}, "x");
        ASSERT_TRUE(values.ok()) << error_of(values);
        ASSERT_EQ(values->type(), from);
        for (const ElementType to : types) {
            ASSERT_EQ(convertible(from, to), graph::is_floating(to) || !graph::is_floating(from));
            if (!convertible(from, to)) continue;
            const auto converted = convert(*values, to, {}, "x");
            ASSERT_TRUE(converted.ok()) << error_of(converted);
            for (std::int64_t i = 0; i < 150; ++i)
                ASSERT_EQ(converted->number(i), static_cast<double>(i % 120));
        }
    }
}

TEST(Convert, ValuesThatATypeCannotHoldAreRefused) {
    const Tensor wide = Tensor::i64({3}, std::vector<std::int64_t>{1, 300, -1});
    EXPECT_EQ(error_of(convert(wide, ElementType::u8, {}, "y")),
              "the column `y` holds the value 300, which the type u8 cannot hold; correct the value, or "
              "declare the "
              "input as i64");
    EXPECT_FALSE(convert(wide, ElementType::u64, {}, "y").ok());
    EXPECT_TRUE(convert(wide, ElementType::i16, {}, "y").ok());
}

TEST(Convert, EveryChannelHasItsOwnFactorAndOffset) {
    const Tensor source = Tensor::f32({2, 2, 2}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
    const auto result = convert(source, ElementType::f32, {{10, 100}, {1, 2}}, "x");
    EXPECT_TRUE(
        result->same_bytes(Tensor::f32({2, 2, 2}, std::vector<float>{1, 11, 202, 302, 41, 51, 602, 702})));
    const auto half = convert(source, ElementType::f16, {{0.5}, {0}}, "x");
    EXPECT_EQ(half->number(7), 3.5);
}

}  // namespace
}  // namespace viridian::data
