// The reference's products against sums in plain loops: the same bits, whatever vectors the processor has.
#include "viridian/graph/reference/multiply.hpp"

#include <gtest/gtest.h>

#include <random>

namespace viridian::graph {
namespace {

// Sizes around the tile's edges, and more than one packed block of k.
template <class Scalar, class Draw>
void expect_plain_sums(Draw draw) {
    std::mt19937 random(7);
    const auto size = [&](int most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random); };
    for (int trial = 0; trial < 200; ++trial) {
        const std::int64_t m = size(11), n = size(61), k = trial % 10 == 0 ? size(400) : size(30);
        const bool a_turned = trial % 2 == 1, b_turned = trial % 4 > 1;
        std::vector<Scalar> a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n));
        for (Scalar& x : a) x = draw(random);
        for (Scalar& x : b) x = draw(random);
        using Sum = ProductSum<Scalar>;
        std::vector<Sum> sums(static_cast<std::size_t>(m * n));
        for (Sum& sum : sums) sum = static_cast<Sum>(draw(random));
        std::vector<Sum> expected = sums;
        const Matrix<Scalar> left{a.data(), a_turned ? 1 : k, a_turned ? m : 1};
        const Matrix<Scalar> right{b.data(), b_turned ? 1 : n, b_turned ? k : 1};
        for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j)
                for (std::int64_t p = 0; p < k; ++p)
                    expected[static_cast<std::size_t>(i * n + j)] +=
                        static_cast<Sum>(left.data[i * left.row + p * left.column]) *
                        static_cast<Sum>(right.data[p * right.row + j * right.column]);
        multiply_add<Scalar>(m, n, k, left, right, sums.data());
        ASSERT_EQ(sums, expected) << m << " x " << n << " x " << k;
    }
}

TEST(Multiply, FloatsAreSummedInDouble) {
    expect_plain_sums<float>([](std::mt19937& random) { return std::normal_distribution<float>()(random); });
}

TEST(Multiply, Doubles) {
    expect_plain_sums<double>(
        [](std::mt19937& random) { return std::normal_distribution<double>()(random); });
}

TEST(Multiply, IntegersModuloTwoToThe64) {
    expect_plain_sums<std::int64_t>([](std::mt19937& random) {
        return static_cast<std::int64_t>((std::uint64_t(random()) << 32) | random());
    });
}

}  // namespace
}  // namespace viridian::graph
