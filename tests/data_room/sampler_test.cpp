#include "viridian/data/sampler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "files.hpp"

namespace viridian::data {
namespace {

using tests::error_of;
using List = std::vector<std::int64_t>;

List order_of(const Permutation& permutation) {
    List order;
    for (std::int64_t i = 0; i < permutation.count(); ++i) order.push_back(permutation.at(i));
    return order;
}

List up_to(std::int64_t count) {
    List list(static_cast<std::size_t>(count));
    std::iota(list.begin(), list.end(), 0);
    return list;
}

TEST(Permutation, HoldsEveryNumberOnce) {
    for (std::int64_t count = 1; count < 600; ++count) {
        List order = order_of(Permutation(count, 7, static_cast<std::uint64_t>(count)));
        std::ranges::sort(order);
        ASSERT_EQ(order, up_to(count));
    }
    List large = order_of(Permutation(70001, 7, 0));
    EXPECT_NE(large, up_to(70001));
    std::ranges::sort(large);
    EXPECT_EQ(large, up_to(70001));
}

TEST(Permutation, SeedsAndEpochsGiveOtherOrders) {
    const List first = order_of(Permutation(1000, 1, 0));
    EXPECT_EQ(first, order_of(Permutation(1000, 1, 0)));
    EXPECT_NE(first, order_of(Permutation(1000, 2, 0)));
    EXPECT_NE(first, order_of(Permutation(1000, 1, 1)));
}

// Each of the 10 x 10 pairs (place, number) must come up about as often as any other: chi-square with 81
// degrees of freedom, whose 0.9999 quantile is 135. The seeds are fixed, so the test always gives the same
// value.
TEST(Permutation, EveryNumberStandsEverywhereEquallyOften) {
    constexpr int draws = 20000;
    std::vector<double> seen(100);
    for (int draw = 0; draw < draws; ++draw) {
        const Permutation permutation(10, 5, static_cast<std::uint64_t>(draw));
        for (std::int64_t i = 0; i < 10; ++i) seen[static_cast<std::size_t>(10 * i + permutation.at(i))] += 1;
    }
    double chi = 0;
    for (const double count : seen) chi += (count - draws / 10.0) * (count - draws / 10.0) / (draws / 10.0);
    EXPECT_LT(chi, 135);
    std::set<List> orders;  // all 24 of four
    for (std::uint64_t epoch = 0; epoch < 500; ++epoch) orders.insert(order_of(Permutation(4, 5, epoch)));
    EXPECT_EQ(orders.size(), 24U);
}

TEST(Split, PartsHoldEverySampleOnce) {
    for (const SplitBy by : {SplitBy::seed, SplitBy::tail}) {
        const auto parts = split(103, 0.2, by, 9);
        ASSERT_TRUE(parts.ok());
        EXPECT_EQ(parts->evaluation.count(), 21);
        List all;
        for (const Subset* part : {&parts->training, &parts->evaluation})
            for (std::int64_t i = 0; i < part->count(); ++i) all.push_back(part->at(i));
        EXPECT_EQ(all == up_to(103), by == SplitBy::tail);
        std::ranges::sort(all);
        EXPECT_EQ(all, up_to(103));
    }
    EXPECT_EQ(split(10, 0, SplitBy::seed, 1)->training.count(), 10);
    EXPECT_EQ(split(10, 0.001, SplitBy::seed, 1)->evaluation.count(), 1);
    EXPECT_EQ(split(2, 0.99, SplitBy::seed, 1)->training.count(), 1);
    EXPECT_EQ(error_of(split(10, 1, SplitBy::seed, 1)),
              "1 of the samples cannot be kept for evaluation; choose a fraction from 0 to 0.99");
    EXPECT_EQ(error_of(split(1, 0.5, SplitBy::seed, 1)),
              "1 sample cannot be split into training and evaluation; add samples, or give a second file for "
              "evaluation");
}

TEST(Sampler, AnEpochReadsEverySampleOnceWhateverTheParts) {
    const std::vector<std::pair<std::int64_t, std::int64_t>> all_parts = {{1, 1}, {3, 1}, {1, 4}, {3, 2}};
    for (const auto& [micro_batches, replicas] : all_parts) {
        SamplerOptions options{
            .from = Subset(101), .batch = 12, .micro_batches = micro_batches, .replicas = replicas};
        options.seed = 3;
        const auto sampler = Sampler::make(options);
        ASSERT_TRUE(sampler.ok());
        EXPECT_EQ(sampler->steps_per_epoch(), 9);
        List all;
        std::int64_t next = 101;
        for (std::int64_t step = 9; step < 18; ++step) {  // the second epoch
            EXPECT_EQ(sampler->epoch_of(step), 1);
            EXPECT_EQ(sampler->samples_of(step), step == 17 ? 5 : 12);
            List parts;
            for (std::int64_t m = 0; m < micro_batches; ++m)
                for (std::int64_t r = 0; r < replicas; ++r) {
                    const Draw draw = sampler->draw(step, m, r);
                    EXPECT_EQ(draw.first, next);
                    next += static_cast<std::int64_t>(draw.samples.size());
                    parts.insert(parts.end(), draw.samples.begin(), draw.samples.end());
                }
            EXPECT_EQ(parts, sampler->whole(step).samples);
            all.insert(all.end(), parts.begin(), parts.end());
        }
        std::ranges::sort(all);
        EXPECT_EQ(all, up_to(101));
        EXPECT_NE(sampler->whole(0).samples, sampler->whole(9).samples);  // a new order in every epoch
    }
}

TEST(Sampler, PartsHaveAtMostTwoSizes) {
    const auto sampler = Sampler::make({.from = Subset(17), .batch = 12, .micro_batches = 2, .replicas = 2});
    EXPECT_EQ(sampler->draw(1, 0, 0).samples.size(), 3U);
    EXPECT_EQ(sampler->draw(1, 0, 1).samples.size(), 2U);
    EXPECT_TRUE(sampler->draw(1, 1, 0).samples.empty());
}

TEST(Sampler, EvaluationIsInOrderAndExact) {
    const auto sampler =
        Sampler::make({.from = split(103, 0.2, SplitBy::tail, 0)->evaluation, .batch = 8, .shuffle = false});
    ASSERT_TRUE(sampler.ok());
    List all;
    for (std::int64_t step = 0; step < sampler->steps_per_epoch(); ++step) {
        const Draw draw = sampler->draw(step);
        all.insert(all.end(), draw.samples.begin(), draw.samples.end());
    }
    ASSERT_EQ(all.size(), 21U);
    EXPECT_EQ(all.front(), 82);
    EXPECT_EQ(all.back(), 102);
    const auto dropping = Sampler::make({.from = Subset(21), .batch = 8, .drop_last = true});
    EXPECT_EQ(dropping->steps_per_epoch(), 2);
    EXPECT_EQ(dropping->samples_per_epoch(), 16);
}

TEST(Sampler, ImpossibleOptionsAreRefused) {
    EXPECT_EQ(
        error_of(Sampler::make({.from = Subset(9), .batch = 10, .micro_batches = 4})),
        "a batch of 10 samples cannot be divided by 4 micro-batches and 1 replicas; choose a batch that is a "
        "multiple of their product");
    EXPECT_EQ(
        error_of(Sampler::make({.from = Subset(9), .batch = 0})),
        "a batch of 0 samples, 1 micro-batches and 1 replicas are not possible; choose numbers from 1 on");
    EXPECT_EQ(
        error_of(Sampler::make({.from = Subset(0)})),
        "there are no samples to draw from; give a file with samples, or a smaller fraction for evaluation");
    EXPECT_EQ(error_of(Sampler::make({.from = Subset(9), .batch = 10, .drop_last = true})),
              "9 samples do not fill one batch of 10; choose a smaller batch, or keep the last batch");
}

}  // namespace
}  // namespace viridian::data
