#pragma once
// Solves small dense symmetric systems of linear equations: the normal equations of a fit.
#include <cstddef>
#include <span>
#include <vector>

namespace viridian::account {

// Symmetric is a symmetric matrix of which the lower triangle is stored, row by row.
class Symmetric {
  public:
    explicit Symmetric(std::size_t size = 0) : size_(size), values_(size * (size + 1) / 2) {}
    [[nodiscard]] std::size_t size() const { return size_; }
    // These need row >= column; `any` takes both orders.
    double& operator()(std::size_t row, std::size_t column) { return values_[row * (row + 1) / 2 + column]; }
    double operator()(std::size_t row, std::size_t column) const {
        return values_[row * (row + 1) / 2 + column];
    }
    // The lower part of a row, diagonal included.
    [[nodiscard]] const double* row(std::size_t row) const { return values_.data() + row * (row + 1) / 2; }
    [[nodiscard]] double any(std::size_t i, std::size_t j) const {
        return i >= j ? (*this)(i, j) : (*this)(j, i);
    }
    void add(const Symmetric& other, double factor);                  // adds factor × other
    [[nodiscard]] double quadratic(std::span<const double> x) const;  // x' S x

  private:
    std::size_t size_;
    std::vector<double> values_;
};

// Cholesky is the factorisation S = L L' of a matrix. A pivot that is not positive, because the data say
// nothing in that direction, is raised to a tiny one.
class Cholesky {
  public:
    explicit Cholesky(Symmetric matrix);
    [[nodiscard]] std::vector<double> solve(std::vector<double> right) const;  // S^-1 b
    [[nodiscard]] double log_determinant() const;

  private:
    Symmetric factor_;
};

}  // namespace viridian::account
