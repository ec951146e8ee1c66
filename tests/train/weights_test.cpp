#include <gtest/gtest.h>

#include <cmath>

#include "viridian/train/early_stop.hpp"
#include "viridian/train/not_finite.hpp"
#include "viridian/train/weights/moving_average.hpp"

namespace viridian::train {
namespace {

using graph::ElementType;
using graph::Tensor;

std::vector<NamedTensor> weights(std::vector<float> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    return {{"w", Tensor::f32({count}, values)}};
}

TEST(MovingAverage, FollowsTheWeights) {
    MovingAverage plain(0.75, false);
    ASSERT_TRUE(plain.update(weights({4, 8})).ok());
    ASSERT_TRUE(plain.update(weights({0, 8})).ok());
    ASSERT_TRUE(plain.update(weights({7, 12})).ok());
    EXPECT_EQ(plain.averages()[0].tensor.number(0), 4.0);  // 0.75·(0.75·4 + 0.25·0) + 0.25·7
    EXPECT_EQ(plain.averages()[0].tensor.number(1), 9.0);
    // With warm-up the decays are 1/10 and 2/11.
    MovingAverage warm(0.999);
    for (const float value : {1.0F, 11.0F, 21.0F}) ASSERT_TRUE(warm.update(weights({value})).ok());
    EXPECT_NEAR(warm.averages()[0].tensor.number(0), 2.0 / 11 * 10 + 9.0 / 11 * 21, 1e-5);
    MovingAverage resumed(0.999);
    resumed.restore(warm.averages(), warm.updates());
    ASSERT_TRUE(resumed.update(weights({3})).ok());
    ASSERT_TRUE(warm.update(weights({3})).ok());
    EXPECT_TRUE(resumed.averages()[0].tensor.same_bytes(warm.averages()[0].tensor));
    EXPECT_EQ(warm.update(weights({3, 4})).error().code, ErrorCode::mismatch);
    EXPECT_EQ(warm.update({}).error().code, ErrorCode::mismatch);
}

TEST(MovingAverage, KeepsSmallTypesInFloat) {
    Tensor half(ElementType::bf16, {1}), count = Tensor::scalar(std::int64_t{1});
    half.mutable_values<std::uint16_t>()[0] = graph::to_bfloat16(1);
    MovingAverage average(0.999, false);
    ASSERT_TRUE(average.update(std::vector<NamedTensor>{{"h", half}, {"n", count}}).ok());
    half.mutable_values<std::uint16_t>()[0] = graph::to_bfloat16(2);
    ASSERT_TRUE(
        average.update(std::vector<NamedTensor>{{"h", half}, {"n", Tensor::scalar(std::int64_t{5})}}).ok());
    EXPECT_EQ(average.averages()[0].tensor.type(), ElementType::f32);
    EXPECT_NEAR(average.averages()[0].tensor.number(0), 1.001, 1e-6);
    EXPECT_EQ(average.averages()[1].tensor.integer(0), 5);
}

TEST(EarlyStop, WaitsForItsPatience) {
    EarlyStop stop{.patience = 2, .least_gain = 0.1, .lower_is_better = true};
    EXPECT_FALSE(stop.update(1.0));
    EXPECT_FALSE(stop.update(0.95));  // less than 0.1 better
    EXPECT_FALSE(stop.update(0.85));  // against the best, 1.0
    EXPECT_FALSE(stop.update(std::nan("")));
    EXPECT_EQ(stop.waited, 1);
    EXPECT_TRUE(stop.update(0.9));
    EXPECT_EQ(stop.best, 0.85);
    EarlyStop up{.patience = 1, .lower_is_better = false};
    EXPECT_FALSE(up.update(0.5));
    EXPECT_FALSE(up.update(0.6));
    EXPECT_TRUE(up.update(0.6));
    EarlyStop lost{.patience = 2};
    EXPECT_FALSE(lost.update(std::nan("")));
    EXPECT_TRUE(lost.update(std::nan("")));
}

TEST(NotFinite, IsFoundInEveryTypeAndPlace) {
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<NamedTensor> tensors = {{"counter", Tensor::scalar(std::int64_t{0x7fffffffffffffff})},
                                        {"good", Tensor(ElementType::f32, {3000})},
                                        {"large", Tensor::f32({2}, std::array<float, 2>{3.4e38F, -1e-45F})}};
    EXPECT_FALSE(first_not_finite(tensors).has_value());
    for (const std::int64_t place : {0, 1023, 1024, 2999}) {
        Tensor bad(ElementType::f32, {3000});
        bad.mutable_values<float>()[static_cast<std::size_t>(place)] = -inf;
        auto more = tensors;
        more.push_back({"bad", bad});
        more.push_back({"later", Tensor::scalar(inf)});
        const auto found = first_not_finite(more);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(found->text(), fmt::format("`bad` holds -inf at element {}", place));
    }
    Tensor half(ElementType::f16, {2}), brain(ElementType::bf16, {2}), wide(ElementType::f64, {2});
    half.mutable_values<std::uint16_t>()[1] = 0x7e00;
    brain.mutable_values<std::uint16_t>()[1] = 0xff80;
    wide.mutable_values<double>()[1] = std::nan("");
    EXPECT_EQ(first_not_finite(std::vector<NamedTensor>{{"h", half}})->text(), "`h` holds nan at element 1");
    EXPECT_EQ(first_not_finite(std::vector<NamedTensor>{{"b", brain}})->text(),
              "`b` holds -inf at element 1");
    EXPECT_EQ(first_not_finite(std::vector<NamedTensor>{{"d", wide}})->index, 1);
    half.mutable_values<std::uint16_t>()[1] = 0x7bff;  // 65504, the largest f16
    EXPECT_FALSE(first_not_finite(std::vector<NamedTensor>{{"h", half}}).has_value());
}

}  // namespace
}  // namespace viridian::train
