#pragma once
// Products with a large constant matrix by one level of Strassen's algorithm in Winograd's form (Strassen,
// Numer. Math. 1969): seven products of halves instead of eight. Sums of the constant's halves are made
// panel by panel as they are used, so that weights take no more memory than otherwise.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/simd/fused.hpp"

namespace viridian::execute::cpu {

struct Strassen {
    std::int64_t m = 0, n = 0, k = 0;
    std::size_t source = 0;  // region input
    bool biased = false;     // constants: the packed matrix, the bias, the epilogue's
    simd::Fused fused;
    int threads = 1;

    // Halves are whole tiles, and large enough that the sums are small beside the products.
    [[nodiscard]] static bool fits(std::int64_t m, std::int64_t n, std::int64_t k, int threads);
    [[nodiscard]] Bytes workspace() const;
    void run(const Pointers& pointers) const;
};

// B[k][n] = weight(k, n) as Strassen::run reads it: [panel][chunk of k][B11, B12, B21, B22][k][lanes].
[[nodiscard]] Packed pack_strassen(const Task& task, graph::ValueId id, std::int64_t n, std::int64_t k,
                                   bool transposed);

}  // namespace viridian::execute::cpu
