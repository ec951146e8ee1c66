#include "viridian/execute/cpu/simd/training/columns.hpp"

#include <algorithm>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/execute/cpu/simd/training/columns.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::execute::cpu::simd::HWY_NAMESPACE {
namespace {

constexpr std::int64_t column_piece = 128;  // rows that are summed up in f32
constexpr std::int64_t column_tile = 256;   // channels whose sums stay in the first cache

// Sums up two terms for each of n channels over some rows, `width` floats apart. Sums of `fixed` channels
// stay in registers.
template <std::int64_t fixed, class Term>
HWY_INLINE void sum_fixed_columns(std::int64_t rows, std::int64_t width, const Term& term, float* a,
                                  float* b) {
    float kept_a[fixed] = {}, kept_b[fixed] = {};
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t i = 0; i < fixed; ++i) term(row * width + i, i, kept_a[i], kept_b[i]);
    std::copy_n(kept_a, fixed, a);
    std::copy_n(kept_b, fixed, b);
}

template <class Term>
HWY_INLINE void sum_columns(std::int64_t rows, std::int64_t width, std::int64_t n, const Term& term, float* a,
                            float* b) {
    if (n == 8) return sum_fixed_columns<8>(rows, width, term, a, b);
    if (n == 16) return sum_fixed_columns<16>(rows, width, term, a, b);
    if (n == 32) return sum_fixed_columns<32>(rows, width, term, a, b);
    std::fill_n(a, n, 0.0F);
    std::fill_n(b, n, 0.0F);
    for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t i = 0; i < n; ++i) term(row * width + i, i, a[i], b[i]);
}

// Runs f(first row, rows of the piece, first channel, channels of the tile) for all pieces and tiles.
template <class Function>
HWY_INLINE void each_column_piece(Rows rows, const Function& f) {
    for (std::int64_t row = 0; row < rows.count; row += column_piece)
        for (std::int64_t i = 0; i < rows.width; i += column_tile)
            f(row, std::min(column_piece, rows.count - row), i, std::min(column_tile, rows.width - i));
}

HWY_INLINE void join_moment(double& mean, double& squares, double before, double more_mean,
                            double more_squares, double more) {
    const double distance = more_mean - mean, share = more / (before + more);
    mean += distance * share;
    squares += more_squares + distance * distance * (before * share);
}

void add_column_moments_of(double* mean, double* squares, std::int64_t before, const float* x, Rows rows) {
    each_column_piece(rows, [&](std::int64_t row, std::int64_t count, std::int64_t first, std::int64_t n) {
        const float* from = x + row * rows.width + first;
        double *const to_mean = mean + first, *const to_squares = squares + first;
        // The mean so far, or the first row, is near the mean of the piece: little cancels.
        float centre[column_tile], a[column_tile], b[column_tile];
        for (std::int64_t i = 0; i < n; ++i)
            centre[i] = before + row > 0 ? static_cast<float>(to_mean[i]) : from[i];
        sum_columns(
            count, rows.width, n,
            [=, &centre](std::int64_t at, std::int64_t i, float& sum, float& square) HWY_ATTR {
                const float distance = from[at] - centre[i];
                sum += distance;
                square += distance * distance;
            },
            a, b);
        for (std::int64_t i = 0; i < n; ++i) {
            const auto sum = static_cast<double>(a[i]);
            const double rest = sum / static_cast<double>(count);
            join_moment(to_mean[i], to_squares[i], static_cast<double>(before + row),
                        static_cast<double>(centre[i]) + rest, static_cast<double>(b[i]) - sum * rest,
                        static_cast<double>(count));
        }
    });
}

void join_column_moments_of(double* mean, double* squares, std::int64_t before, const double* more_mean,
                            const double* more_squares, std::int64_t more, std::int64_t width) {
    for (std::int64_t i = 0; i < width; ++i)
        join_moment(mean[i], squares[i], static_cast<double>(before), more_mean[i], more_squares[i],
                    static_cast<double>(more));
}

// Calls f with a function that returns a[i] (columns.hpp) at an offset from `first`.
template <class Function>
HWY_INLINE void with_gradient(const float* g, const float* rectified, std::int64_t first, const Function& f) {
    const float* const from = g + first;
    if (rectified == nullptr) return f([=](std::int64_t at) HWY_ATTR { return from[at]; });
    const float* const where = rectified + first;
    // Both are read in any case, so that the compiler can select instead of branching.
    f([=](std::int64_t at) HWY_ATTR {
        const float upstream = from[at];
        return where[at] > 0 ? upstream : 0.0F;
    });
}

void add_column_gradients_of(double* plain, double* along, const float* g, const float* rectified,
                             const float* x, const float* centre, Rows rows) {
    each_column_piece(rows, [&](std::int64_t row, std::int64_t count, std::int64_t first, std::int64_t n) {
        const std::int64_t offset = row * rows.width + first;
        const float *const from_x = x + offset, *const from_c = centre + first;
        float a[column_tile], b[column_tile];
        with_gradient(g, rectified, offset, [&](const auto& gradient) HWY_ATTR {
            sum_columns(
                count, rows.width, n,
                [=](std::int64_t at, std::int64_t i, float& sum, float& product) HWY_ATTR {
                    const float upstream = gradient(at);
                    sum += upstream;
                    product += upstream * (from_x[at] - from_c[i]);
                },
                a, b);
        });
        for (std::int64_t i = 0; i < n; ++i) {
            plain[first + i] += static_cast<double>(a[i]);
            along[first + i] += static_cast<double>(b[i]);
        }
    });
}

// Runs f(offset of an element, its channel) for all elements. Where the width is fixed, what f reads of a
// channel stays in registers.
template <std::int64_t fixed, class Function>
HWY_INLINE void each_fixed_element(Rows rows, const Function& f) {
    for (std::int64_t row = 0; row < rows.count; ++row)
        for (std::int64_t i = 0; i < fixed; ++i) f(row * fixed + i, i);
}
template <class Function>
HWY_INLINE void each_column_element(Rows rows, const Function& f) {
    if (rows.width == 8) return each_fixed_element<8>(rows, f);
    if (rows.width == 16) return each_fixed_element<16>(rows, f);
    if (rows.width == 32) return each_fixed_element<32>(rows, f);
    for (std::int64_t row = 0; row < rows.count; ++row)
        for (std::int64_t i = 0; i < rows.width; ++i) f(row * rows.width + i, i);
}

void affine_columns_of(float* HWY_RESTRICT to, const float* x, const float* centre, const float* factor,
                       const float* shift, Rows rows, const AffineEpilogue& epilogue) {
    const float* const other = epilogue.addend;
    const float least = epilogue.lower;
    if (other == nullptr)
        return each_column_element(rows, [=](std::int64_t at, std::int64_t i) HWY_ATTR {
            const float y = (x[at] - centre[i]) * factor[i] + shift[i];
            to[at] = y < least ? least : y;
        });
    each_column_element(rows, [=](std::int64_t at, std::int64_t i) HWY_ATTR {
        const float y = (x[at] - centre[i]) * factor[i] + shift[i] + other[at];
        to[at] = y < least ? least : y;
    });
}

void centred_column_gradient_of(float* HWY_RESTRICT to, const float* g, const float* rectified,
                                const float* x, const CentredColumns& c, Rows rows) {
    const float *const factor = c.factor, *const mean = c.mean, *const slope = c.slope,
                       *const centre = c.centre;
    with_gradient(g, rectified, 0, [&](const auto& gradient) HWY_ATTR {
        each_column_element(rows, [=](std::int64_t at, std::int64_t i) HWY_ATTR {
            to[at] = factor[i] * (gradient(at) - mean[i] - slope[i] * (x[at] - centre[i]));
        });
    });
}

}  // namespace
}  // namespace viridian::execute::cpu::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::execute::cpu::simd {

HWY_EXPORT(add_column_moments_of);
HWY_EXPORT(join_column_moments_of);
HWY_EXPORT(add_column_gradients_of);
HWY_EXPORT(affine_columns_of);
HWY_EXPORT(centred_column_gradient_of);

void add_column_moments(double* mean, double* squares, std::int64_t before, const float* x, Rows rows) {
    HWY_DYNAMIC_DISPATCH(add_column_moments_of)(mean, squares, before, x, rows);
}
void join_column_moments(double* mean, double* squares, std::int64_t before, const double* more_mean,
                         const double* more_squares, std::int64_t more, std::int64_t width) {
    HWY_DYNAMIC_DISPATCH(join_column_moments_of)
    (mean, squares, before, more_mean, more_squares, more, width);
}
void add_column_gradients(double* plain, double* along, const float* g, const float* rectified,
                          const float* x, const float* centre, Rows rows) {
    HWY_DYNAMIC_DISPATCH(add_column_gradients_of)(plain, along, g, rectified, x, centre, rows);
}
void affine_columns(float* to, const float* x, const float* centre, const float* factor, const float* shift,
                    Rows rows, const AffineEpilogue& epilogue) {
    HWY_DYNAMIC_DISPATCH(affine_columns_of)(to, x, centre, factor, shift, rows, epilogue);
}
void centred_column_gradient(float* to, const float* g, const float* rectified, const float* x,
                             const CentredColumns& c, Rows rows) {
    HWY_DYNAMIC_DISPATCH(centred_column_gradient_of)(to, g, rectified, x, c, rows);
}

}  // namespace viridian::execute::cpu::simd
#endif
