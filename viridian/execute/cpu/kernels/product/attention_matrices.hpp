#pragma once
// Where the matrices of attention's heads lie. The kernels of attention and of its gradient share this.
#include <optional>
#include <vector>

#include "viridian/execute/cpu/kernels/product/attention.hpp"
#include "viridian/execute/cpu/simd/attention/panels.hpp"
#include "viridian/execute/cpu/simd/attention/score_block.hpp"
#include "viridian/execute/cpu/simd/attention/score_gradient.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"

namespace viridian::execute::cpu {

// Where a run finds an operand.
struct AttentionPort {
    enum class Where : std::uint8_t { input, constant, output } where = Where::input;
    std::size_t index = 0;
    [[nodiscard]] const std::byte* first(const Pointers& pointers) const {
        if (where == Where::output) return pointers.outputs[index];
        return (where == Where::constant ? pointers.constants : pointers.inputs)[index];
    }
};

// An operand's matrices: where that of each head begins, and its strides, in elements.
struct AttentionMatrices {
    AttentionPort port;
    std::vector<std::int64_t> starts;
    std::int64_t row = 0, column = 1;
    bool bf16 = false;
    [[nodiscard]] std::int64_t start(std::int64_t head) const {
        return starts[static_cast<std::size_t>(head)];
    }
    [[nodiscard]] simd::MatrixView of(const Pointers& pointers, std::int64_t head) const {
        return {reinterpret_cast<const float*>(port.first(pointers)) + start(head), row, column};
    }
    // Calls `f` with the view of the matrix of `head`, from row `first` on, in the type that is stored.
    template <class Function>
    void view(const Pointers& pointers, std::int64_t head, std::int64_t first, const Function& f) const {
        const std::int64_t at = start(head) + first * row;
        const std::byte* const memory = port.first(pointers);
        if (bf16)
            f(simd::Bf16View{reinterpret_cast<const std::uint16_t*>(memory) + at, row, column});
        else
            f(simd::MatrixView{reinterpret_cast<const float*>(memory) + at, row, column});
    }
    // Returns where the matrix of `head` is written, if this is an output.
    template <class Entry = float>
    [[nodiscard]] Entry* to(const Pointers& pointers, std::int64_t head) const {
        return reinterpret_cast<Entry*>(pointers.outputs[port.index]) + start(head);
    }
};

// The matrices of an operand of these extents that lies in `layout`. What has an extent of 1 is repeated for
// all heads.
[[nodiscard]] AttentionMatrices attention_matrices(const AttentionRegion& attention, const graph::Dims& dims,
                                                   plan::Layout layout);

// What a kernel does between the two products of a head: it scales the scores, adds masks, hides some, and
// drops some of the probabilities. The lists hold what has other numbers for each head or position.
struct AttentionScores {
    std::vector<AttentionMatrices> masks, scales;
    std::optional<AttentionMatrices> kept, hidden;  // flags
    bool hidden_keeps = true;
    float scale = 1, kept_scale = 1, hidden_value = 0;

    explicit AttentionScores(const AttentionRegion& attention);
    [[nodiscard]] float scale_of(const Pointers& pointers, std::int64_t head) const;
    // Adds to `block`, whose first entry is the score (row, key), the masks of this head, and what is hidden.
    void add_masks(const Pointers& pointers, std::int64_t head, std::int64_t row, std::int64_t key,
                   simd::ScoreBlock& block) const;
    [[nodiscard]] simd::ScoreBlock::Hidden hidden_of(const Pointers& pointers, std::int64_t head,
                                                     std::int64_t row, std::int64_t key) const;
    [[nodiscard]] simd::KeptScores kept_of(const Pointers& pointers, std::int64_t head, std::int64_t row,
                                           std::int64_t key) const;
};

// Sets the port of an operand that is an input of the region or a constant, which is added to `kernel`. The
// choice says how it is stored.
void find_attention_operand(const Task& task, graph::ValueId id, const plan::Choice& choice, Kernel& kernel,
                            AttentionMatrices& matrices);
// Sets the ports of all operands that are inputs of the region or constants, which are added to `kernel`.
void find_attention_port(const Task& task, graph::ValueId id, Kernel& kernel, AttentionMatrices& matrices);
void find_attention_ports(const Task& task, const AttentionRegion& attention, Kernel& kernel,
                          AttentionScores& scores);

constexpr std::int64_t in_blocks(std::int64_t count) {
    return (count + simd::block - 1) / simd::block * simd::block;
}
constexpr std::int64_t parts_of(std::int64_t count, std::int64_t most) { return (count + most - 1) / most; }

// Returns how many rows of queries a block has: at most `most`, and few enough for every thread to get some.
[[nodiscard]] std::int64_t attention_row_block(const AttentionRegion& attention, std::int64_t most,
                                               int threads);

// Appends copies of `choices` that read these operands in bf16, write in bf16, or both. There are none if a
// mask or scale is one of the operands.
void offer_attention_in_bf16(const Task& task, const AttentionRegion& attention,
                             const std::vector<graph::ValueId>& operands, std::vector<plan::Choice>& choices);

}  // namespace viridian::execute::cpu
