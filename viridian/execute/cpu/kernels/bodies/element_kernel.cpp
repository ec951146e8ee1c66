// Private operators that are element-wise, in one pass over their inputs and outputs. Whole tensors may be
// stored in bf16; the program reads and makes them in f32.
#include <algorithm>
#include <cmath>
#include <limits>

#include "viridian/execute/cpu/kernels/bodies/element_program.hpp"
#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/elementwise/loops.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/graph/reference/wrapping.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::string_view element_program_family_name = "simd:program";
// A chunk is so short that all chunks of a program (at most 24, and one for each input in bf16) fit the L1
// cache. They lie one cache line further apart than their size, so that equal elements of several chunks are
// not mapped to the same set of the cache.
constexpr std::int64_t program_chunk = 128;
// One thread computes a program of fewer elements than this.
constexpr std::int64_t least_for_threads = 8192;
// In floats, from one chunk to the next.
constexpr std::size_t program_stride = static_cast<std::size_t>(program_chunk) + 16;

double result_of(const NumberStep& step, double a, double b) {
    switch (step.op) {
        case NumberStep::Op::copy:
            return a;
        case NumberStep::Op::add:
            return a + b;
        case NumberStep::Op::sub:
            return a - b;
        case NumberStep::Op::mul:
            return a * b;
        case NumberStep::Op::div:
            return a / b;
        case NumberStep::Op::pow:
            return std::pow(a, b);
        case NumberStep::Op::sqrt:
            return std::sqrt(a);
        case NumberStep::Op::neg:
            return -a;
        case NumberStep::Op::min:
            return graph::lesser(a, b);
        case NumberStep::Op::max:
            return graph::greater(a, b);
    }
    return a;
}

// The numbers that chunk steps read, in their order.
std::vector<float> scalars_of(const ElementProgram& program, const Pointers& pointers) {
    std::vector<double> numbers = program.numbers;
    for (const auto& [number, input] : program.given)
        numbers[number] = static_cast<double>(*reinterpret_cast<const float*>(pointers.inputs[input]));
    for (const NumberStep& step : program.number_steps) {
        const double made = result_of(step, numbers[step.a], numbers[step.b]);
        numbers[step.to] = step.rounds ? static_cast<double>(static_cast<float>(made)) : made;
    }
    std::vector<float> scalars;
    for (const std::size_t number : program.scalars) scalars.push_back(static_cast<float>(numbers[number]));
    return scalars;
}

// The region inputs that the program reads as whole tensors.
std::vector<bool> whole_inputs(const Task& task, const ElementProgram& program) {
    std::vector<bool> whole(task.region.inputs.size());
    const auto mark = [&](const Slot& slot) {
        if (slot.in == Slot::In::input) whole[slot.index] = true;
    };
    for (const ChunkStep& step : program.steps) {
        mark(step.from);
        if (step.step.operand != graph::ValueId::none) mark(step.operand);
    }
    for (const Slot& output : program.outputs) mark(output);
    for (const auto& [number, input] : program.given) whole[input] = false;
    return whole;
}

// Says which inputs and outputs a choice stores in bf16.
struct StoredNarrow {
    std::vector<std::size_t> inputs;
    std::vector<std::size_t> row;  // for each region input, its chunk among the widened ones, or `none`
    std::vector<bool> outputs;

    explicit StoredNarrow(const plan::Choice& choice) : row(choice.inputs.size(), none) {
        for (std::size_t i = 0; i < choice.inputs.size(); ++i) {
            if (!in_bf16(choice.inputs[i])) continue;
            row[i] = inputs.size();
            inputs.push_back(i);
        }
        for (const plan::Format& format : choice.outputs) outputs.push_back(in_bf16(format));
    }
    static constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
};

// The floats that one thread keeps while it runs.
std::size_t kept_floats(const ElementProgram& program, const StoredNarrow& narrow) {
    return program_stride * (program.scratch + program.scalars.size() + narrow.inputs.size());
}

// Runs the program on the chunks [first, last); `memory` has room for kept_floats().
void run_chunks(const ElementProgram& program, const StoredNarrow& narrow, const std::vector<float>& scalars,
                const Pointers& pointers, float* memory, std::int64_t first, std::int64_t last) {
    float* const spread = memory + program.scratch * program_stride;
    float* const widened = spread + scalars.size() * program_stride;
    for (std::size_t s = 0; s < scalars.size(); ++s)
        std::fill_n(spread + s * program_stride, program_chunk, scalars[s]);
    for (std::int64_t c = first; c < last; ++c) {
        const std::int64_t at = c * program_chunk, n = std::min(program_chunk, program.count - at);
        const auto data = [&](const Slot& slot) -> const float* {
            const std::size_t offset = slot.index * program_stride;
            if (slot.in == Slot::In::scratch) return memory + offset;
            if (slot.in == Slot::In::scalar) return spread + offset;
            if (const std::size_t row = narrow.row[slot.index]; row != StoredNarrow::none)
                return widened + row * program_stride;
            return reinterpret_cast<const float*>(pointers.inputs[slot.index]) + at;
        };
        for (std::size_t i = 0; i < narrow.inputs.size(); ++i)
            simd::widen(reinterpret_cast<const std::uint16_t*>(pointers.inputs[narrow.inputs[i]]) + at,
                        widened + i * program_stride, n);
        for (const ChunkStep& step : program.steps) {
            float* to = memory + step.to * program_stride;
            const float* operand = step.step.operand == graph::ValueId::none ? nullptr : data(step.operand);
            simd::apply(step.step, to, data(step.from), operand, n);
        }
        // An output may lie where an input does (plan::Choice): the chunk is read by now.
        for (std::size_t o = 0; o < program.outputs.size(); ++o) {
            const float* from = data(program.outputs[o]);
            if (narrow.outputs[o]) {
                simd::narrow(from, reinterpret_cast<std::uint16_t*>(pointers.outputs[o]) + at, n);
                continue;
            }
            auto* to = reinterpret_cast<float*>(pointers.outputs[o]) + at;
            if (from != to) std::copy_n(from, n, to);
        }
    }
}

Bytes workspace_of(const ElementProgram& program, const StoredNarrow& narrow, int threads) {
    return Bytes(static_cast<std::int64_t>(kept_floats(program, narrow) * sizeof(float)) * threads);
}

std::vector<plan::Choice> offers_element_program(const Task& task) {
    const auto program = element_program(task);
    if (!program) return {};
    std::vector<plan::Choice> choices = {task.plain_choice(std::string(element_program_family_name))};
    offer_widened(
        task, [whole = whole_inputs(task, *program)](std::size_t i) { return bool{whole[i]}; }, choices);
    for (plan::Choice& choice : choices)
        choice.workspace = workspace_of(*program, StoredNarrow(choice), task.context.threads);
    return choices;
}

Result<Kernel> prepare_element_program(const Task& task, const plan::Choice& choice) {
    auto program = element_program(task);
    if (!program) return unknown_kernel(choice);
    Kernel kernel;
    StoredNarrow narrow(choice);
    kernel.workspace = workspace_of(*program, narrow, task.context.threads);
    kernel.run = [program = *std::move(program), narrow = std::move(narrow),
                  threads = task.context.threads](const Pointers& pointers) {
        const std::vector<float> scalars = scalars_of(program, pointers);
        const std::int64_t chunks = (program.count + program_chunk - 1) / program_chunk;
        auto* const memory = reinterpret_cast<float*>(pointers.workspace);
        if (program.count < least_for_threads)
            return run_chunks(program, narrow, scalars, pointers, memory, 0, chunks);
        parallel(threads, [&](int part) {
            const auto [first, last] = share(chunks, part, threads);
            run_chunks(program, narrow, scalars, pointers,
                       memory + static_cast<std::size_t>(part) * kept_floats(program, narrow), first, last);
        });
    };
    return kernel;
}

}  // namespace

Family element_program_family() {
    return {element_program_family_name, offers_element_program, prepare_element_program, true};
}

}  // namespace viridian::execute::cpu
