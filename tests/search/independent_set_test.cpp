#include "viridian/search/graphs/independent_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "viridian/base/random.hpp"

namespace viridian::search {
namespace {

double gain_of(const std::vector<double>& gains, const std::vector<std::size_t>& taken) {
    double sum = 0;
    for (const std::size_t i : taken) sum += gains[i];
    return sum;
}

TEST(IndependentSet, is_the_best_of_all_sets) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Random random(seed);
        const std::size_t count = 1 + random.below(12);
        std::vector<double> gains;
        for (std::size_t i = 0; i < count; ++i) gains.push_back(random.uniform(0.1, 2));
        std::sort(gains.rbegin(), gains.rend());
        std::vector<std::vector<bool>> clash(count, std::vector<bool>(count, false));
        const double density = random.uniform(0, 0.8);
        for (std::size_t a = 0; a < count; ++a)
            for (std::size_t b = a + 1; b < count; ++b) clash[a][b] = clash[b][a] = random.chance(density);
        double best = 0;
        for (std::size_t set = 0; set < (std::size_t{1} << count); ++set) {
            double sum = 0;
            bool fits = true;
            for (std::size_t a = 0; a < count && fits; ++a) {
                if ((set >> a & 1U) == 0) continue;
                sum += gains[a];
                for (std::size_t b = 0; b < a; ++b)
                    if ((set >> b & 1U) != 0 && clash[a][b]) fits = false;
            }
            if (fits) best = std::max(best, sum);
        }
        const std::vector<std::size_t> taken = independent_set(gains, clash);
        EXPECT_NEAR(gain_of(gains, taken), best, 1e-9) << "seed " << seed;
        for (const std::size_t a : taken)
            for (const std::size_t b : taken) EXPECT_FALSE(clash[a][b]);
    }
}

// Hundreds of changes all over a network, many at each place: no time to look through all.
TEST(IndependentSet, ends_soon_where_many_clash) {
    Random random(3);
    const std::size_t count = 300;
    std::vector<double> gains;
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < count; ++i) {
        gains.push_back(random.uniform(0.1, 2));
        at.push_back(random.below(60));
    }
    std::sort(gains.rbegin(), gains.rend());
    std::vector<std::vector<bool>> clash(count, std::vector<bool>(count, false));
    for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < count; ++b)
            clash[a][b] = a != b && (at[a] > at[b] ? at[a] - at[b] : at[b] - at[a]) < 3;
    const std::vector<std::size_t> taken = independent_set(gains, clash);
    EXPECT_GE(taken.size(), 12u);
    for (const std::size_t a : taken)
        for (const std::size_t b : taken) EXPECT_FALSE(clash[a][b]);
}

}  // namespace
}  // namespace viridian::search
