#include "viridian/pipeline/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "viridian/base/random.hpp"

namespace viridian::pipeline {
namespace {

double stage_cost(const StageRange& r, Balance balance) {
    return balance == Balance::time     ? (r.forward + r.backward).value
           : balance == Balance::energy ? r.energy.value
                                        : static_cast<double>(r.memory.value);
}

TEST(Partition, AgreesWithTryingEverySplit) {
    Random random(8);
    for (int trial = 0; trial < 300; ++trial) {
        const int count = static_cast<int>(random.between(1, 9)),
                  stages = static_cast<int>(random.between(1, count));
        std::vector<Layer> layers;
        for (int i = 0; i < count; ++i)
            layers.push_back({"l", Seconds(static_cast<double>(random.between(1, 9))),
                              Seconds(static_cast<double>(random.between(1, 9))),
                              Joules(static_cast<double>(random.between(1, 9))), Bytes(random.between(1, 9)),
                              Bytes(random.between(0, 20))});
        for (const Balance balance : {Balance::time, Balance::energy, Balance::memory}) {
            const auto found = partition(layers, stages, balance, 4);
            ASSERT_TRUE(found.ok());
            double worst = 0;
            int next = 0;
            for (const StageRange& r : *found) {
                EXPECT_EQ(r.first, next);
                EXPECT_GE(r.last, r.first);
                next = r.last + 1;
                worst = std::max(worst, stage_cost(r, balance));
            }
            EXPECT_EQ(next, count);
            double least = 1e300;  // every set of stages - 1 cuts
            for (unsigned cuts = 0; cuts < (1U << (count - 1)); ++cuts) {
                if (std::popcount(cuts) != stages - 1) continue;
                double most = 0;
                int first = 0, s = 0;
                for (int i = 0; i < count; ++i) {
                    if (i + 1 < count && (cuts >> i & 1U) == 0) continue;
                    double cost = 0;
                    for (int l = first; l <= i; ++l) {
                        const Layer& layer = layers[static_cast<std::size_t>(l)];
                        cost += balance == Balance::time ? (layer.forward + layer.backward).value
                                : balance == Balance::energy
                                    ? layer.energy.value
                                    : static_cast<double>(layer.weights.value +
                                                          layer.activation.value * std::min(4, stages - s));
                    }
                    most = std::max(most, cost);
                    first = i + 1;
                    ++s;
                }
                least = std::min(least, most);
            }
            EXPECT_NEAR(worst, least, 1e-9);
        }
    }
}

TEST(Partition, RejectsWithTheNextStep) {
    const auto layers = read_layers_csv("layer,forward,backward\nconv,0.1,0.2\nfc,0.1,0.2\n", "l");
    ASSERT_TRUE(layers.ok());
    EXPECT_EQ(partition(*layers, 3, Balance::time, 4).error().message, "2 layers do not make 3 stages");
    EXPECT_EQ(partition(*layers, 2, Balance::energy, 4).error().message,
              "the table says nothing about what to balance");
    EXPECT_EQ(read_layers_csv("layer,forward,backward\na,-1,2\n", "l").error().message,
              "`l`, line 2: -1 is not a usable forward");
}

}  // namespace
}  // namespace viridian::pipeline
