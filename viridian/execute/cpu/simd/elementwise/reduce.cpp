#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/elementwise/reduce.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

// The steps, on double and float alike.
struct Sum {
    template <class T>
    static T step(T total, T x) {
        return total + x;
    }
};
struct SumSquare {
    template <class T>
    static T step(T total, T x) {
        return total + x * x;
    }
};
struct SumAbsolute {
    template <class T>
    static T step(T total, T x) {
        return total + std::abs(x);
    }
};
struct Product {
    template <class T>
    static T step(T total, T x) {
        return total * x;
    }
};
struct Max {
    template <class T>
    static T step(T best, T x) {
        return x != x || best < x ? x : best;
    }
};
struct Min {
    template <class T>
    static T step(T best, T x) {
        return x != x || x < best ? x : best;
    }
};

// How totals of pieces join: squares and magnitudes are plain sums by then.
template <class F>
double join(double a, double b) {
    if constexpr (std::is_same_v<F, SumSquare> || std::is_same_v<F, SumAbsolute>) return a + b;
    return F::step(a, b);
}

// Independent lanes, which the compiler keeps in vector registers.
constexpr std::int64_t lanes = 32;
constexpr std::int64_t piece = 4096;

template <class F>
double row(double total, float neutral, const float* x, std::int64_t n) {
    for (std::int64_t at = 0; at < n; at += piece) {
        const std::int64_t end = std::min(n, at + piece);
        float partial[lanes];
        for (float& lane : partial) lane = neutral;
        std::int64_t i = at;
        for (; i + lanes <= end; i += lanes)
            for (std::int64_t l = 0; l < lanes; ++l) partial[l] = F::step(partial[l], x[i + l]);
        for (std::int64_t l = 0; i < end; ++i, ++l) partial[l] = F::step(partial[l], x[i]);
        for (const float lane : partial) total = join<F>(total, static_cast<double>(lane));
    }
    return total;
}

template <class F>
void into(double* totals, const float* x, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) totals[i] = F::step(totals[i], static_cast<double>(x[i]));
}

double row_of(Fold fold, double total, const float* x, std::int64_t n) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    switch (fold) {
        case Fold::sum:
            return row<Sum>(total, 0, x, n);
        case Fold::sum_square:
            return row<SumSquare>(total, 0, x, n);
        case Fold::sum_absolute:
            return row<SumAbsolute>(total, 0, x, n);
        case Fold::product:  // in double: partial products leave the range of float
            for (std::int64_t i = 0; i < n; ++i) total *= static_cast<double>(x[i]);
            return total;
        case Fold::max:
            return row<Max>(total, -infinity, x, n);
        case Fold::min:
            return row<Min>(total, infinity, x, n);
    }
    return total;
}

void into_of(Fold fold, double* totals, const float* x, std::int64_t n) {
    switch (fold) {
        case Fold::sum:
            return into<Sum>(totals, x, n);
        case Fold::sum_square:
            return into<SumSquare>(totals, x, n);
        case Fold::sum_absolute:
            return into<SumAbsolute>(totals, x, n);
        case Fold::product:
            return into<Product>(totals, x, n);
        case Fold::max:
            return into<Max>(totals, x, n);
        case Fold::min:
            return into<Min>(totals, x, n);
    }
}

Deviations deviations_of(const float* x, float centre, std::int64_t n) {
    Deviations total;
    for (std::int64_t at = 0; at < n; at += piece) {
        const std::int64_t end = std::min(n, at + piece);
        float sums[lanes] = {}, squares[lanes] = {};
        const auto add = [&](std::int64_t lane, float distance) {
            sums[lane] += distance;
            squares[lane] += distance * distance;
        };
        std::int64_t i = at;
        for (; i + lanes <= end; i += lanes)
            for (std::int64_t l = 0; l < lanes; ++l) add(l, x[i + l] - centre);
        for (std::int64_t l = 0; i < end; ++i, ++l) add(l, x[i] - centre);
        for (const float lane : sums) total.sum += static_cast<double>(lane);
        for (const float lane : squares) total.squares += static_cast<double>(lane);
    }
    return total;
}

void centred_affine_of(float* to, const float* from, float centre, float scale, float shift, std::int64_t n,
                       const AffineEpilogue& epilogue) {
    const float* const other = epilogue.addend;
    const float least = epilogue.lower;
    for (std::int64_t i = 0; other == nullptr && i < n; ++i) {
        const float y = (from[i] - centre) * scale + shift;
        to[i] = y < least ? least : y;
    }
    for (std::int64_t i = 0; other != nullptr && i < n; ++i) {
        const float y = (from[i] - centre) * scale + shift + other[i];
        to[i] = y < least ? least : y;
    }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(row_of);
HWY_EXPORT(into_of);
HWY_EXPORT(deviations_of);
HWY_EXPORT(centred_affine_of);

double neutral(Fold fold) {
    if (fold == Fold::product) return 1;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return fold == Fold::max ? -infinity : fold == Fold::min ? infinity : 0;
}
double fold_row(Fold fold, double total, const float* x, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(row_of)(fold, total, x, n);
}
void fold_into(Fold fold, double* totals, const float* x, std::int64_t n) {
    HWY_DYNAMIC_DISPATCH(into_of)(fold, totals, x, n);
}
Deviations deviations(const float* x, float centre, std::int64_t n) {
    return HWY_DYNAMIC_DISPATCH(deviations_of)(x, centre, n);
}
void centred_affine(float* to, const float* from, float centre, float scale, float shift, std::int64_t n,
                    const AffineEpilogue& epilogue) {
    HWY_DYNAMIC_DISPATCH(centred_affine_of)(to, from, centre, scale, shift, n, epilogue);
}

}  // namespace viridian::execute::cpu::simd
#endif
