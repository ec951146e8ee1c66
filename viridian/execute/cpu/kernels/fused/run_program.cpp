// Runs programs (program.hpp). Each thread takes pieces, and keeps what is made between two steps in its own
// part of the workspace. Whole tensors may be stored in bf16; the program reads and makes them in f32.
#include "viridian/execute/cpu/kernels/fused/run_program.hpp"

#include <algorithm>
#include <array>

#include "viridian/execute/cpu/kernels/fused/row_operator.hpp"
#include "viridian/execute/cpu/simd/bf16/bf16.hpp"
#include "viridian/execute/cpu/simd/elementwise/loops.hpp"
#include "viridian/execute/cpu/simd/elementwise/numeric.hpp"
#include "viridian/execute/cpu/simd/elementwise/reduce.hpp"
#include "viridian/execute/cpu/simd/elementwise/stream.hpp"
#include "viridian/execute/cpu/simd/training/gradients.hpp"
#include "viridian/execute/cpu/threads.hpp"

namespace viridian::execute::cpu {
namespace {

// One thread computes a program of fewer elements than this.
constexpr std::int64_t least_for_threads = 8192;
// Stretches of pieces for each thread, which takes one after the other.
constexpr std::int64_t stretches_of_a_thread = 8;
// Sums over rows are made in at most so many parts, whatever the number of threads, and added in their order.
// Their bits are therefore the same on any number of threads.
constexpr std::int64_t most_sum_parts = 16;
// Sums are kept in f32 over so many rows of a part, so that they take half the space in the cache, and in
// double over all of them.
constexpr std::int64_t rows_of_partial_sums = 16;

// How the workspace is divided: all single numbers; those that are combined with elements, each repeated over
// a piece; the sums of each part of the rows; then for each thread its scratch, its broadcast operands and
// its partial sums.
// Pieces lie one cache line further apart than their size, so that equal elements of several are not mapped
// to one set of a cache.
struct FusedMemory {
    std::int64_t piece, sum, sum_parts, numbers, sums, shared, thread;

    explicit FusedMemory(const Program& program)
        : piece(aligned_bytes(program.n * size_of(graph::ElementType::f32)) + 64),
          sum(aligned_bytes(program.n * size_of(graph::ElementType::f64))),
          sum_parts(program.sums.empty() ? 0 : std::min(most_sum_parts, program.pieces())),
          numbers(aligned_bytes(std::ssize(program.numbers.values) * size_of(graph::ElementType::f64))),
          sums(numbers + std::ssize(program.numbers.read) * piece),
          shared(sums + sum_parts * std::ssize(program.sums) * sum),
          thread((static_cast<std::int64_t>(program.scratch) + std::ssize(program.broadcasts) +
                  std::ssize(program.sums)) *
                 piece) {}

    [[nodiscard]] Bytes whole(int threads) const { return Bytes(shared + thread * threads); }
    // Returns sum number `i` of one part of the rows.
    [[nodiscard]] double* sum_of(std::byte* workspace, const Program& program, std::int64_t part,
                                 std::size_t i) const {
        const std::int64_t before = part * std::ssize(program.sums) + static_cast<std::int64_t>(i);
        return reinterpret_cast<double*>(workspace + sums + before * sum);
    }
};

// What one thread reads and writes.
struct FusedThread {
    const Program& program;
    const Pointers& pointers;
    const std::array<Draw, most_masks>& draws;
    const FusedMemory& memory;
    const Traffic& traffic;
    std::byte* own;                            // its scratch, broadcast operands and partial sums
    std::int64_t part = 0;                     // of the rows, for sums
    std::int64_t piece = 0, first = 0, n = 0;  // the piece: its number, its first element, its elements

    [[nodiscard]] std::byte* at(const ProgramPlace& place) const {
        const std::int64_t offset = first * place.element_bytes + piece * place.piece_bytes;
        const auto index = static_cast<std::int64_t>(place.index);
        switch (place.in) {
            case ProgramPlace::In::input:
                return const_cast<std::byte*>(pointers.inputs[index]) + offset;
            case ProgramPlace::In::output:
                return pointers.outputs[index] + offset;
            case ProgramPlace::In::constant:
                return const_cast<std::byte*>(pointers.constants[index]);
            case ProgramPlace::In::number:
                return pointers.workspace + memory.numbers + index * memory.piece;
            case ProgramPlace::In::spread:
                return broadcast(place.index);
            case ProgramPlace::In::scratch:
                break;
        }
        return own + index * memory.piece;
    }
    [[nodiscard]] std::byte* broadcast(std::size_t i) const {
        const auto index = static_cast<std::int64_t>(program.scratch + i);
        auto* const room = reinterpret_cast<float*>(own + index * memory.piece);
        const Broadcast& read = program.broadcasts[i];
        const auto* const from = reinterpret_cast<const float*>(at(read.from));
        return reinterpret_cast<std::byte*>(const_cast<float*>(read.spread.chunk(from, first, n, room)));
    }
    [[nodiscard]] float* partial_sum(std::size_t i) const {
        const auto index = static_cast<std::int64_t>(program.scratch + program.broadcasts.size() + i);
        return reinterpret_cast<float*>(own + index * memory.piece);
    }
    void clear_partial_sums() const {
        for (std::size_t i = 0; i < program.sums.size(); ++i) std::fill_n(partial_sum(i), program.n, 0.0F);
    }
    // Adds the partial sums to those of the part.
    void add_partial_sums() const {
        for (std::size_t i = 0; i < program.sums.size(); ++i)
            simd::fold_into(simd::Fold::sum, memory.sum_of(pointers.workspace, program, part, i),
                            partial_sum(i), program.n);
    }

    [[nodiscard]] const float* from(const ProgramStep& step, std::size_t i) const {
        return i < step.from.size() && step.from[i] ? reinterpret_cast<const float*>(at(*step.from[i]))
                                                    : nullptr;
    }
    [[nodiscard]] float* to(const ProgramStep& step, std::size_t i) const {
        return reinterpret_cast<float*>(at(step.to[i]));
    }
    [[nodiscard]] float* kept(std::size_t scratch) const {
        return reinterpret_cast<float*>(at({ProgramPlace::In::scratch, scratch}));
    }

    void normalize(const ProgramStep& step) const {
        const RowStatistics made =
            normalize_row(to(step, 0), from(step, 0), from(step, 1), from(step, 2), step.epsilon, n);
        *to(step, 1) = made.mean;
        *to(step, 2) = made.inverse;
    }
    void input_gradient(const ProgramStep& step) const {
        differentiate_row(to(step, 0), from(step, 0), from(step, 1), from(step, 2),
                          {*from(step, 3), *from(step, 4)}, n);
    }
    void draw(const ProgramStep& step) const {
        const std::int64_t each = program.masks[step.mask].elements / n;  // rows of a sample
        draws[step.mask].draw(piece / each, piece % each * n, n,
                              reinterpret_cast<std::uint8_t*>(at(step.to[0])));
    }
    void combine(const ProgramStep& step) const {
        const float* const a = from(step, 2);
        const float* const b = from(step, 3);
        const float right = b == nullptr ? 1 : *b;
        simd::combine(to(step, 0), a == nullptr ? 1 : *a, from(step, 0), step.subtracts ? -right : right,
                      from(step, 1), n);
    }
    void copy(const ProgramStep& step) const {
        if (to(step, 0) != from(step, 0)) std::copy_n(from(step, 0), n, to(step, 0));
    }

    // Asks for the whole inputs of the next piece, which has at most `count` elements, so that memory works
    // while this piece is computed.
    void read_ahead(std::int64_t count) const {
        constexpr std::int64_t line = 64;
        for (const auto& [input, size] : traffic.read) {
            const std::byte* const from = pointers.inputs[input] + (first + n) * size;
            for (std::int64_t i = 0; i < count * size; i += line) __builtin_prefetch(from + i);
        }
    }

    // Runs the program on piece number `i`.
    void run(std::int64_t i) {
        piece = i;
        first = i * program.n;
        n = std::min(program.n, program.count - first);
        read_ahead(std::min(program.n, program.count - first - n));
        for (const auto& [input, scratch] : program.widened)
            simd::widen(reinterpret_cast<const std::uint16_t*>(pointers.inputs[input]) + first, kept(scratch),
                        n);
        for (const ProgramStep& step : program.steps) run(step);
        for (const auto& [output, scratch] : program.stored_last) store(output, kept(scratch));
    }

    // Stores a piece that was made in scratch, and may overwrite the scratch.
    void store(std::size_t output, float* made) const {
        const bool narrow = traffic.narrow[output];
        const std::int64_t size = size_of(narrow ? graph::ElementType::bf16 : graph::ElementType::f32);
        std::byte* const to = pointers.outputs[output] + first * size;
        std::byte* const ready = traffic.streams ? reinterpret_cast<std::byte*>(made) : to;
        if (narrow)
            simd::narrow(made, reinterpret_cast<std::uint16_t*>(ready), n);  // in place before streaming
        if (traffic.streams)
            simd::stream(ready, to, n * size);
        else if (!narrow)
            std::copy_n(made, n, reinterpret_cast<float*>(to));
    }

    void run(const ProgramStep& step) const {
        switch (step.does) {
            case ProgramStep::Does::element:
                if (step.from.size() > 1 && step.from[1]->in == ProgramPlace::In::number)
                    return simd::apply_number(step.element, to(step, 0), from(step, 0), *from(step, 1), n);
                return simd::apply(step.element, to(step, 0), from(step, 0), from(step, 1), n);
            case ProgramStep::Does::combine:
                return combine(step);
            case ProgramStep::Does::copy:
                return copy(step);
            case ProgramStep::Does::select:
                return simd::select(size_of(graph::ElementType::f32), at(*step.from[0]), at(*step.from[1]),
                                    at(*step.from[2]), at(step.to[0]), n);
            case ProgramStep::Does::draw:
                return draw(step);
            case ProgramStep::Does::normalize:
                return normalize(step);
            case ProgramStep::Does::input_gradient:
                return input_gradient(step);
            case ProgramStep::Does::scale_gradient:
                return simd::add_columns(partial_sum(step.sums[0]), partial_sum(step.sums[1]), from(step, 0),
                                         from(step, 1), *from(step, 2), *from(step, 3), n);
            case ProgramStep::Does::softmax:
                return simd::softmax_row(to(step, 0), from(step, 0), n);
            case ProgramStep::Does::log_softmax:
                return simd::log_softmax_row(to(step, 0), from(step, 0), n);
            case ProgramStep::Does::softmax_gradient:
                return simd::softmax_gradient(to(step, 0), from(step, 0), from(step, 1), n);
            case ProgramStep::Does::sum:
                return simd::apply_operand({.function = Function::add}, partial_sum(step.sums[0]),
                                           partial_sum(step.sums[0]), from(step, 0), n);
        }
    }
};

// Adds the sums of all parts, and stores those that somebody reads.
void add_parts(const Program& program, const FusedMemory& memory, const Pointers& pointers, int workers) {
    in_shares(workers, program.n, [&](std::int64_t from, std::int64_t to) {
        for (std::size_t i = 0; i < program.sums.size(); ++i) {
            if (!program.sums[i]) continue;
            double* const total = memory.sum_of(pointers.workspace, program, 0, i);
            for (std::int64_t part = 1; part < memory.sum_parts; ++part) {
                const double* const more = memory.sum_of(pointers.workspace, program, part, i);
                for (std::int64_t k = from; k < to; ++k) total[k] += more[k];
            }
            auto* const result = reinterpret_cast<float*>(pointers.outputs[*program.sums[i]]);
            for (std::int64_t k = from; k < to; ++k) result[k] = static_cast<float>(total[k]);
        }
    });
}

}  // namespace

Bytes program_workspace(const Program& program, int threads) { return FusedMemory(program).whole(threads); }

void run_program(const Program& program, const Traffic& traffic, int threads, const Pointers& pointers) {
    const FusedMemory memory(program);
    auto* const numbers = reinterpret_cast<double*>(pointers.workspace);
    program.numbers.compute(pointers, numbers);
    for (std::size_t i = 0; i < program.numbers.read.size(); ++i)
        std::fill_n(reinterpret_cast<float*>(pointers.workspace + memory.numbers +
                                             static_cast<std::int64_t>(i) * memory.piece),
                    program.n, static_cast<float>(numbers[program.numbers.read[i]]));
    std::array<Draw, most_masks> draws;
    for (std::size_t i = 0; i < program.masks.size(); ++i) draws[i] = program.masks[i].of(pointers);
    const int workers = program.count < least_for_threads ? 1 : threads;
    const auto run_pieces = [&](int worker, std::int64_t part, std::int64_t first, std::int64_t last) {
        std::byte* const own = pointers.workspace + memory.shared + memory.thread * worker;
        FusedThread here{program, pointers, draws, memory, traffic, own, part};
        for (std::int64_t piece = first; piece < last; ++piece) {
            const std::int64_t row = (piece - first) % rows_of_partial_sums;
            if (row == 0) here.clear_partial_sums();
            here.run(piece);
            if (row + 1 == rows_of_partial_sums || piece + 1 == last) here.add_partial_sums();
        }
        if (traffic.streams) simd::finish_stream();
    };
    if (program.sums.empty()) {
        const std::int64_t stretches =
            workers == 1 ? 1 : std::min(program.pieces(), stretches_of_a_thread * workers);
        return in_turn(workers, stretches, [&](std::int64_t i, int worker) {
            const auto [first, last] = share(program.pieces(), i, stretches);
            run_pieces(worker, 0, first, last);
        });
    }
    in_turn(workers, memory.sum_parts, [&](std::int64_t part, int worker) {
        for (std::size_t i = 0; i < program.sums.size(); ++i)
            std::fill_n(memory.sum_of(pointers.workspace, program, part, i), program.n, 0.0);
        const auto [first, last] = share(program.pieces(), part, memory.sum_parts);
        run_pieces(worker, part, first, last);
    });
    add_parts(program, memory, pointers, workers);
}

}  // namespace viridian::execute::cpu
