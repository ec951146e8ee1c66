#include "viridian/graph/operators/multiply.hpp"

#include <algorithm>

#include "viridian/graph/operators/broadcasting.hpp"

namespace viridian::graph {
namespace {

constexpr std::int64_t rows = 4;
constexpr std::int64_t columns = 4;

// tile += a[rows × k] · b[k × columns], both packed with k outermost.
template <class Wide>
void multiply_tile(std::int64_t k, const Wide* a, const Wide* b, Wide (&tile)[rows][columns]) {
    for (std::int64_t p = 0; p < k; ++p, a += rows, b += columns)
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t j = 0; j < columns; ++j) tile[i][j] += a[i] * b[j];
}

// Columns (or rows) first … first + width of a matrix, widened, k outermost, zeros where it ends.
template <class Wide, class Scalar>
void pack(const Scalar* data, std::int64_t across, std::int64_t along, std::int64_t k, std::int64_t width,
          std::int64_t full, Wide* out) {
    for (std::int64_t p = 0; p < k; ++p, out += full)
        for (std::int64_t i = 0; i < full; ++i)
            out[i] = i < width ? Wide(data[i * across + p * along]) : Wide(0);
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
    constexpr std::int64_t depth = 512;  // a packed block of k stays in the cache
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
                Wide tile[rows][columns] = {};
                multiply_tile(deep, packed_a.data() + i * deep, packed_b.data(), tile);
                for (std::int64_t y = 0; y < std::min(rows, m - i); ++y)
                    for (std::int64_t x = 0; x < wide; ++x) sums[(i + y) * n + j + x] += tile[y][x];
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
