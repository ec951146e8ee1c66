#include "viridian/train/loop/stacked_states.hpp"

#include <gmock/gmock.h>

namespace viridian::train {
namespace {

using graph::Dims;
using graph::ElementType;
using graph::Tensor;
using testing::ElementsAre;
using testing::HasSubstr;

StackedStates states() {
    return StackedStates({{"a+b", 1, {{"a", 2}, {"b", 3}}}, {"c+d", 0, {{"c", 1}, {"d", 1}}}});
}

TEST(StackedStates, HoldersAreNamedOnce) {
    const std::vector<std::string> names = {"b", "x", "a", "d"};
    EXPECT_THAT(states().holders(names), ElementsAre("a+b", "x", "c+d"));
}

TEST(StackedStates, PartsComeInTheAskedOrder) {
    const std::vector<std::string> names = {"b", "x", "a"};
    const std::vector<float> whole = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    const std::vector<float> one = {7};
    const std::vector<NamedTensor> parts =
        states().parts({{"a+b", Tensor::f32({2, 5}, whole)}, {"x", Tensor::f32({1}, one)}}, names);
    ASSERT_EQ(parts.size(), 3U);
    EXPECT_EQ(parts[0].name, "b");
    EXPECT_THAT(parts[0].tensor.values<float>(), ElementsAre(2, 3, 4, 7, 8, 9));
    EXPECT_THAT(parts[1].tensor.values<float>(), ElementsAre(7));
    EXPECT_THAT(parts[2].tensor.values<float>(), ElementsAre(0, 1, 5, 6));
}

TEST(StackedStates, AllPartsMakeAState) {
    Tensors tensors = {{"a", Tensor(ElementType::f32, {4, 2})},
                       {"b", Tensor(ElementType::f32, {4, 3})},
                       {"c", Tensor(ElementType::f32, {1})}};
    const auto joined = states().joined(tensors);
    ASSERT_TRUE(joined.ok()) << joined.error().text();
    EXPECT_EQ(joined->at("a+b").dims(), (Dims{4, 5}));
    EXPECT_FALSE(joined->contains("c+d"));
}

// Sizes in a checkpoint are only words of a file.
TEST(StackedStates, PartsOfOtherSizesAreRefused) {
    const Tensor a(ElementType::f32, {4, 2}), b(ElementType::f32, {4, 3});
    for (const auto& [one, other] :
         {std::pair{a, Tensor(ElementType::f32, {8, 3})}, std::pair{a, Tensor(ElementType::f64, {4, 3})},
          std::pair{b, a}, std::pair{a, Tensor(ElementType::f32, {3})},
          std::pair{Tensor(ElementType::f32, {2}), b}}) {
        const auto joined = states().joined({{"a", one}, {"b", other}});
        ASSERT_FALSE(joined.ok());
        EXPECT_THAT(joined.error().text(), HasSubstr("which does not fit the model"));
    }
}

}  // namespace
}  // namespace viridian::train
