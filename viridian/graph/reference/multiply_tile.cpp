#include "viridian/graph/reference/multiply_tile.hpp"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/graph/reference/multiply_tile.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::graph::tile::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <bool exact_products, class V>
HWY_INLINE V plus_product(V sum, V a, V b) {
    if constexpr (exact_products) return hn::MulAdd(a, b, sum);
    return hn::Add(sum, hn::Mul(a, b));
}

// Three vectors of columns: four rows of sums, three of b and one of a are sixteen registers.
template <bool exact_products, class D>
HWY_INLINE void three_vectors(D d, std::int64_t k, const double* HWY_RESTRICT a, const double* HWY_RESTRICT b,
                              double* HWY_RESTRICT sums) {
    const std::size_t lanes = hn::Lanes(d);
    auto at = [&](std::int64_t row, std::size_t vector) {
        return sums + static_cast<std::size_t>(row * columns) + vector * lanes;
    };
    auto s00 = hn::LoadU(d, at(0, 0)), s01 = hn::LoadU(d, at(0, 1)), s02 = hn::LoadU(d, at(0, 2));
    auto s10 = hn::LoadU(d, at(1, 0)), s11 = hn::LoadU(d, at(1, 1)), s12 = hn::LoadU(d, at(1, 2));
    auto s20 = hn::LoadU(d, at(2, 0)), s21 = hn::LoadU(d, at(2, 1)), s22 = hn::LoadU(d, at(2, 2));
    auto s30 = hn::LoadU(d, at(3, 0)), s31 = hn::LoadU(d, at(3, 1)), s32 = hn::LoadU(d, at(3, 2));
    for (std::int64_t p = 0; p < k; ++p, a += rows, b += columns) {
        const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes), b2 = hn::LoadU(d, b + 2 * lanes);
        auto x = hn::Set(d, a[0]);
        s00 = plus_product<exact_products>(s00, x, b0);
        s01 = plus_product<exact_products>(s01, x, b1);
        s02 = plus_product<exact_products>(s02, x, b2);
        x = hn::Set(d, a[1]);
        s10 = plus_product<exact_products>(s10, x, b0);
        s11 = plus_product<exact_products>(s11, x, b1);
        s12 = plus_product<exact_products>(s12, x, b2);
        x = hn::Set(d, a[2]);
        s20 = plus_product<exact_products>(s20, x, b0);
        s21 = plus_product<exact_products>(s21, x, b1);
        s22 = plus_product<exact_products>(s22, x, b2);
        x = hn::Set(d, a[3]);
        s30 = plus_product<exact_products>(s30, x, b0);
        s31 = plus_product<exact_products>(s31, x, b1);
        s32 = plus_product<exact_products>(s32, x, b2);
    }
    hn::StoreU(s00, d, at(0, 0)), hn::StoreU(s01, d, at(0, 1)), hn::StoreU(s02, d, at(0, 2));
    hn::StoreU(s10, d, at(1, 0)), hn::StoreU(s11, d, at(1, 1)), hn::StoreU(s12, d, at(1, 2));
    hn::StoreU(s20, d, at(2, 0)), hn::StoreU(s21, d, at(2, 1)), hn::StoreU(s22, d, at(2, 2));
    hn::StoreU(s30, d, at(3, 0)), hn::StoreU(s31, d, at(3, 1)), hn::StoreU(s32, d, at(3, 2));
}

void multiply_add_of(std::int64_t k, std::int64_t wide, const double* a, const double* b, double* sums,
                     bool exact_products) {
    const hn::CappedTag<double, 8> d;
    for (std::size_t c = 0; c < static_cast<std::size_t>(wide); c += 3 * hn::Lanes(d)) {
        if (exact_products)
            three_vectors<true>(d, k, a, b + c, sums + c);
        else
            three_vectors<false>(d, k, a, b + c, sums + c);
    }
}

}  // namespace
}  // namespace viridian::graph::tile::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::graph::tile {
HWY_EXPORT(multiply_add_of);

void multiply_add(std::int64_t k, std::int64_t wide, const double* a, const double* b, double* sums,
                  bool exact_products) {
    HWY_DYNAMIC_DISPATCH(multiply_add_of)(k, wide, a, b, sums, exact_products);
}

}  // namespace viridian::graph::tile
#endif
