#include "viridian/account/attribute/recency.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/account/random_trace.hpp"

namespace viridian::account {
namespace {

// Algorithm 2, line by line. Energy of a tick is its power times the tick's length.
std::vector<double> algorithm2(const std::vector<Leaf>& leaves, const std::vector<PowerReading>& readings,
                               Nanoseconds tick) {
    std::map<Nanoseconds, std::set<OperationId>> flat;
    for (const Leaf& leaf : leaves)
        for (Nanoseconds t = leaf.start / tick; t <= leaf.end / tick; ++t) flat[t].insert(leaf.operation);
    std::vector<double> energy(8, 0.0);
    for (const auto& [t, operations] : flat) {
        double power = 0.0;
        for (const PowerReading& reading : readings)
            if (reading.time <= t * tick) power = reading.power.value;
        for (const OperationId operation : operations)
            energy[operation] +=
                power / static_cast<double>(operations.size()) * 1e-9 * static_cast<double>(tick);
    }
    return energy;
}

TEST(Recency, EqualsThePapersFlattening) {
    Random random(11);
    for (int round = 0; round < 200; ++round) {
        const Nanoseconds tick = random.between(1, 7);
        const auto leaves = tests::random_leaves(random, 10, 300, 4, false);
        std::vector<PowerReading> readings;
        for (Nanoseconds time = random.between(0, 100); time < 400; time += random.between(1, 50))
            readings.push_back({time, Watts(random.uniform(0, 300))});
        Recency recency(readings, 0, tick);
        sweep_leaves(leaves, recency);
        const Attribution got = std::move(recency).finish();
        const std::vector<double> want = algorithm2(leaves, readings, tick);
        for (std::size_t i = 0; i < got.shares.size(); ++i)
            EXPECT_NEAR(joules(got.shares[i].energy).value, want[i], 1e-12) << "round " << round;
    }
}

TEST(Recency, ChargesOneTickTooMany) {  // dur + 1: stated in the research, kept on purpose
    Recency recency({{0, Watts(100)}}, 0, 1'000'000);
    sweep_leaves(std::vector<Leaf>{{1'000'000, 2'000'000, 0}}, recency);
    EXPECT_NEAR(joules(std::move(recency).finish().shares[0].energy).value, 0.2, 1e-12);
}

}  // namespace
}  // namespace viridian::account
