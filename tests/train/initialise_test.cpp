#include "viridian/train/weights/initialise.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace viridian::train {
namespace {

using graph::ElementType;
using graph::Tensor;

struct Moments {
    double mean = 0, deviation = 0, largest = 0, fourth = 0;  // fourth: kurtosis, 3 if normal, 1.8 if uniform
};
Moments moments_of(const Tensor& tensor) {
    Moments m;
    const auto n = static_cast<double>(tensor.count());
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
        m.mean += tensor.number(i) / n;
        m.largest = std::max(m.largest, std::abs(tensor.number(i)));
    }
    double second = 0;
    for (std::int64_t i = 0; i < tensor.count(); ++i) {
        const double d = tensor.number(i) - m.mean;
        second += d * d / n;
        m.fourth += d * d * d * d / n;
    }
    m.deviation = std::sqrt(second);
    m.fourth /= second * second;
    return m;
}

Tensor drawn(std::string_view drawing, const ParameterShape& shape, std::uint64_t seed = 1,
             std::string_view name = "w") {
    return draw(parse_drawing(drawing).value(), seed, name, shape).value();
}

// 40,000 numbers: their mean is within 4 % of the deviation of 0, the deviation within 3 % (many standard
// errors).
void expect_spread(const Tensor& tensor, double deviation, bool normal) {
    const Moments m = moments_of(tensor);
    EXPECT_LT(std::abs(m.mean), 0.04 * deviation);
    EXPECT_NEAR(m.deviation, deviation, 0.03 * deviation);
    EXPECT_NEAR(m.fourth, normal ? 3 : 1.8, normal ? 0.3 : 0.1);
    EXPECT_LE(m.largest, normal ? 6 * deviation : std::sqrt(3.0) * deviation * (1 + 1e-6));
}

TEST(Initialise, CountsFansAsTorchDoes) {
    const auto fans = [](Part part, const graph::Dims& dims) {
        const Fans f = fans_of(part, dims).value();
        return std::pair(f.in, f.out);
    };
    EXPECT_EQ(fans(Part::linear, {10, 20}), (std::pair<std::int64_t, std::int64_t>(20, 10)));
    EXPECT_EQ(fans(Part::matrix, {20, 10}), (std::pair<std::int64_t, std::int64_t>(20, 10)));
    EXPECT_EQ(fans(Part::matrix, {7, 20, 10}), (std::pair<std::int64_t, std::int64_t>(20, 10)));
    EXPECT_EQ(fans(Part::convolution, {8, 4, 3, 5}), (std::pair<std::int64_t, std::int64_t>(60, 120)));
    EXPECT_EQ(fans(Part::transposed_convolution, {8, 4, 3, 5}),
              (std::pair<std::int64_t, std::int64_t>(60, 120)));
    EXPECT_FALSE(fans_of(Part::linear, {10}).has_value());
    EXPECT_FALSE(fans_of(Part::embedding, {10, 3}).has_value());
}

TEST(Initialise, DrawsWithTheDeviationOfEachRule) {
    const ParameterShape linear = {.part = Part::linear, .dims = {100, 400}};
    const ParameterShape filters = {.part = Part::convolution, .dims = {50, 32, 5, 5}};
    expect_spread(drawn("pytorch", linear), 1 / std::sqrt(3.0 * 400), false);
    expect_spread(drawn("pytorch", filters), 1 / std::sqrt(3.0 * 800), false);
    expect_spread(drawn("kaiming-uniform", linear), std::sqrt(2.0 / 400), false);
    expect_spread(drawn("kaiming-normal", filters), std::sqrt(2.0 / 800), true);
    expect_spread(drawn("xavier-uniform", linear), std::sqrt(2.0 / 500), false);
    expect_spread(drawn("xavier-normal", linear), std::sqrt(2.0 / 500), true);
    expect_spread(drawn("normal", linear), 0.02, true);
    expect_spread(drawn("normal:std=0.5", linear), 0.5, true);
    const ParameterShape table = {.part = Part::embedding, .dims = {400, 100}};
    expect_spread(drawn("pytorch", table), 1, true);
    expect_spread(drawn("xavier-normal", table), 1, true);
    expect_spread(drawn("normal", table), 0.02, true);
    const ParameterShape bias = {.part = Part::bias, .dims = {40'000}, .fan_in = 25};
    expect_spread(drawn("pytorch", bias), 0.2 / std::sqrt(3.0), false);
    EXPECT_EQ(moments_of(drawn("kaiming-normal", bias)).largest, 0);
}

TEST(Initialise, ScalesAreOneAndShiftsZero) {
    for (const std::string_view drawing : {"pytorch", "kaiming-uniform", "normal"}) {
        const Tensor scale = drawn(drawing, {.part = Part::scale, .dims = {3}});
        const Tensor shift = drawn(drawing, {.part = Part::shift, .dims = {3}});
        for (std::int64_t i = 0; i < 3; ++i) {
            EXPECT_EQ(scale.number(i), 1);
            EXPECT_EQ(shift.number(i), 0);
        }
    }
}

TEST(Initialise, DependsOnSeedAndNameAlone) {
    const ParameterShape shape = {.part = Part::linear, .dims = {3, 4}};
    EXPECT_TRUE(drawn("pytorch", shape).same_bytes(drawn("pytorch", shape)));
    EXPECT_FALSE(drawn("pytorch", shape).same_bytes(drawn("pytorch", shape, 2)));
    EXPECT_FALSE(drawn("pytorch", shape).same_bytes(drawn("pytorch", shape, 1, "v")));
    // A narrower type holds the same numbers, rounded.
    const Tensor wide = drawn("normal", {.part = Part::linear, .type = ElementType::f64, .dims = {3, 4}});
    const Tensor half = drawn("normal", {.part = Part::linear, .type = ElementType::f16, .dims = {3, 4}});
    const Tensor brain = drawn("normal", {.part = Part::linear, .type = ElementType::bf16, .dims = {3, 4}});
    for (std::int64_t i = 0; i < 12; ++i) {
        EXPECT_NEAR(half.number(i), wide.number(i), 1e-4);
        EXPECT_NEAR(brain.number(i), wide.number(i), 1e-3);
    }
}

TEST(Initialise, RefusesWhatCannotBeDrawn) {
    const auto error = [](const ParameterShape& shape) { return draw({}, 1, "w", shape).error(); };
    EXPECT_EQ(error({.part = Part::linear, .type = ElementType::i64, .dims = {2, 2}}).message,
              "`w` holds i64 and cannot be drawn");
    EXPECT_EQ(error({.part = Part::linear, .dims = {2}}).text(),
              "the weight `w` has 1 dimension and needs at least two. draw it as a bias.");
    EXPECT_EQ(error({.part = Part::linear, .dims = {1 << 30, 1 << 30}}).code, ErrorCode::limit_exceeded);
    EXPECT_EQ(drawn("pytorch", {.part = Part::linear, .dims = {5, 0}}).count(), 0);
    for (const std::string_view bad : {"", "torch", "normal:", "normal:std=", "normal:std=-1",
                                       "normal:std=nan", "pytorch:std=1", "normal:std=1x"})
        EXPECT_EQ(parse_drawing(bad).error().code, ErrorCode::invalid_argument) << bad;
}

}  // namespace
}  // namespace viridian::train
