#pragma once
// Where the matrices of attention's heads lie. The kernels of attention and of its gradient share this.
#include <optional>
#include <type_traits>
#include <vector>

#include "viridian/execute/cpu/kernels/product/attention.hpp"
#include "viridian/execute/cpu/simd/attention/panels.hpp"
#include "viridian/execute/cpu/simd/attention/score_block.hpp"
#include "viridian/execute/cpu/simd/attention/score_gradient.hpp"
#include "viridian/execute/cpu/simd/bf16/strip.hpp"
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
    // Does the same for kernels that multiply in `Entry`. Those in bf16 have all operands stored in it.
    template <class Entry, class Function>
    void view_as(const Pointers& pointers, std::int64_t head, std::int64_t first, const Function& f) const {
        if constexpr (std::is_same_v<Entry, float>)
            view(pointers, head, first, f);
        else
            f(simd::View<Entry>{
                reinterpret_cast<const Entry*>(port.first(pointers)) + start(head) + first * row, row,
                column});
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

// Returns whether the products of a head multiply in bf16: all `operands` are stored in it, the processor
// multiplies in bf16, and the extents that products sum over are even. What is made between the products is
// then rounded to bf16.
[[nodiscard]] bool attention_multiplies_bf16(const Task& task, const std::vector<graph::ValueId>& operands,
                                             const std::vector<std::int64_t>& extents,
                                             const plan::Choice& choice);

// Hands out aligned parts of a thread's scratch. If `first` is null, so are the parts, and only `end` is
// valid.
struct AttentionScratchTaker {
    std::byte* first = nullptr;
    std::int64_t end = 0;  // the bytes that were taken
    template <class T>
    T* take(std::int64_t count) {
        T* const at = first == nullptr ? nullptr : reinterpret_cast<T*>(first + end);
        end += aligned_bytes(count * static_cast<std::int64_t>(sizeof(T)));
        return at;
    }
};

// The product of `pixels` rows and `columns` blocks of weights, both packed in f32 or in bf16. The caller
// sets where the result goes.
template <class Entry>
auto attention_strip(const Entry* source, std::int64_t pixels, const Entry* weights, int columns,
                     std::int64_t channels) {
    static constexpr std::int64_t no_tap = 0;
    std::conditional_t<std::is_same_v<Entry, float>, simd::Strip, simd::Bf16Strip> strip;
    if constexpr (std::is_same_v<Entry, float>) strip.taps = &no_tap;
    strip.source = source, strip.source_block = pixels * simd::block;
    strip.pixels = pixels;
    strip.weights = weights;
    strip.columns = columns;
    strip.channels = channels;
    return strip;
}

// These pack the rows of `count` contiguous entries as pixels, and a matrix as weights in groups of `width`
// columns. Only in f32 are entries multiplied by `factor`.
template <class View>
void pack_attention_pixels(const View& rows_of, std::int64_t rows, std::int64_t count, float factor,
                           float* to) {
    simd::pack_pixels(rows_of, rows, count, factor, to);
}
inline void pack_attention_pixels(const simd::Bf16View& rows_of, std::int64_t rows, std::int64_t count, float,
                                  std::uint16_t* to) {
    simd::pack_pair_pixels(rows_of, rows, count, simd::block, to);
}
template <class View>
void pack_attention_weights(const View& matrix, std::int64_t rows, std::int64_t columns, std::int64_t width,
                            float* to) {
    simd::pack_panels(matrix, rows, columns, width, to);
}
inline void pack_attention_weights(const simd::Bf16View& matrix, std::int64_t rows, std::int64_t columns,
                                   std::int64_t width, std::uint16_t* to) {
    simd::pack_pair_panels(matrix, rows, columns, width, to);
}

// Returns how many rows of queries a block has: at most `most`, and few enough for every thread to get some.
[[nodiscard]] std::int64_t attention_row_block(const AttentionRegion& attention, std::int64_t most,
                                               int threads);

// Appends copies of `choices` that read these operands in bf16, write in bf16, or both. There are none if a
// mask or scale is one of the operands.
void offer_attention_in_bf16(const Task& task, const AttentionRegion& attention,
                             const std::vector<graph::ValueId>& operands, std::vector<plan::Choice>& choices);

}  // namespace viridian::execute::cpu
