#pragma once
// Reads a region as a program on rows, which runs in one pass over memory and has several results:
// element-wise operators, Where, DropoutMask, LayerNormalization and its gradients, Softmax along the last
// axis and its gradient, and sums over all rows. SUBSTATION's fused operators are such regions (Ivanov et
// al., MLSys 2021, section IV-A).
#include <optional>

#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"
#include "viridian/execute/cpu/kernels/training/mask_work.hpp"

namespace viridian::execute::cpu {

// A RowPlace says where a row lies: `step` bytes after the row before it, in the memory of number `index` of
// its kind. A `number` is one constant, repeated as often as a row has elements.
struct RowPlace {
    enum class In : std::uint8_t { input, output, constant, number, scratch } in = In::scratch;
    std::size_t index = 0;
    std::int64_t step = 0;
};

// A RowStep makes one row, or adds one to sums over all rows.
struct RowStep {
    enum class Does : std::uint8_t {
        element,           // from: x, and an operand if the function is binary
        select,            // condition, where it holds, where not
        draw,              // mask number `mask`
        normalize,         // x, scale, shift (may be missing) → y, mean, inverse deviation
        input_gradient,    // the gradient of x in normalize: g, x, scale, mean, inverse deviation
        scale_gradient,    // g, x, mean, inverse deviation → two sums
        softmax,           // x
        softmax_gradient,  // g, y
        sum,               // x → a sum
    } does = Does::element;
    EpilogueStep element = {};
    float epsilon = 0;
    std::size_t mask = 0;
    std::vector<std::optional<RowPlace>> from = {};
    std::vector<RowPlace> to = {};
    std::vector<std::size_t> sums = {};  // of RowProgram::sums
};

inline constexpr std::size_t most_row_masks = 4;

struct RowProgram {
    std::int64_t rows = 1, n = 1;  // n: elements of a row
    std::vector<RowStep> steps;
    std::vector<graph::ValueId> constants;
    std::vector<float> numbers;
    std::vector<MaskWork> masks;
    std::vector<std::optional<std::size_t>> sums;  // the output that gets the sum, if somebody reads it
    std::size_t scratch = 0;                       // rows that are kept at once
    // Whole inputs that are stored in bf16, and outputs that are stored when the row is done, each with the
    // scratch that holds its row in f32.
    std::vector<std::pair<std::size_t, std::size_t>> widened = {}, stored_last = {};

    // Returns whether input `i` of the region is read as a whole tensor of f32, and as nothing else.
    [[nodiscard]] bool reads_whole(std::size_t i) const;
    // Returns whether output `i` of the region is a whole tensor of f32.
    [[nodiscard]] bool writes_whole(std::size_t i) const;
    // Makes the program read and write what `choice` stores in bf16. With `last`, all whole outputs are
    // stored when their row is done, so that they may lie where inputs do.
    void store(const plan::Choice& choice, bool last);
};

// Returns the program of a region whose nodes read each other or one tensor, or of one node that sums over
// all rows. Returns nothing if a row is longer than 64 KiB in f32, if the program needs more than 8 rows of
// scratch or 4 masks, if rows with masks are not a multiple of 4 elements, if a node is none of these
// operators, if normalisations are not along the last axis or sums not over all others, or if operands are
// neither whole tensors of the region's shape, rows, nor numbers.
[[nodiscard]] std::optional<RowProgram> row_program(const Task& task);

}  // namespace viridian::execute::cpu
