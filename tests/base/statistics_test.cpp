#include "viridian/base/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "viridian/base/random.hpp"

namespace viridian {
namespace {

TEST(Statistics, KnownOrderStatistics) {
    EXPECT_EQ(summarize({}).count, 0);
    EXPECT_EQ(summarize({3, 1, 2}).median, 2);
    EXPECT_EQ(summarize({4, 1, 2, 3}).median, 2.5);
    const Summary six = summarize({1, 2, 3, 4, 5, 6});  // P = 1 − 2/64 = 96.9 %
    EXPECT_EQ(six.low, 1);
    EXPECT_EQ(six.high, 6);
    const Summary twenty = summarize({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20});
    EXPECT_EQ(twenty.low, 6);  // the textbook ranks for n = 20 are 6 and 15
    EXPECT_EQ(twenty.high, 15);
}

TEST(Statistics, TheIntervalCoversTheMedianAsOftenAsItSays) {
    Random random(11);
    for (const int n : {8, 15, 40, 101}) {
        int covered = 0;
        for (int round = 0; round < 2000; ++round) {
            std::vector<double> values;
            for (int i = 0; i < n; ++i) values.push_back(-std::log(1 - random.uniform()));  // exponential
            const Summary summary = summarize(values);
            covered += summary.low <= std::log(2.0) && std::log(2.0) <= summary.high ? 1 : 0;
        }
        EXPECT_GE(covered, 1880) << n;
    }
}

}  // namespace
}  // namespace viridian
