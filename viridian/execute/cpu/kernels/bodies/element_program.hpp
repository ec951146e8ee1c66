#pragma once
// Reads the body of a private operator as a program on chunks of elements: the optimisers, for example, whose
// new weights and moments are then made in one pass over memory.
#include <optional>

#include "viridian/execute/cpu/kernels/elementwise/epilogue.hpp"

namespace viridian::execute::cpu {

// A Slot says where a program finds a value.
struct Slot {
    enum class In : std::uint8_t { input, scratch, scalar } in = In::input;
    std::size_t index = 0;
};

// One step on a chunk: scratch[to] = step(from, operand).
struct ChunkStep {
    EpilogueStep step;
    std::size_t to = 0;
    Slot from, operand;
};

// One step on single numbers: numbers[to] = op(numbers[a], numbers[b]), rounded to f32 if `rounds`.
struct NumberStep {
    enum class Op : std::uint8_t { copy, add, sub, mul, div, pow, sqrt, neg, min, max } op = Op::copy;
    std::size_t to = 0, a = 0, b = 0;
    bool rounds = true;
};

// An ElementProgram first computes single numbers (rates, bias corrections), then every chunk of elements.
// Each step rounds as its node does, so that sums, products, quotients and roots are those of the body.
struct ElementProgram {
    std::int64_t count = 0;                                  // elements of every whole value
    std::vector<double> numbers;                             // their first values: constants
    std::vector<std::pair<std::size_t, std::size_t>> given;  // number, region input that holds it (f32)
    std::vector<NumberStep> number_steps;
    std::vector<std::size_t> scalars;  // numbers that chunk steps read
    std::vector<ChunkStep> steps;
    std::size_t scratch = 0;    // chunks that are kept at once
    std::vector<Slot> outputs;  // of the region
};

// Returns the program of the region's only node, or nothing if a value of its body is neither a single number
// nor an f32 tensor of the outputs' shape, or if a step has no vector code.
[[nodiscard]] std::optional<ElementProgram> element_program(const Task& task);

}  // namespace viridian::execute::cpu
