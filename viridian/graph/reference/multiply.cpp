#include "viridian/graph/reference/multiply.hpp"

#include <algorithm>

#include "viridian/graph/reference/broadcasting.hpp"
#include "viridian/graph/reference/multiply_tile.hpp"

namespace viridian::graph {
namespace {

// The tile of sums that is made at once.
template <class Wide>
struct Tile {
    static constexpr std::int64_t rows = 4, columns = 4;
};
template <>
struct Tile<double> {
    static constexpr std::int64_t rows = tile::rows, columns = tile::columns;
};

// sums[rows × columns] += a[rows × k] · b[k × columns], both packed with k outermost; only `wide` columns
// matter.
template <class Scalar, class Wide>
void multiply_tile(std::int64_t k, [[maybe_unused]] std::int64_t wide, const Wide* a, const Wide* b,
                   Wide* sums) {
    if constexpr (std::is_same_v<Wide, double>) {
        tile::multiply_add(k, wide, a, b, sums, std::is_same_v<Scalar, float>);
    } else {
        constexpr std::int64_t rows = Tile<Wide>::rows, columns = Tile<Wide>::columns;
        for (std::int64_t p = 0; p < k; ++p, a += rows, b += columns)
            for (std::int64_t i = 0; i < rows; ++i)
                for (std::int64_t j = 0; j < columns; ++j) sums[i * columns + j] += a[i] * b[j];
    }
}

// Columns (or rows) first … first + width of a matrix, widened, k outermost, zeros where it ends.
template <class Wide, class Scalar>
void pack(const Scalar* data, std::int64_t across, std::int64_t along, std::int64_t k, std::int64_t width,
          std::int64_t full, Wide* out) {
    if (width < full) std::fill_n(out, k * full, Wide(0));
    if (across == 1)
        for (std::int64_t p = 0; p < k; ++p)
            for (std::int64_t i = 0; i < width; ++i) out[p * full + i] = Wide(data[p * along + i]);
    else
        for (std::int64_t i = 0; i < width; ++i)
            for (std::int64_t p = 0; p < k; ++p) out[p * full + i] = Wide(data[i * across + p * along]);
}

}  // namespace

Result<Products> products_of(Dims a, Dims b) {
    if (a.size() == 1) a.insert(a.begin(), 1);
    if (b.size() == 1) b.push_back(1);
    Products products{a.end()[-2], b.back(), a.back(), {}, {}, {}, {}};
    products.a_batch.assign(a.begin(), a.end() - 2);
    products.b_batch.assign(b.begin(), b.end() - 2);
    VIRIDIAN_TRY(const Dims batch, broadcast(products.a_batch, products.b_batch));
    products.from_a = broadcast_index(products.a_batch, batch);
    products.from_b = broadcast_index(products.b_batch, batch);
    return products;
}

template <class Scalar>
void multiply_add(std::int64_t m, std::int64_t n, std::int64_t k, Matrix<Scalar> a, Matrix<Scalar> b,
                  ProductSum<Scalar>* sums) {
    using Wide = ProductSum<Scalar>;
    constexpr std::int64_t rows = Tile<Wide>::rows, columns = Tile<Wide>::columns;
    constexpr std::int64_t depth = 128;  // packed columns of that many rows stay in the nearest cache
    const std::int64_t bands = (m + rows - 1) / rows;
    std::vector<Wide> packed_a(static_cast<std::size_t>(bands * rows * std::min(depth, k)));
    std::vector<Wide> packed_b(static_cast<std::size_t>(columns * std::min(depth, k)));
    for (std::int64_t p = 0; p < k; p += depth) {
        const std::int64_t deep = std::min(depth, k - p);
        for (std::int64_t i = 0; i < m; i += rows)
            pack(a.data + i * a.row + p * a.column, a.row, a.column, deep, std::min(rows, m - i), rows,
                 packed_a.data() + i * deep);
        for (std::int64_t j = 0; j < n; j += columns) {
            const std::int64_t wide = std::min(columns, n - j);
            pack(b.data + p * b.row + j * b.column, b.column, b.row, deep, wide, columns, packed_b.data());
            for (std::int64_t i = 0; i < m; i += rows) {
                const std::int64_t high = std::min(rows, m - i);
                Wide* const corner = sums + i * n + j;
                Wide part[rows * columns] = {};
                for (std::int64_t y = 0; y < high; ++y) std::copy_n(corner + y * n, wide, part + y * columns);
                multiply_tile<Scalar>(deep, wide, packed_a.data() + i * deep, packed_b.data(), part);
                for (std::int64_t y = 0; y < high; ++y) std::copy_n(part + y * columns, wide, corner + y * n);
            }
        }
    }
}

template void multiply_add(std::int64_t, std::int64_t, std::int64_t, Matrix<float>, Matrix<float>, double*);
template void multiply_add(std::int64_t, std::int64_t, std::int64_t, Matrix<double>, Matrix<double>, double*);
template void multiply_add(std::int64_t, std::int64_t, std::int64_t, Matrix<PrimeField>, Matrix<PrimeField>,
                           PrimeField*);
template void multiply_add(std::int64_t, std::int64_t, std::int64_t, Matrix<std::int64_t>,
                           Matrix<std::int64_t>, std::uint64_t*);

}  // namespace viridian::graph
