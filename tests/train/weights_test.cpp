#include <gtest/gtest.h>

#include <cmath>

#include "viridian/train/early_stop.hpp"
#include "viridian/train/not_finite.hpp"
#include "viridian/train/weights/decay.hpp"
#include "viridian/train/weights/moving_average.hpp"
#include "viridian/train/weights/pattern.hpp"

namespace viridian::train {
namespace {

using graph::ElementType;
using graph::Tensor;

// The slow meaning of a pattern: every star is tried with every length. For patterns without sets.
bool matches_slowly(std::string_view pattern, std::string_view name) {
    if (pattern.empty()) return name.empty();
    if (pattern[0] == '*')
        return matches_slowly(pattern.substr(1), name) ||
               (!name.empty() && matches_slowly(pattern, name.substr(1)));
    return !name.empty() && (pattern[0] == '?' || pattern[0] == name[0]) &&
           matches_slowly(pattern.substr(1), name.substr(1));
}

TEST(Pattern, AgreesWithTheSlowMeaningOnAllShortOnes) {
    const std::string_view letters = "ab*?";
    const auto text_of = [&](int number, int length, int base) {
        std::string text;
        for (int i = 0; i < length; ++i, number /= base)
            text += letters[static_cast<std::size_t>(number % base)];
        return text;
    };
    int matched = 0;
    for (int length = 1; length <= 5; ++length)
        for (int p = 0; p < 1 << (2 * length); ++p)
            for (int size = 0; size <= 4; ++size)
                for (int n = 0; n < 1 << size; ++n) {
                    const std::string pattern = text_of(p, length, 4), name = text_of(n, size, 2);
                    const bool wanted = matches_slowly(pattern, name);
                    ASSERT_EQ(matches(pattern, name), wanted) << pattern << " " << name;
                    matched += wanted ? 1 : 0;
                }
    EXPECT_GT(matched, 1000);
}

TEST(Pattern, SetsStandForOneCharacter) {
    EXPECT_TRUE(matches("layer[0-3].*", "layer2.weight"));
    EXPECT_FALSE(matches("layer[0-3].*", "layer4.weight"));
    EXPECT_TRUE(matches("layer[!0-3].*", "layer4.weight"));
    EXPECT_FALSE(matches("layer[!0-3].*", "layer.weight"));
    EXPECT_TRUE(matches("[]]", "]"));
    EXPECT_TRUE(matches("[!]]", "a"));
    EXPECT_FALSE(matches("[!]]", "]"));
    EXPECT_TRUE(matches("[a-]", "-"));
    EXPECT_TRUE(matches("*[.]bias", "encoder/fc.bias"));
    for (const std::string_view good : {"a", "*", "[a]", "[]]", "]", "a-b", "[!a]"})
        EXPECT_TRUE(check_pattern(good).ok());
    for (const std::string_view bad : {"", "[", "a[", "[]", "[!]", "[a", "x[!"})
        EXPECT_FALSE(check_pattern(bad).ok());
}

TEST(Pattern, TheLastRuleThatMatchesDecidesWhatIsTrained) {
    const std::vector<std::string> names = {"body.0.weight", "body.0.bias", "head.weight", "head.bias"};
    const auto which = [&](std::vector<TrainRule> rules) { return trained(names, rules); };
    EXPECT_EQ(*which({}), (std::vector<bool>{true, true, true, true}));
    EXPECT_EQ(*which({{"head.*", true}}), (std::vector<bool>{false, false, true, true}));
    EXPECT_EQ(*which({{"body.*", false}, {"*.bias", true}}), (std::vector<bool>{false, true, true, true}));
    EXPECT_EQ(
        which({{"tail.*", true}}).error().text(),
        "no parameter matches `tail.*`. the parameters are `body.0.weight`, `body.0.bias`, `head.weight`, "
        "`head.bias`.");
    EXPECT_EQ(which({{"*", false}}).error().message, "no parameter is left to train");
    EXPECT_EQ(which({{"[", false}}).error().message, "`[` is not a pattern of names");
}

TEST(Decay, LeavesBiasesAndNormalisationsAlone) {
    const auto none = [](std::string_view name, std::int64_t rank) {
        const Decay decay = decay_of(name, rank, 0.1, {});
        EXPECT_TRUE(decay.value == 0 || decay.value == 0.1);
        return decay.value == 0 ? decay.reason : "decays";
    };
    EXPECT_EQ(none("fc.weight", 2), "decays");
    EXPECT_EQ(none("conv.weight", 4), "decays");
    EXPECT_EQ(none("normalizer.weight", 2), "decays");
    EXPECT_EQ(none("normal.weight", 2), "decays");
    EXPECT_EQ(none("bottleneck/lnot", 2), "decays");
    EXPECT_EQ(none("onnx::MatMul_12", 2), "decays");
    EXPECT_EQ(none("onnx::Add_13", 1), "it has 1 dimension");
    EXPECT_EQ(none("temperature", 0), "it has no dimension");
    EXPECT_EQ(none("attention.relative_position.bias", 2), "its name ends in `bias`");
    EXPECT_EQ(none("a/LayerNorm.weight", 3), "`layernorm` in its name is a normalisation");
    EXPECT_EQ(none("h.0.ln_1.weight", 1), "`ln_1` in its name is a normalisation");
    EXPECT_EQ(none("layer1.bn2.weight", 1), "`bn2` in its name is a normalisation");
    EXPECT_EQ(none("norm.weight", 2), "`norm` in its name is a normalisation");
}

TEST(Decay, TheLastRuleThatMatchesDecides) {
    const std::vector<DecayRule> rules = {parse_decay_rule("*.bias=0.5").value(),
                                          parse_decay_rule("head.*=0").value()};
    EXPECT_EQ(decay_of("fc.bias", 1, 0.1, rules).value, 0.5);
    EXPECT_EQ(decay_of("fc.bias", 1, 0.1, rules).reason, "`*.bias` matches it");
    EXPECT_EQ(decay_of("head.bias", 1, 0.1, rules).value, 0);
    EXPECT_EQ(decay_of("head.weight", 2, 0.1, rules).value, 0);
    EXPECT_EQ(decay_of("fc.weight", 2, 0.1, rules).value, 0.1);
    EXPECT_EQ(parse_decay_rule("a=b=1e-4")->pattern, "a=b");
    for (const std::string_view bad : {"", "x", "=1", "x=", "x=-1", "x=inf", "x=1e", "[=1"})
        EXPECT_EQ(parse_decay_rule(bad).error().code, ErrorCode::invalid_argument) << bad;
}

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
