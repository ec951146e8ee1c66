#pragma once
// Multiplies by a large constant matrix with one level of Strassen's algorithm in Winograd's form (Strassen,
// Numer. Math. 1969): seven products of halves instead of eight. Sums of the constant's halves are made
// panel by panel as they are used, so that weights take no more memory than otherwise.
#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"

namespace viridian::execute::cpu {

// A Strassen is one product of an [m, k] source with the constant, which is [k, n].
struct Strassen {
    std::int64_t m = 0, n = 0, k = 0;
    std::size_t source = 0;  // region input
    bool biased = false;     // constants: the packed matrix, the bias, the epilogue's
    simd::Fused fused;
    int threads = 1;
    bool ordinary = true;  // is_ordinary() holds for the constant

    // Returns whether all of these are so small (below 2^50) that no sum or product of sums overflows, and
    // none is NaN. Other numbers are multiplied without Strassen's sums, so that a NaN or an infinity reaches
    // no row or column but its own.
    [[nodiscard]] static bool is_ordinary(std::span<const float> values);
    // Returns whether the halves are whole tiles, and so large that the sums cost little beside the
    // products.
    [[nodiscard]] static bool fits(std::int64_t m, std::int64_t n, std::int64_t k, int threads);
    [[nodiscard]] Bytes workspace() const;
    void run(const Pointers& pointers) const;
};

// Returns the constant matrix B[k][n] (or its transpose, if `transposed`) in the order in which Strassen::run
// reads it: [panel][chunk of k][B11, B12, B21, B22][k][lanes].
[[nodiscard]] Packed pack_strassen(const Task& task, graph::ValueId id, std::int64_t n, std::int64_t k,
                                   bool transposed);

}  // namespace viridian::execute::cpu
