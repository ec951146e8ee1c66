#pragma once
// Runs a batched product of two matrices that change from run to run, by our micro-kernels.
#include "viridian/execute/cpu/kernels/training/port.hpp"
#include "viridian/execute/cpu/simd/attention/panels.hpp"
#include "viridian/execute/cpu/simd/convolution/fused.hpp"

namespace viridian::execute::cpu {

// Matrices are those of an operand or of the result, one for each entry of the batch.
struct Matrices {
    std::size_t port = 0;              // index of the region input, for an operand
    std::vector<std::int64_t> starts;  // in elements, as the strides
    std::int64_t row = 0, column = 1;
    bool bf16 = false;  // stored in bf16; otherwise in f32

    // Returns the matrix of entry `batch`, from its row `i` and column `j` on.
    template <class Entry>
    [[nodiscard]] simd::View<Entry> at(const Pointers& pointers, std::int64_t batch, std::int64_t i,
                                       std::int64_t j) const {
        const auto* first = reinterpret_cast<const Entry*>(pointers.inputs[port]);
        return {first + starts[static_cast<std::size_t>(batch)] + i * row + j * column, row, column};
    }
};

// A ContractionWork says what is multiplied and how it is split. The *_floats() functions count units of four
// bytes: one f32, or a pair of bf16.
struct ContractionWork {
    Matrices a, b, result;
    std::int64_t m = 0, n = 0, k = 0;
    std::int64_t together = 1;  // entries of K in four packed bytes: one in f32, or a pair in bf16
    bool tiles = false;         // the matrix unit multiplies pairs; K is padded to whole tiles
    // A and B are in f32, and are split into entries rounded to bf16 and the rest of them, rounded too: along
    // K, A is packed as rounded, rest, rounded and B as rounded, rounded, rest.
    bool split = false;
    std::int64_t deepest = 1;  // entries of K that a pass may take
    std::int64_t panel = 0;    // columns of B that are packed at once: whole groups
    std::int64_t slice = 0;    // rows of A
    int columns = 1;           // blocks of 16 of a group
    int threads = 1;
    // All threads pack the whole of A, and each thread packs panels of B for itself, so that no panel is
    // written to memory. This was faster on two cores with AVX2 where B has more columns than A has rows. It
    // is done with one block of columns at once, if A and the panels take at most half of the L3 cache.
    bool by_columns = false;
    bool biased = false;
    bool chained = false;  // an epilogue follows that the micro-kernel cannot apply to a result in bf16
    Port bias;
    simd::Fused fused;

    [[nodiscard]] std::int64_t batches() const { return static_cast<std::int64_t>(result.starts.size()); }
    // Returns whether each thread multiplies matrices of its own; otherwise all threads share each of them.
    [[nodiscard]] bool apart() const { return batches() >= 2 * threads; }
    [[nodiscard]] std::int64_t passes() const;
    // Returns the part of K that a pass takes, in whole blocks but the last.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> depth(std::int64_t pass) const;
    // Returns the units of four bytes in which `entries` of K are packed.
    [[nodiscard]] std::int64_t units(std::int64_t entries) const;
    // Returns the number of slices of A.
    [[nodiscard]] std::int64_t slices() const;
    // Returns the rows that a micro-kernel multiplies at once.
    [[nodiscard]] std::int64_t tile() const;
    [[nodiscard]] std::int64_t bias_floats() const { return biased ? (n + 31) / 32 * 32 : 0; }
    [[nodiscard]] std::int64_t panel_floats() const;
    [[nodiscard]] std::int64_t slice_floats() const;
    // Returns where slice `i` of the rows of A for `pass` begins in the whole of A as it is packed,
    // [pass][slice]. Packing stores vectors across the end of a slice, where a block is left free.
    [[nodiscard]] std::int64_t slice_in_whole(std::int64_t pass, std::int64_t i) const;
    // Returns the size of what all threads read: the whole of A, or a panel of B.
    [[nodiscard]] std::int64_t shared_floats() const;
    // Returns whether results wait in f32 to be rounded.
    [[nodiscard]] bool waits() const { return result.bf16 && (!tiles || chained || passes() > 1); }
    // Returns the size of the results of a slice that wait.
    [[nodiscard]] std::int64_t waiting_floats() const { return waits() ? slice * panel : 0; }
    [[nodiscard]] std::int64_t thread_floats() const {
        if (by_columns) return panel_floats();
        return slice_floats() + waiting_floats() + (apart() ? panel_floats() : 0);
    }
    [[nodiscard]] Bytes workspace() const {
        return Bytes(4 * (bias_floats() + shared_floats() + threads * thread_floats()));
    }
};

// Sets `columns`, `deepest`, `by_columns`, `slice` and `panel` for the caches of this machine; `bias` and
// `fused` may still be empty.
void choose_pieces(ContractionWork& work);

// Computes the product and its epilogue. The workspace has work.workspace() bytes.
void run_contraction(const ContractionWork& work, const Pointers& pointers);

}  // namespace viridian::execute::cpu
