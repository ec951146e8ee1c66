// DropoutMask: its generator, its meaning in standard operators, its numbers, and what is refused.
#include "viridian/graph/operators/training/dropout_mask.hpp"

#include <cmath>

#include "operator_support.hpp"
#include "viridian/base/random.hpp"
#include "viridian/graph/verify.hpp"

namespace viridian::graph {
namespace {

// Salmon et al., SC 2011: the answers that their library is tested with (Random123, kat_vectors).
TEST(Philox, KnownAnswers) {
    using Words = std::array<std::uint32_t, 4>;
    EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint32_t all = 0xffffffff;
    EXPECT_EQ(philox4x32({all, all, all, all}, {all, all}),
              (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

Tensor one_number(std::int64_t value) { return Tensor::scalar(value); }

std::vector<Tensor> mask_inputs(const MaskNumbers& numbers, const Tensor& ratio, const Dims& dims) {
    return {one_number(numbers.seed), one_number(numbers.step), one_number(numbers.first_sample), ratio,
            integers({static_cast<std::int64_t>(dims.size())}, dims)};
}

Tensor mask_of(const MaskNumbers& numbers, float ratio, const Dims& dims) {
    const auto outputs = run_operator("DropoutMask", mask_inputs(numbers, Tensor::scalar(ratio), dims),
                                      {{"stream", numbers.stream}}, 1, "viridian");
    EXPECT_TRUE(outputs.ok()) << outputs.error().text();
    return outputs.ok() ? (*outputs)[0] : Tensor();
}

// The words of the first known answer: a ratio keeps those that are at least ratio · 2^32.
TEST(DropoutMask, KeepsTheGreaterWords) {
    EXPECT_EQ(mask_of({}, 0.5F, {1, 4}).integers(), (Dims{0, 1, 1, 1}));  // 6…, e…, b…, 9…
    EXPECT_EQ(mask_of({}, 0.7F, {1, 4}).integers(), (Dims{0, 1, 1, 0}));  // b3333…
    EXPECT_EQ(mask_of({}, 0.25F, {1, 3}).integers(), (Dims{1, 1, 1}));
    EXPECT_EQ(mask_of({}, 0.5F, {}).integers(), (Dims{0}));
    EXPECT_EQ(mask_of({}, 0, {2, 3}).integers(), (Dims{1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(mask_of({}, 1, {2, 3}).integers(), (Dims{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(mask_of({}, -3, {1}).integers(), (Dims{1}));
    EXPECT_EQ(mask_of({}, 7, {1}).integers(), (Dims{0}));
    EXPECT_EQ(mask_of({}, std::nanf(""), {1}).integers(), (Dims{1}));
    EXPECT_EQ(mask_of({}, 0.5F, {0, 3}).count(), 0);
}

// Each number has its place in the key or the counter.
TEST(DropoutMask, LaysOutKeyAndCounter) {
    const MaskNumbers numbers = {.seed = 0x0123456789abcdef, .stream = 5, .step = 77, .first_sample = 1000};
    const Tensor mask = mask_of(numbers, 0.5F, {3, 2, 5});
    for (std::int64_t s = 0; s < 3; ++s)
        for (std::int64_t e = 0; e < 10; ++e) {
            const auto words = philox4x32(
                {static_cast<std::uint32_t>(e / 4), static_cast<std::uint32_t>(1000 + s), 77, 0x01234567},
                {0x89abcdef, 5});
            EXPECT_EQ(mask.integer(s * 10 + e), words[static_cast<std::size_t>(e % 4)] >> 31U) << s << e;
        }
}

// A sample draws the same in every batch that holds it.
TEST(DropoutMask, BelongsToSamples) {
    const Tensor whole = mask_of({.seed = 3, .step = 2, .first_sample = 40}, 0.3F, {6, 7});
    for (std::int64_t first = 0; first < 6; first += 2) {
        const Tensor part = mask_of({.seed = 3, .step = 2, .first_sample = 40 + first}, 0.3F, {2, 7});
        for (std::int64_t i = 0; i < 14; ++i) EXPECT_EQ(part.integer(i), whole.integer(first * 7 + i));
    }
}

// The meaning, evaluated operator by operator, gives the same bits on random shapes and numbers.
TEST(DropoutMask, MeansItsBody) {
    Random random(8);
    const auto some = [&]() -> std::int64_t {
        const std::int64_t numbers[] = {0, 1, -1, random.between(-1000, 1000),
                                        static_cast<std::int64_t>(random.next())};
        return numbers[random.below(5)];
    };
    for (int round = 0; round < 60; ++round) {
        const MaskNumbers numbers = {
            .seed = some(), .stream = some(), .step = some(), .first_sample = random.between(-5, 5000)};
        Dims dims(random.below(5));
        for (std::int64_t& d : dims) d = random.between(random.chance(0.1) ? 0 : 1, 7);
        double ratio = random.uniform(-0.1, 1.1);
        if (random.chance(0.3)) ratio = std::round(ratio * 4) / 4;
        const bool wide = random.chance(0.3);
        const Tensor given = wide ? Tensor::of<double>(ElementType::f64, {}, std::span(&ratio, 1))
                                  : Tensor::scalar(static_cast<float>(ratio));
        const auto inputs = mask_inputs(numbers, given, dims);
        const Attributes attributes = {{"stream", numbers.stream}};
        const auto fast = run_operator("DropoutMask", inputs, attributes, 1, "viridian");
        ASSERT_TRUE(fast.ok()) << fast.error().text();

        Node node;
        node.op = op::DropoutMask;
        node.attributes = attributes;
        std::vector<TensorType> types;
        for (const Tensor& input : inputs) types.push_back(input.tensor_type());
        Graph body = *meaning_of_dropout_mask(node, types);
        ASSERT_TRUE(infer_types(body).ok());
        EXPECT_TRUE(verify(body).ok());
        const auto slow = evaluate(body, inputs);
        ASSERT_TRUE(slow.ok()) << slow.error().text();
        EXPECT_TRUE((*slow)[0].same_bytes((*fast)[0])) << "round " << round;
    }
}

double mean_of(const Tensor& mask) {
    double sum = 0;
    for (const bool kept : mask.values<bool>()) sum += kept ? 1 : 0;
    return sum / static_cast<double>(mask.count());
}

// 4.5 standard deviations of the mean of n draws: one of 147,000 sound generators would fail.
double bound(double variance, std::int64_t n) { return 4.5 * std::sqrt(variance / static_cast<double>(n)); }

TEST(DropoutMask, DropsAsManyAsItsRatioSays) {
    EXPECT_EQ(mean_of(mask_of({.seed = 1}, 0, {100, 1000})), 1);
    for (const double ratio : {0.1, 0.5, 0.9})
        for (const std::int64_t seed : {1, 2, 3}) {
            const Tensor mask = mask_of({.seed = seed}, static_cast<float>(ratio), {100, 1001});
            EXPECT_NEAR(mean_of(mask), 1 - ratio, bound(ratio * (1 - ratio), mask.count()));
        }
}

// Correlation of two masks of ratio 1/2, or of a mask with itself moved by `lag` elements.
double correlation(const Tensor& a, const Tensor& b, std::int64_t lag = 0) {
    double sum = 0;
    const auto x = a.values<bool>(), y = b.values<bool>();
    const std::size_t n = x.size() - static_cast<std::size_t>(lag);
    for (std::size_t i = 0; i < n; ++i)
        sum += (x[i] ? 0.5 : -0.5) * (y[i + static_cast<std::size_t>(lag)] ? 0.5 : -0.5);
    return 4 * sum / static_cast<double>(n);
}

TEST(DropoutMask, NumbersThatDifferGiveMasksThatAreIndependent) {
    const Dims dims = {50, 1000};
    const MaskNumbers base = {.seed = 9, .stream = 1, .step = 4, .first_sample = 64};
    const Tensor mask = mask_of(base, 0.5F, dims);
    EXPECT_EQ(correlation(mask, mask), 1);
    const double most = bound(1, mask.count());
    for (const std::int64_t other : {1, 2, 3, 256}) {
        MaskNumbers changed[] = {base, base, base, base, base};
        changed[0].seed += other;
        changed[1].seed += other << 32;
        changed[2].stream += other;
        changed[3].step += other;
        changed[4].first_sample += 50 * other;
        for (const MaskNumbers& numbers : changed)
            EXPECT_LT(std::abs(correlation(mask, mask_of(numbers, 0.5F, dims))), most);
    }
    for (const std::int64_t lag : {1, 2, 3, 4, 5, 8, 1000})
        EXPECT_LT(std::abs(correlation(mask, mask, lag)), most);
}

TEST(DropoutMask, InfersItsShape) {
    Graph g;
    const TensorType number{ElementType::i64, Shape{}};
    const ValueId seed = g.add_input("seed", number),
                  x = g.add_input("x", {ElementType::f32, Shape{Dimension("N"), 3}});
    const ValueId ratio = g.add_constant("ratio", Tensor::scalar(0.1F));
    const ValueId shape = g.add(op::Shape, {x});
    const ValueId mask = g.add(op::DropoutMask, {seed, seed, seed, ratio, shape});
    g.set_outputs({mask});
    ASSERT_TRUE(infer_types(g).ok());
    EXPECT_EQ(g.value(mask).type.element, ElementType::boolean);
    ASSERT_TRUE(g.value(mask).type.shape);
    EXPECT_EQ(g.value(mask).type.shape->size(), 2U);
}

TEST(DropoutMask, RefusesOtherTypes) {
    const auto code = [](std::size_t i, const Tensor& other) {
        auto inputs = mask_inputs({}, Tensor::scalar(0.5F), {2, 2});
        inputs[i] = other;
        return run_operator("DropoutMask", inputs, {}, 1, "viridian").error().code;
    };
    for (const std::size_t i : {0, 1, 2, 4}) EXPECT_EQ(code(i, Tensor::scalar(1.0F)), ErrorCode::mismatch);
    EXPECT_EQ(code(0, integers({1}, {1})), ErrorCode::mismatch) << "a vector is no seed";
    EXPECT_EQ(code(3, one_number(1)), ErrorCode::mismatch);
    EXPECT_EQ(code(4, one_number(1)), ErrorCode::mismatch) << "a number is no shape";
    EXPECT_FALSE(
        run_operator("DropoutMask", mask_inputs({}, Tensor::scalar(0.5F), {-2}), {}, 1, "viridian").ok());
}

}  // namespace
}  // namespace viridian::graph
