#include "viridian/plan/arena.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "viridian/base/random.hpp"

namespace viridian::plan {
namespace {

TEST(Arena, NeverOverlapsAndStaysNearTheLowerBound) {
    Random random(3);
    double worst = 1;
    for (int round = 0; round < 300; ++round) {
        std::vector<Lifetime> lifetimes;
        for (int i = 0; i < 40; ++i) {
            const std::int64_t first = random.between(0, 60);
            lifetimes.push_back({random.between(1, 5000), first, first + random.between(0, 8), 0});
        }
        const std::int64_t arena = place(lifetimes);
        std::int64_t bound = 0;
        for (std::int64_t step = 0; step <= 68; ++step) {
            std::int64_t live = 0;
            for (const Lifetime& l : lifetimes)
                if (l.first <= step && step <= l.last) live += l.bytes;
            bound = std::max(bound, live);
        }
        for (std::size_t i = 0; i < lifetimes.size(); ++i) {
            const Lifetime& a = lifetimes[i];
            EXPECT_LE(a.offset + a.bytes, arena);
            EXPECT_EQ(a.offset % 64, 0);
            for (std::size_t j = 0; j < i; ++j) {
                const Lifetime& b = lifetimes[j];
                if (a.last < b.first || b.last < a.first) continue;
                EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset);
            }
        }
        worst = std::max(worst, static_cast<double>(arena) / static_cast<double>(bound));
    }
    EXPECT_LT(worst, 1.6);
}

}  // namespace
}  // namespace viridian::plan
