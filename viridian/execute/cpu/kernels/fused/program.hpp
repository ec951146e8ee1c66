#pragma once
// Reads a region as a program that runs in one pass over memory and may have several results: element-wise
// operators, Where, DropoutMask, LayerNormalization and its gradients, Softmax and its gradient, LogSoftmax,
// sums over all rows, and private operators whose bodies consist of such nodes, the optimisers among them.
// SUBSTATION's fused operators are such regions (Ivanov et al., MLSys 2021, section IV-A).
#include <optional>

#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"
#include "viridian/execute/cpu/kernels/fused/numbers.hpp"
#include "viridian/execute/cpu/kernels/training/mask_work.hpp"
#include "viridian/execute/cpu/simd/elementwise/spread.hpp"

namespace viridian::execute::cpu {

// A ProgramPlace says where a step reads or writes its piece of a value: in buffer number `index` of the kind
// `in`, at the offset first element · element_bytes + number of the piece · piece_bytes.
struct ProgramPlace {
    enum class In : std::uint8_t { input, output, constant, number, spread, scratch } in = In::scratch;
    std::size_t index = 0;
    std::int64_t element_bytes = 0, piece_bytes = 0;
};

// A ProgramStep computes a piece of one or more values, or adds one to sums over all rows. Each kind names
// what it reads (`from`) → what it makes.
struct ProgramStep {
    enum class Does : std::uint8_t {
        element,           // x, and an operand if the function is binary
        combine,           // x, z, and the numbers a and b, 1 if they are missing → a·x + b·z, or a·x - b·z
        copy,              // x
        select,            // condition, value if it holds, value if not
        draw,              // mask number `mask`
        normalize,         // x, scale, shift (may be missing) → y, mean, inverse deviation
        input_gradient,    // the gradient of x in normalize: g, x, scale, mean, inverse deviation
        scale_gradient,    // g, x, mean, inverse deviation → two sums
        softmax,           // x
        log_softmax,       // x
        softmax_gradient,  // g, y
        sum,               // x → a sum
    } does = Does::element;
    EpilogueStep element = {};
    bool subtracts = false;  // in `combine`
    float epsilon = 0;
    std::size_t mask = 0;
    std::vector<std::optional<ProgramPlace>> from = {};
    std::vector<ProgramPlace> to = {};
    std::vector<std::size_t> sums = {};  // of Program::sums
};

// An operand that broadcasts, f32 and row-major.
struct Broadcast {
    simd::Spread spread;
    ProgramPlace from;  // an input or a constant
};

inline constexpr std::size_t most_masks = 4;
inline constexpr std::int64_t float_bytes = sizeof(float);

// A Program takes one piece of its tensors after the other, and runs all steps on it, so that each step finds
// the result of the step before in a cache. A piece is a row, if a step works on rows; then tensors are
// row-major. Otherwise it is any stretch of memory, whatever the layout.
struct Program {
    graph::Dims dims;  // of whole tensors
    bool in_rows = false;
    std::int64_t count = 0;  // elements of a whole tensor, its padding included
    std::int64_t n = 0;      // elements of a piece; the last may have fewer
    std::vector<ProgramStep> steps = {};
    Numbers numbers = {};
    std::vector<Packed> constants = {};
    std::vector<Broadcast> broadcasts = {};
    std::vector<MaskWork> masks = {};
    std::vector<std::optional<std::size_t>> sums = {};  // the output that gets the sum, if somebody reads it
    std::size_t scratch = 0;                            // pieces that are kept at once
    // Whole inputs that are stored in bf16, and outputs that are stored when the piece is done, each with the
    // scratch that holds its piece in f32.
    std::vector<std::pair<std::size_t, std::size_t>> widened = {}, stored_last = {};

    [[nodiscard]] std::int64_t pieces() const { return (count + n - 1) / n; }
    // Returns whether input `i` of the region is read as a whole tensor of f32, and as nothing else.
    [[nodiscard]] bool reads_whole(std::size_t i) const;
    // Returns whether output `i` of the region is a whole tensor of f32.
    [[nodiscard]] bool writes_whole(std::size_t i) const;
    // Returns whether results are zero wherever all whole inputs are.
    [[nodiscard]] bool keeps_padding() const;
    // Makes the program read and write what `choice` stores in bf16, and divides the work into pieces. A
    // whole output is stored when its piece is done if it is stored past the caches or overwrites an input,
    // or if it is the new value of a state whose old value a later step still reads.
    void store(const Task& task, const plan::Choice& choice);
};

// Returns the program of a region, or of a private operator's body, for whole tensors that lie in `layout`,
// which is dense; null stands for row-major. Returns nothing if the program needs rows in another layout; if
// a node is none of the operators above, or does not read or make whole tensors, rows, statistics of rows,
// single numbers, or tensors that broadcast; if normalisations are not along the last axes, or sums not over
// all axes before them; if steps disagree where rows begin; if rows of several nodes are longer than 64 KiB
// in f32, or sums than 2 MiB in f64; if rows with masks are not a multiple of 4 elements, or span several
// samples; or if it needs more scratch or masks than there are. Nodes that neither read each other nor share
// a whole tensor are no program, nor is a Where, a mask or a copy alone, which other kernels compute.
[[nodiscard]] std::optional<Program> fused_program(const Task& task, const plan::Layout* layout = nullptr);

}  // namespace viridian::execute::cpu
