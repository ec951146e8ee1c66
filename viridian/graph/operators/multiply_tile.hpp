#pragma once
// The inner loop of products that are summed in double, in vectors of whatever width the processor has.
#include <cstdint>

namespace viridian::graph::tile {

inline constexpr std::int64_t rows = 4;
inline constexpr std::int64_t columns = 24;  // three vectors at a time, of up to eight lanes

// sums[rows × columns] += aᵀ · b with a [k × rows] and b [k × columns], each sum along k in order; only the
// first `wide` columns matter. The same bits on every processor: products of floats are exact in double, so
// adding them in one instruction rounds as two do; others (`exact_products` false) are rounded first.
void multiply_add(std::int64_t k, std::int64_t wide, const double* a, const double* b, double* sums,
                  bool exact_products);

}  // namespace viridian::graph::tile
