#include "viridian/account/attribute/overlap.hpp"

#include <gtest/gtest.h>

#include "tests/account/random_trace.hpp"
#include "tests/support/random_counter.hpp"

namespace viridian::account {
namespace {

struct Brute {
    std::vector<double> energy;  // J
    double idle = 0.0, unattributed = 0.0;
    Interval idle_interval = {}, unattributed_interval = {};
};

// A segment counts for the upper bound of a part if any of its nanoseconds belongs to it, and for the lower
// bound if all do.
void add_bounds(const PowerSegment& segment, Nanoseconds nanoseconds, Interval& bounds) {
    if (nanoseconds > 0) bounds.high += segment.energy;
    if (nanoseconds == segment.end - segment.begin) bounds.low += segment.energy;
}

// Nanosecond by nanosecond, in doubles.
Brute brute_force(const std::vector<Leaf>& leaves, const PowerCurve& curve, OperationId operations) {
    Brute out{std::vector<double>(operations, 0.0)};
    Nanoseconds first = INT64_MAX, last = INT64_MIN;
    for (const Leaf& leaf : leaves) {
        first = std::min(first, leaf.start);
        last = std::max(last, leaf.end);
    }
    for (const PowerSegment& segment : curve.segments) {
        Nanoseconds idle = 0, outside = 0;
        for (Nanoseconds time = segment.begin; time < segment.end; ++time) {
            const double power =
                joules(segment.energy).value / static_cast<double>(segment.end - segment.begin);
            double weight = 0.0;
            for (const Leaf& leaf : leaves)
                if (leaf.start <= time && time < leaf.end) weight += leaf.weight;
            if (segment.gap || time < first || time >= last) {
                out.unattributed += power;
                ++outside;
            } else if (weight == 0.0) {
                out.idle += power;
                ++idle;
            } else
                for (const Leaf& leaf : leaves)
                    if (leaf.start <= time && time < leaf.end)
                        out.energy[leaf.operation] += power * leaf.weight / weight;
        }
        add_bounds(segment, idle, out.idle_interval);
        add_bounds(segment, outside, out.unattributed_interval);
    }
    return out;
}

Attribution attribute(const std::vector<Leaf>& leaves, const PowerCurve& curve) {
    Overlap overlap(curve);
    sweep_leaves(leaves, overlap);
    return std::move(overlap).finish();
}

TEST(Overlap, EqualsBruteForceAndConservesEveryUnit) {
    Random random(7);
    int exact = 0;
    for (int round = 0; round < 300; ++round) {
        const auto leaves =
            tests::random_leaves(random, 1 + static_cast<int>(random.below(12)), 400, 4, round % 2 == 1);
        PowerCurve curve = curve_of(viridian::tests::random_counter(random, random.between(-60, 200),
                                                                    random.between(250, 500), 1000));
        if (curve.empty()) continue;
        if (round % 5 == 0) curve.segments[random.below(curve.segments.size())].gap = true;
        const Attribution got = attribute(leaves, curve);
        const Brute want = brute_force(leaves, curve, 4);
        EXPECT_EQ(static_cast<double>(got.imbalance()), 0.0) << "round " << round;
        EXPECT_NEAR(joules(got.idle).value, want.idle, 1e-13);
        EXPECT_NEAR(joules(got.unattributed).value, want.unattributed, 1e-13);
        // A leaf of no length ends a stretch without leaves: then the lower bounds may be lower.
        EXPECT_LE(got.idle_interval.low, want.idle_interval.low) << "round " << round;
        EXPECT_LE(got.unattributed_interval.low, want.unattributed_interval.low) << "round " << round;
        if (std::none_of(leaves.begin(), leaves.end(),
                         [](const Leaf& leaf) { return leaf.start == leaf.end; })) {
            EXPECT_EQ(microjoules(got.idle_interval.low), microjoules(want.idle_interval.low));
            EXPECT_EQ(microjoules(got.unattributed_interval.low),
                      microjoules(want.unattributed_interval.low));
            ++exact;
        }
        EXPECT_EQ(microjoules(got.idle_interval.high), microjoules(want.idle_interval.high)) << round;
        EXPECT_EQ(microjoules(got.unattributed_interval.high), microjoules(want.unattributed_interval.high));
        EXPECT_GE(got.idle, got.idle_interval.low);
        EXPECT_LE(got.idle, got.idle_interval.high);
        EXPECT_GE(got.unattributed, got.unattributed_interval.low);
        EXPECT_LE(got.unattributed, got.unattributed_interval.high);
        for (OperationId i = 0; i < got.shares.size(); ++i) {
            EXPECT_NEAR(joules(got.shares[i].energy).value, want.energy[i], 1e-13);
            EXPECT_LE(got.shares[i].low, got.shares[i].energy + 1'000'000);
            EXPECT_GE(got.shares[i].high, got.shares[i].energy);
        }
    }
    EXPECT_GT(exact, 100);
}

TEST(Overlap, AbuttingOperationsShareNothing) {  // the case that SMARAGDINE's own aligner gets wrong
    PowerCurve curve;
    curve.segments = {{0, 100'000'000, exact_joules(10.0), false}};
    curve.total = exact_joules(10.0);
    const Attribution got =
        attribute({{1'000'000, 2'000'000, 0}, {2'000'000, 3'000'000, 1}, {10'000'000, 11'000'000, 2}}, curve);
    for (const Share& share : got.shares) EXPECT_NEAR(joules(share.energy).value, 0.1, 1e-9);
    EXPECT_EQ(static_cast<double>(got.imbalance()), 0.0);
}

TEST(Overlap, HoursOfKilowattsDoNotOverflow) {
    PowerCurve curve;
    const Nanoseconds hour = 3'600'000'000'000;
    for (int i = 0; i < 100; ++i) {
        curve.segments.push_back({i * hour, (i + 1) * hour, exact_microjoules(3'600'000'000'000'000), false});
        curve.total += curve.segments.back().energy;
    }
    const Attribution got = attribute({{0, 100 * hour, 0, 3}, {hour, 99 * hour, 1, 1}}, curve);
    EXPECT_EQ(static_cast<double>(got.imbalance()), 0.0);
    EXPECT_NEAR(joules(got.shares[0].energy).value, 3.6e9 * (2 + 98 * 0.75), 1.0);
}

TEST(Overlap, NothingMeasuredIsSaid) {
    const Attribution got = attribute({{0, 100, 0}}, PowerCurve{});
    EXPECT_EQ(got.uncovered, 100);
    EXPECT_EQ(static_cast<double>(got.shares[0].energy), 0.0);
}

}  // namespace
}  // namespace viridian::account
