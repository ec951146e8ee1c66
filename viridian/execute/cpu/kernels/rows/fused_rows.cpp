// Regions of several nodes in one pass over rows, with several results (row_program.hpp). Each thread takes
// rows, and keeps what is made between two nodes, and its sums over rows, in its own part of the workspace.
// Whole tensors may be stored in bf16; the program reads and makes them in f32.
#include <algorithm>
#include <array>

#include "viridian/execute/cpu/kernels/precision.hpp"
#include "viridian/execute/cpu/kernels/rows/row_program.hpp"
#include "viridian/execute/cpu/kernels/training/row_operator.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/elementwise/loops.hpp"
#include "viridian/execute/cpu/simd/elementwise/numeric.hpp"
#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"
#include "viridian/execute/cpu/simd/training/gradients.hpp"
#include "viridian/execute/cpu/threads.hpp"
#include "viridian/plan/states.hpp"

namespace viridian::execute::cpu {
namespace {

constexpr std::string_view fused_rows_family_name = "simd:fused";

// How the workspace is divided: the repeated numbers, then for each part of the job its rows of scratch and
// its sums.
struct RowMemory {
    std::int64_t row, sum, numbers, part;

    explicit RowMemory(const RowProgram& program)
        : row(aligned_bytes(program.n * size_of(graph::ElementType::f32))),
          sum(aligned_bytes(program.n * size_of(graph::ElementType::f64))),
          numbers(static_cast<std::int64_t>(program.numbers.size()) * row),
          part(static_cast<std::int64_t>(program.scratch) * row +
               static_cast<std::int64_t>(program.sums.size()) * sum) {}

    [[nodiscard]] Bytes whole(int threads) const { return Bytes(numbers + part * threads); }
};

// What one part of the job reads and writes.
struct RowPart {
    const RowProgram& program;
    const Pointers& pointers;
    const std::array<Draw, most_row_masks>& draws;
    const RowMemory& memory;
    const std::vector<bool>& narrow;  // outputs that are stored in bf16
    std::byte* own;                   // its rows of scratch, and its sums behind them

    [[nodiscard]] std::byte* at(const RowPlace& place, std::int64_t row) const {
        const std::int64_t offset = row * place.step;
        switch (place.in) {
            case RowPlace::In::input:
                return const_cast<std::byte*>(pointers.inputs[place.index]) + offset;
            case RowPlace::In::output:
                return pointers.outputs[place.index] + offset;
            case RowPlace::In::constant:
                return const_cast<std::byte*>(pointers.constants[place.index]);
            case RowPlace::In::number:
                return pointers.workspace + static_cast<std::int64_t>(place.index) * memory.row;
            case RowPlace::In::scratch:
                break;
        }
        return own + static_cast<std::int64_t>(place.index) * memory.row;
    }
    [[nodiscard]] double* sum(std::size_t i) const {
        return reinterpret_cast<double*>(own + static_cast<std::int64_t>(program.scratch) * memory.row +
                                         static_cast<std::int64_t>(i) * memory.sum);
    }

    [[nodiscard]] const float* from(const RowStep& step, std::size_t i, std::int64_t row) const {
        return i < step.from.size() && step.from[i] ? reinterpret_cast<const float*>(at(*step.from[i], row))
                                                    : nullptr;
    }
    [[nodiscard]] float* to(const RowStep& step, std::size_t i, std::int64_t row) const {
        return reinterpret_cast<float*>(at(step.to[i], row));
    }

    void normalize(const RowStep& step, std::int64_t row) const {
        const RowStatistics made = normalize_row(to(step, 0, row), from(step, 0, row), from(step, 1, row),
                                                 from(step, 2, row), step.epsilon, program.n);
        *to(step, 1, row) = made.mean;
        *to(step, 2, row) = made.inverse;
    }

    void input_gradient(const RowStep& step, std::int64_t row) const {
        differentiate_row(to(step, 0, row), from(step, 0, row), from(step, 1, row), from(step, 2, row),
                          {*from(step, 3, row), *from(step, 4, row)}, program.n);
    }

    [[nodiscard]] float* kept(std::size_t scratch) const {
        return reinterpret_cast<float*>(at({RowPlace::In::scratch, scratch, 0}, 0));
    }

    void run(std::int64_t row) const {
        for (const auto& [input, scratch] : program.widened)
            simd::widen(reinterpret_cast<const std::uint16_t*>(pointers.inputs[input]) + row * program.n,
                        kept(scratch), program.n);
        for (const RowStep& step : program.steps) run(step, row);
        for (const auto& [output, scratch] : program.stored_last)
            if (narrow[output])
                simd::narrow(kept(scratch),
                             reinterpret_cast<std::uint16_t*>(pointers.outputs[output]) + row * program.n,
                             program.n);
            else
                std::copy_n(kept(scratch), program.n,
                            reinterpret_cast<float*>(pointers.outputs[output]) + row * program.n);
    }

    void run(const RowStep& step, std::int64_t row) const {
        const std::int64_t n = program.n;
        switch (step.does) {
            case RowStep::Does::element:
                return simd::apply(step.element, to(step, 0, row), from(step, 0, row), from(step, 1, row), n);
            case RowStep::Does::select:
                return simd::select(size_of(graph::ElementType::f32), at(*step.from[0], row),
                                    at(*step.from[1], row), at(*step.from[2], row), at(step.to[0], row), n);
            case RowStep::Does::draw: {
                const std::int64_t each = program.masks[step.mask].elements / n;  // rows of a sample
                return draws[step.mask].draw(row / each, row % each * n, n,
                                             reinterpret_cast<std::uint8_t*>(at(step.to[0], row)));
            }
            case RowStep::Does::normalize:
                return normalize(step, row);
            case RowStep::Does::input_gradient:
                return input_gradient(step, row);
            case RowStep::Does::scale_gradient:
                return simd::add_columns(sum(step.sums[0]), sum(step.sums[1]), from(step, 0, row),
                                         from(step, 1, row), *from(step, 2, row), *from(step, 3, row), n);
            case RowStep::Does::softmax:
                if (to(step, 0, row) != from(step, 0, row))
                    std::copy_n(from(step, 0, row), n, to(step, 0, row));
                return simd::softmax_row(to(step, 0, row), n);
            case RowStep::Does::softmax_gradient:
                return simd::softmax_gradient(to(step, 0, row), from(step, 0, row), from(step, 1, row), n);
            case RowStep::Does::sum:
                return simd::fold_into(simd::Fold::sum, sum(step.sums[0]), from(step, 0, row), n);
        }
    }
};

void run_rows(const RowProgram& program, const std::vector<bool>& narrow, int threads,
              const Pointers& pointers) {
    const RowMemory memory(program);
    for (std::size_t i = 0; i < program.numbers.size(); ++i)
        std::fill_n(reinterpret_cast<float*>(pointers.workspace + static_cast<std::int64_t>(i) * memory.row),
                    program.n, program.numbers[i]);
    std::array<Draw, most_row_masks> draws;
    for (std::size_t i = 0; i < program.masks.size(); ++i) draws[i] = program.masks[i].of(pointers);
    const int parts = program.rows * program.n < 8192 ? 1 : threads;
    const auto part_of = [&](int part) {
        return RowPart{program, pointers, draws,
                       memory,  narrow,   pointers.workspace + memory.numbers + memory.part * part};
    };
    const auto work_on = [&](int part) {
        const RowPart own = part_of(part);
        for (std::size_t i = 0; i < program.sums.size(); ++i) std::fill_n(own.sum(i), program.n, 0.0);
        const auto [first, last] = share(program.rows, part, parts);
        for (std::int64_t row = first; row < last; ++row) own.run(row);
    };
    if (parts == 1)
        work_on(0);
    else
        parallel(parts, work_on);
    for (std::size_t i = 0; i < program.sums.size(); ++i) {
        if (!program.sums[i]) continue;
        auto* const to = reinterpret_cast<float*>(pointers.outputs[*program.sums[i]]);
        for (std::int64_t k = 0; k < program.n; ++k) {
            double total = 0;
            for (int part = 0; part < parts; ++part) total += part_of(part).sum(i)[k];
            to[k] = static_cast<float>(total);
        }
    }
}

std::vector<plan::Choice> offers_fused_rows(const Task& task) {
    const auto program = row_program(task);
    if (!program) return {};
    std::vector<plan::Choice> choices = {task.plain_choice(std::string(fused_rows_family_name))};
    choices[0].variant.keeps_nan = true;
    offer_widened(
        task, [&](std::size_t i) { return program->reads_whole(i); }, choices,
        [&](std::size_t i) { return program->writes_whole(i); });
    for (plan::Choice& choice : choices) {
        RowProgram stored = *program;
        stored.store(choice, plan::is_elementwise(task.graph, task.region));
        choice.workspace = RowMemory(stored).whole(task.context.threads);
    }
    return choices;
}

Result<Kernel> prepare_fused_rows(const Task& task, const plan::Choice& choice) {
    auto program = row_program(task);
    if (!program) return unknown_kernel(choice);
    Kernel kernel;
    for (const graph::ValueId id : program->constants) kernel.constants.push_back(plain_constant(task, id));
    program->store(choice, plan::is_elementwise(task.graph, task.region));
    std::vector<bool> narrow;
    for (const plan::Format& format : choice.outputs) narrow.push_back(in_bf16(format));
    kernel.workspace = RowMemory(*program).whole(task.context.threads);
    kernel.run = [program = *std::move(program), narrow = std::move(narrow), threads = task.context.threads](
                     const Pointers& pointers) { run_rows(program, narrow, threads, pointers); };
    return kernel;
}

}  // namespace

Family fused_rows_family() { return {fused_rows_family_name, offers_fused_rows, prepare_fused_rows, true}; }

}  // namespace viridian::execute::cpu
