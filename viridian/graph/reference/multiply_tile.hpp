#pragma once
// tile::multiply_add() is the inner loop of products that are summed in double, with vector instructions.
#include <cstdint>

namespace viridian::graph::tile {

inline constexpr std::int64_t rows = 4;
inline constexpr std::int64_t columns = 24;  // three vectors at a time, of up to eight lanes

// Adds aᵀ · b to sums[rows × columns], with a [k × rows] and b [k × columns]. Each sum runs along k in order,
// and only the first `wide` columns matter. The result has the same bits on every processor: products of
// floats are exact in double, so that a fused multiply-add rounds as two instructions do; if `exact_products`
// is false, products are rounded before they are added.
void multiply_add(std::int64_t k, std::int64_t wide, const double* a, const double* b, double* sums,
                  bool exact_products);

}  // namespace viridian::graph::tile
