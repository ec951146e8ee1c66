#include "viridian/account/deconvolve/linear.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace viridian::account {
namespace {

// The sum of a[i] b[i]. The library may order its terms anew, so that they do not wait for each other.
double dot(const double* a, const double* b, std::size_t count) {
    return std::transform_reduce(a, a + count, b, 0.0);
}

}  // namespace

void Symmetric::add(const Symmetric& other, double factor) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += factor * other.values_[i];
}

double Symmetric::quadratic(std::span<const double> x) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < size_; ++i) {
        double row = 0.5 * (*this)(i, i) * x[i];
        for (std::size_t j = 0; j < i; ++j) row += (*this)(i, j) * x[j];
        sum += 2.0 * row * x[i];
    }
    return sum;
}

Cholesky::Cholesky(Symmetric matrix) : factor_(std::move(matrix)) {
    const std::size_t n = factor_.size();
    for (std::size_t i = 0; i < n; ++i) {
        const double diagonal = factor_(i, i);
        double* const row = n == 0 ? nullptr : &factor_(i, 0);
        for (std::size_t j = 0; j < i; ++j) {
            const double* const other = &factor_(j, 0);
            row[j] = (row[j] - dot(row, other, j)) / other[j];
        }
        const double pivot = diagonal - dot(row, row, i);
        row[i] = std::sqrt(std::max(pivot, std::max(std::abs(diagonal) * 1e-13, 1e-300)));
    }
}

std::vector<double> Cholesky::solve(std::vector<double> right) const {
    for (std::size_t i = 0; i < right.size(); ++i)
        right[i] = (right[i] - dot(factor_.row(i), right.data(), i)) / factor_(i, i);
    for (std::size_t i = right.size(); i-- > 0;) {
        right[i] /= factor_(i, i);
        for (std::size_t j = 0; j < i; ++j) right[j] -= factor_(i, j) * right[i];
    }
    return right;
}

double Cholesky::log_determinant() const {
    double sum = 0.0;
    for (std::size_t i = 0; i < factor_.size(); ++i) sum += 2.0 * std::log(factor_(i, i));
    return sum;
}

}  // namespace viridian::account
