#include "viridian/train/metric/metric.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "viridian/base/random.hpp"

namespace viridian::train {
namespace {

using graph::ElementType;
using graph::Tensor;

Tensor f32(graph::Dims dims, std::vector<float> values) { return Tensor::f32(std::move(dims), values); }
Tensor i64(graph::Dims dims, std::vector<std::int64_t> values) {
    return Tensor::i64(std::move(dims), values);
}

double value_of(std::string_view name, const Tensor& outputs, const Tensor& labels,
                const Counted& counted = {}) {
    Metric metric = parse_metric(name).value();
    const auto added = metric.add(outputs, labels, counted);
    EXPECT_TRUE(added.ok()) << added.error().text();
    return metric.value().value();
}

const Tensor scores = f32({4, 3}, {1, 5, 2,  //
                                   3, 2, 1,  //
                                   0, 0, 0,  //
                                   -1, 4, 6});

TEST(Metric, TopKCountsLabelsAmongTheHighestScores) {
    const Tensor labels = i64({4}, {1, 2, 0, 1});
    EXPECT_EQ(value_of("top-1", scores, labels), 0.5);  // equal scores: the lower class is first
    EXPECT_EQ(value_of("top-2", scores, labels), 0.75);
    EXPECT_EQ(value_of("top-5", scores, labels), 1);
    EXPECT_EQ(value_of("top-1", scores, i64({4}, {1, 2, 1, 1})), 0.25);
    EXPECT_EQ(value_of("top-2", scores, i64({4, 1}, {1, 2, 1, 1})), 0.75);
    const float nan = std::nanf("");
    EXPECT_EQ(value_of("top-1", f32({2, 2}, {nan, 1, 0, nan}), i64({2}, {1, 0})), 0);
}

// Labels 0 0 1 1 2 2 2, predictions 0 1 1 1 2 0 0: scikit-learn's f1_score gives the same three values.
TEST(Metric, F1IsThatOfScikitLearn) {
    std::vector<float> one_hot;
    for (const int predicted : {0, 1, 1, 1, 2, 0, 0})
        for (int c = 0; c < 4; ++c) one_hot.push_back(c == predicted ? 1.0F : 0.0F);
    const Tensor outputs = f32({7, 4}, one_hot);
    const Tensor labels = i64({7}, {0, 0, 1, 1, 2, 2, 2});
    // Class 0: TP 1, FP 2, FN 1. Class 1: TP 2, FP 1, FN 0. Class 2: TP 1, FP 0, FN 2. Class 3 does not
    // occur.
    EXPECT_DOUBLE_EQ(value_of("f1:macro", outputs, labels), (2.0 / 5 + 4.0 / 5 + 2.0 / 4) / 3);
    EXPECT_DOUBLE_EQ(value_of("f1:micro", outputs, labels), 4.0 / 7);
    const Tensor binary_labels = i64({5}, {1, 1, 0, 0, 1});
    EXPECT_DOUBLE_EQ(value_of("f1:binary", f32({5}, {1, -1, 2, -3, 4}), binary_labels), 4.0 / 6);
    EXPECT_DOUBLE_EQ(value_of("f1:binary", f32({5, 1}, {1, -1, 2, -3, 4}), binary_labels), 4.0 / 6);
    EXPECT_DOUBLE_EQ(value_of("f1:binary", f32({5, 2}, {0, 1, 0, -1, 0, 2, 0, -3, 0, 4}), binary_labels),
                     4.0 / 6);
    EXPECT_EQ(value_of("f1:binary", f32({2}, {-1, -1}), i64({2}, {0, 0})), 0);
}

TEST(Metric, AccuracyIsOfLogitsOrOfClasses) {
    const Tensor labels = i64({4}, {1, 0, 1, 0});
    EXPECT_EQ(value_of("accuracy", f32({4}, {0.1F, -2, -1, 3}), labels), 0.5);
    EXPECT_EQ(value_of("accuracy", f32({4, 1}, {0.1F, -2, -1, 3}), labels, {.samples = 3}), 2.0 / 3);
    EXPECT_EQ(value_of("accuracy", f32({2, 2}, {1, 1, -1, -1}), f32({2, 2}, {0.75F, 0.25F, 0.5F, 1})), 0.5);
    EXPECT_EQ(value_of("accuracy", f32({2}, {0, 1}), f32({2}, {0, 1})), 1) << "a logit of 0 is not above 0.5";
    EXPECT_EQ(value_of("accuracy", f32({3}, {1, 1, 1}), i64({3}, {1, -100, 0}), {.ignored_label = -100}),
              0.5);
    const Tensor classes = i64({4}, {1, 2, 0, 1});
    EXPECT_EQ(value_of("accuracy", scores, classes), value_of("top-1", scores, classes));
    EXPECT_FALSE(parse_metric("accuracy")->lower_is_better());
}

TEST(Metric, LikelihoodsAreThoseOfTheSoftmax) {
    // Two equal scores: p = 1/2, so 1 bit and perplexity 2.
    EXPECT_DOUBLE_EQ(value_of("perplexity", f32({1, 2}, {7, 7}), i64({1}, {0})), 2);
    EXPECT_DOUBLE_EQ(value_of("bits-per-character", f32({1, 2}, {7, 7}), i64({1}, {1})), 1);
    // p = 1/4 and 3/4: −(ln 1/4 + ln 3/4)/2.
    const Tensor outputs = f32({2, 2}, {0, std::log(3.0F), 0, std::log(3.0F)});
    EXPECT_NEAR(value_of("cross-entropy", outputs, i64({2}, {0, 1})), (std::log(4.0) + std::log(4.0 / 3)) / 2,
                1e-7);
    EXPECT_NEAR(value_of("cross-entropy", f32({1, 2}, {3e38F, -3e38F}), i64({1}, {0})), 0, 1e-12);
}

TEST(Metric, DifferencesAreMeansOverElements) {
    const Tensor outputs = f32({2, 2}, {1, 2, 3, 4}), labels = f32({2, 2}, {0, 4, 3, 7});
    EXPECT_DOUBLE_EQ(value_of("mse", outputs, labels), (1 + 4 + 0 + 9) / 4.0);
    EXPECT_DOUBLE_EQ(value_of("mae", outputs, labels), (1 + 2 + 0 + 3) / 4.0);
    EXPECT_DOUBLE_EQ(value_of("mae", f32({2, 1}, {1, 2}), i64({2}, {3, 3})), 1.5);
}

TEST(Metric, ClassesMayLieInAnyDimensionButTheFirst) {
    // Two samples of three places: class axis 1 as ONNX's losses have it, or last as language models have it.
    const Tensor middle = f32({2, 2, 3}, {1, 0, 1, 0, 1, 0, 0, 0, 1, 1, 1, 0});
    const Tensor last = f32({2, 3, 2}, {1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0});
    const Tensor labels = i64({2, 3}, {0, 1, 1, 1, 1, 1});
    EXPECT_DOUBLE_EQ(value_of("top-1", middle, labels), 4.0 / 6);
    EXPECT_DOUBLE_EQ(value_of("top-1", last, labels, {.class_axis = -1}), 4.0 / 6);
    EXPECT_DOUBLE_EQ(value_of("top-1", last, labels, {.class_axis = 2}), 4.0 / 6);
    EXPECT_DOUBLE_EQ(value_of("top-1", last, labels, {.samples = 1, .class_axis = -1}), 2.0 / 3);
    EXPECT_DOUBLE_EQ(value_of("top-1", last, labels, {.class_axis = -1, .ignored_label = 0}), 3.0 / 5);
}

TEST(Metric, PaddingIsNotCounted) {
    EXPECT_DOUBLE_EQ(value_of("top-1", scores, i64({4}, {1, 0, -99, 77}), {.samples = 2}), 1);
    EXPECT_DOUBLE_EQ(value_of("top-1", scores, i64({4}, {1, -100, 1, -100}), {.ignored_label = -100}), 0.5);
    EXPECT_DOUBLE_EQ(value_of("mse", f32({3}, {1, 2, 9}), f32({3}, {1, 4, 0}), {.samples = 2}), 2);
    EXPECT_DOUBLE_EQ(value_of("f1:binary", f32({3}, {1, 2, -1}), i64({3}, {1, 7, 0}), {.ignored_label = 7}),
                     1);
    Metric metric = parse_metric("top-1").value();
    ASSERT_TRUE(metric.add(scores, i64({4}, {1, 0, 0, 2}), {.samples = 0}).ok());
    EXPECT_EQ(metric.value().error().text(), "no label was counted for top-1. evaluate on data with labels.");
}

TEST(Metric, DoesNotDependOnTheDivisionIntoBatches) {
    Random random(3);
    constexpr std::int64_t samples = 101, classes = 7;
    Tensor outputs(ElementType::f32, {samples, classes}), labels(ElementType::i64, {samples});
    for (float& score : outputs.mutable_values<float>()) score = static_cast<float>(random.normal());
    for (std::int64_t& label : labels.mutable_values<std::int64_t>()) label = random.between(0, classes - 1);
    for (const std::string_view name :
         {"top-1", "top-5", "accuracy", "f1:macro", "f1:micro", "perplexity", "cross-entropy"}) {
        const double whole = value_of(name, outputs, labels);
        Metric metric = parse_metric(name).value();
        for (std::int64_t begin = 0, size = 1; begin < samples; begin += size, size = size * 2 + 1) {
            const std::int64_t filled = std::min(size, samples - begin);  // the last batch is padded
            Tensor part(ElementType::f32, {size, classes}), part_labels(ElementType::i64, {size});
            std::ranges::copy(outputs.values<float>().subspan(static_cast<std::size_t>(begin * classes),
                                                              static_cast<std::size_t>(filled * classes)),
                              part.mutable_values<float>().begin());
            std::ranges::copy(labels.values<std::int64_t>().subspan(static_cast<std::size_t>(begin),
                                                                    static_cast<std::size_t>(filled)),
                              part_labels.mutable_values<std::int64_t>().begin());
            ASSERT_TRUE(metric.add(part, part_labels, {.samples = filled}).ok());
        }
        EXPECT_EQ(metric.value().value(), whole) << name;
        metric.reset();
        EXPECT_FALSE(metric.value().ok());
    }
}

TEST(Metric, RefusesWhatDoesNotFitAndCountsNothingOfIt) {
    const auto refusal = [](std::string_view name, const Tensor& outputs, const Tensor& labels) {
        Metric metric = parse_metric(name).value();
        const auto added = metric.add(outputs, labels);
        EXPECT_FALSE(metric.value().ok());
        return added.ok() ? "accepted" : added.error().message;
    };
    EXPECT_EQ(refusal("top-1", scores, i64({4}, {0, 1, 3, 0})),
              "label 3 at place 2 is none of the 3 classes");
    EXPECT_EQ(
        refusal("top-1", scores, i64({3}, {0, 1, 2})),
        "outputs f32[4,3] and labels i64[3] do not fit: the labels need the shape of the outputs without the "
        "dimension of classes");
    EXPECT_EQ(refusal("f1:macro", scores, f32({4}, {0, 1, 2, 0})),
              "outputs f32[4,3] and labels f32[4] do not fit: classes are judged by floating-point scores "
              "and integer "
              "labels");
    EXPECT_EQ(refusal("perplexity", f32({4}, {0, 1, 2, 0}), i64({4}, {0, 0, 0, 0})),
              "outputs f32[4] and labels i64[4] do not fit: the outputs need a dimension of classes");
    EXPECT_EQ(refusal("mse", f32({4}, {0, 1, 2, 0}), f32({2, 2}, {0, 0, 0, 0})),
              "outputs f32[4] and labels f32[2,2] do not fit: they need the same shape");
    EXPECT_EQ(refusal("f1:binary", f32({2}, {0, 1}), i64({2}, {0, 2})),
              "f1:binary needs labels that are 0 or 1, but the labels i64[2] have others");
    EXPECT_EQ(refusal("f1:binary", scores, i64({4}, {0, 2, 1, 0})),
              "f1:binary needs two classes, but the outputs are f32[4,3]");
    EXPECT_EQ(refusal("f1:binary", scores, i64({4}, {0, 1, 1, 0})),  // a third class that nothing predicts
              "f1:binary needs two classes, but the outputs are f32[4,3]");
}

TEST(Metric, ReadsNamesAndKnowsWhichIsBetter) {
    EXPECT_EQ(parse_metric("top-05")->name(), "top-5");
    EXPECT_FALSE(parse_metric("f1:macro")->lower_is_better());
    EXPECT_FALSE(parse_metric("top-1")->lower_is_better());
    EXPECT_TRUE(parse_metric("perplexity")->lower_is_better());
    EXPECT_TRUE(parse_metric("mae")->lower_is_better());
    for (const std::string_view text :
         {"", "top-", "top-0", "top--1", "top-1x", "top-99999999999999999999", "f1", "F1:macro", "recall"})
        EXPECT_EQ(parse_metric(text).error().code, ErrorCode::invalid_argument) << text;
}

}  // namespace
}  // namespace viridian::train
