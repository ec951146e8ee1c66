#include "viridian/search/exact/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "viridian/base/random.hpp"
#include "viridian/search/exact/problem.hpp"

namespace viridian::search {
namespace {

// Extents around every vector length, infinite entries among the others.
std::vector<double> costs(Random& random, std::size_t count) {
    std::vector<double> out(count);
    for (double& cost : out) cost = random.chance(0.2) ? infinite : random.uniform(-1, 1);
    return out;
}

TEST(Rows, are_what_plain_loops_make) {
    Random random(3);
    for (int round = 0; round < 300; ++round) {
        const std::size_t rows = 1 + random.below(9), columns = 1 + random.below(40);
        const std::vector<double> a = costs(random, rows * columns), b = costs(random, rows * columns);
        const std::vector<double> before = costs(random, columns);

        std::vector<double> of_rows(rows), of_columns(columns), sums(rows), added(columns);
        rows::row_minima(a.data(), rows, columns, of_rows.data());
        rows::column_minima(a.data(), rows, columns, of_columns.data());
        const std::array<const double*, 2> both = {a.data(), b.data()};
        rows::least_sums(before.data(), both, rows, columns, sums.data());
        rows::add(before.data(), both, columns, added.data());
        for (std::size_t r = 0; r < rows; ++r) {
            double least = infinite, least_sum = infinite;
            for (std::size_t c = 0; c < columns; ++c) {
                least = std::min(least, a[r * columns + c]);
                least_sum = std::min(least_sum, before[c] + a[r * columns + c] + b[r * columns + c]);
            }
            EXPECT_EQ(of_rows[r], least);
            EXPECT_EQ(sums[r], least_sum);
        }
        for (std::size_t c = 0; c < columns; ++c) {
            double least = infinite;
            for (std::size_t r = 0; r < rows; ++r) least = std::min(least, a[r * columns + c]);
            EXPECT_EQ(of_columns[c], least);
            EXPECT_EQ(added[c], before[c] + a[c] + b[c]);
        }

        std::vector<double> by_row = a, by_column = a;
        std::vector<double> amounts(std::max(rows, columns));
        for (double& amount : amounts) amount = random.uniform(-1, 1);
        rows::add_to_rows(by_row.data(), rows, columns, amounts.data(), -1);
        rows::add_to_columns(by_column.data(), rows, columns, amounts.data(), 0.5);
        for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < columns; ++c) {
                const double entry = a[r * columns + c];
                EXPECT_EQ(by_row[r * columns + c], entry - amounts[r]);
                EXPECT_EQ(by_column[r * columns + c], entry + 0.5 * amounts[c]);
            }
    }
}

}  // namespace
}  // namespace viridian::search
