#include "viridian/search/exact/rows.hpp"

#include <algorithm>
#include <limits>

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "viridian/search/exact/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace viridian::search::rows::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Vector = hn::ScalableTag<double>;
constexpr double infinite = std::numeric_limits<double>::infinity();

void row_minima_of(const double* matrix, std::size_t rows, std::size_t columns, double* out) {
    const Vector d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t r = 0; r < rows; ++r, matrix += columns) {
        double least = infinite;
        std::size_t c = 0;
        if (columns >= lanes) {
            auto low = hn::LoadU(d, matrix);
            for (c = lanes; c + lanes <= columns; c += lanes) low = hn::Min(low, hn::LoadU(d, matrix + c));
            least = hn::GetLane(hn::MinOfLanes(d, low));
        }
        for (; c < columns; ++c) least = std::min(least, matrix[c]);
        out[r] = least;
    }
}

void column_minima_of(const double* matrix, std::size_t rows, std::size_t columns, double* out) {
    const Vector d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t c = 0;
    for (; c + lanes <= columns; c += lanes) {
        auto low = hn::Set(d, infinite);
        for (std::size_t r = 0; r < rows; ++r) low = hn::Min(low, hn::LoadU(d, matrix + r * columns + c));
        hn::StoreU(low, d, out + c);
    }
    for (; c < columns; ++c) {
        double least = infinite;
        for (std::size_t r = 0; r < rows; ++r) least = std::min(least, matrix[r * columns + c]);
        out[c] = least;
    }
}

void add_to_rows_of(double* matrix, std::size_t rows, std::size_t columns, const double* amounts,
                    double factor) {
    const Vector d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t r = 0; r < rows; ++r, matrix += columns) {
        const double amount = factor * amounts[r];
        const auto all = hn::Set(d, amount);
        std::size_t c = 0;
        for (; c + lanes <= columns; c += lanes)
            hn::StoreU(hn::Add(hn::LoadU(d, matrix + c), all), d, matrix + c);
        for (; c < columns; ++c) matrix[c] += amount;
    }
}

void add_to_columns_of(double* matrix, std::size_t rows, std::size_t columns, const double* amounts,
                       double factor) {
    const Vector d;
    const std::size_t lanes = hn::Lanes(d);
    const auto scale = hn::Set(d, factor);
    std::size_t c = 0;
    for (; c + lanes <= columns; c += lanes) {
        const auto amount = hn::Mul(scale, hn::LoadU(d, amounts + c));
        for (std::size_t r = 0; r < rows; ++r) {
            double* at = matrix + r * columns + c;
            hn::StoreU(hn::Add(hn::LoadU(d, at), amount), d, at);
        }
    }
    for (; c < columns; ++c) {
        const double amount = factor * amounts[c];
        for (std::size_t r = 0; r < rows; ++r) matrix[r * columns + c] += amount;
    }
}

void add_of(const double* before, const double* const* rows, std::size_t many, std::size_t count,
            double* out) {
    const Vector d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) {
        auto sum = hn::LoadU(d, before + i);
        for (std::size_t k = 0; k < many; ++k) sum = hn::Add(sum, hn::LoadU(d, rows[k] + i));
        hn::StoreU(sum, d, out + i);
    }
    for (; i < count; ++i) {
        double sum = before[i];
        for (std::size_t k = 0; k < many; ++k) sum += rows[k][i];
        out[i] = sum;
    }
}

void least_sums_of(const double* before, const double* const* matrices, std::size_t many, std::size_t rows,
                   std::size_t columns, double* out) {
    const Vector d;
    const std::size_t lanes = hn::Lanes(d);
    const std::size_t whole = columns / lanes * lanes;
    for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t row = r * columns;
        double least = infinite;
        if (whole > 0) {
            auto low = hn::Set(d, infinite);
            for (std::size_t c = 0; c < whole; c += lanes) {
                auto sum = hn::LoadU(d, before + c);
                for (std::size_t k = 0; k < many; ++k)
                    sum = hn::Add(sum, hn::LoadU(d, matrices[k] + row + c));
                low = hn::Min(low, sum);
            }
            least = hn::GetLane(hn::MinOfLanes(d, low));
        }
        for (std::size_t c = whole; c < columns; ++c) {
            double sum = before[c];
            for (std::size_t k = 0; k < many; ++k) sum += matrices[k][row + c];
            least = std::min(least, sum);
        }
        out[r] = least;
    }
}

}  // namespace
}  // namespace viridian::search::rows::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace viridian::search::rows {
HWY_EXPORT(row_minima_of);
HWY_EXPORT(column_minima_of);
HWY_EXPORT(add_to_rows_of);
HWY_EXPORT(add_to_columns_of);
HWY_EXPORT(add_of);
HWY_EXPORT(least_sums_of);

void row_minima(const double* matrix, std::size_t rows, std::size_t columns, double* out) {
    HWY_DYNAMIC_DISPATCH(row_minima_of)(matrix, rows, columns, out);
}

void column_minima(const double* matrix, std::size_t rows, std::size_t columns, double* out) {
    HWY_DYNAMIC_DISPATCH(column_minima_of)(matrix, rows, columns, out);
}

void add_to_rows(double* matrix, std::size_t rows, std::size_t columns, const double* amounts,
                 double factor) {
    HWY_DYNAMIC_DISPATCH(add_to_rows_of)(matrix, rows, columns, amounts, factor);
}

void add_to_columns(double* matrix, std::size_t rows, std::size_t columns, const double* amounts,
                    double factor) {
    HWY_DYNAMIC_DISPATCH(add_to_columns_of)(matrix, rows, columns, amounts, factor);
}

void add(const double* before, std::span<const double* const> rows, std::size_t count, double* out) {
    HWY_DYNAMIC_DISPATCH(add_of)(before, rows.data(), rows.size(), count, out);
}

void least_sums(const double* before, std::span<const double* const> matrices, std::size_t rows,
                std::size_t columns, double* out) {
    HWY_DYNAMIC_DISPATCH(least_sums_of)(before, matrices.data(), matrices.size(), rows, columns, out);
}

}  // namespace viridian::search::rows
#endif
