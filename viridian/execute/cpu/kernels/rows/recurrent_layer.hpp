#pragma once
// Reads an RNN, GRU or LSTM node into plain numbers for the fast kernel: sizes, where values come from and go
// to, and the layout of the workspace.
#include <array>
#include <optional>

#include "viridian/execute/cpu/kernel.hpp"
#include "viridian/execute/cpu/simd/convolution/strip.hpp"
#include "viridian/execute/cpu/simd/convolution/weights.hpp"
#include "viridian/execute/cpu/simd/elementwise/cell.hpp"

namespace viridian::execute::cpu::recurrent {

using simd::block;
using simd::Cell;

// An Operand names the port or constant of the kernel that holds a value in a run.
struct Operand {
    enum class From : std::uint8_t { nowhere, input, output, constant } from = From::nowhere;
    std::size_t index = 0;
};

// A Layer is one recurrent node. Hidden units are computed in blocks of 16 (`units` blocks).
struct Layer {
    Cell cell = Cell::lstm;
    std::int64_t steps = 0, batch = 0, width = 0, hidden = 0, directions = 1;
    bool batch_first = false, reverse = false;
    int threads = 1;
    int members = 1;  // threads of one direction
    Operand x, hidden_start, state_start;
    std::array<Operand, 3> results;  // Y, Y_h, Y_c

    [[nodiscard]] std::int64_t units() const { return (hidden + block - 1) / block; }  // blocks
    [[nodiscard]] std::int64_t gates() const { return simd::gates(cell); }
    [[nodiscard]] std::int64_t rows() const { return steps * batch; }
    // Returns the gates of one row of one direction, padded to whole blocks.
    [[nodiscard]] std::int64_t wide() const { return units() * gates() * block; }
    // Returns how the columns of a product with `gate_count` gates are grouped.
    [[nodiscard]] simd::Groups groups(std::int64_t gate_count) const {
        return {units() * gate_count * block, simd::best_columns()};
    }
    // These return the row of step `t`, direction `d` and example `b` in X, in the states and in Y.
    [[nodiscard]] std::int64_t row(std::int64_t t, std::int64_t b) const {
        return batch_first ? b * steps + t : t * batch + b;
    }
    [[nodiscard]] std::int64_t state_row(std::int64_t d, std::int64_t b) const {
        return batch_first ? b * directions + d : d * batch + b;
    }
    [[nodiscard]] std::int64_t result_row(std::int64_t t, std::int64_t d, std::int64_t b) const {
        return batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
    }

    // The functions below give the parts of the workspace, in floats: the source in blocks of channels, the
    // gates of all rows, then what each direction has for itself.
    [[nodiscard]] std::int64_t source_floats() const { return (width + block - 1) / block * block * rows(); }
    [[nodiscard]] std::int64_t state_floats() const { return units() * batch * block; }
    [[nodiscard]] std::int64_t own_floats() const { return batch * wide() + 4 * state_floats(); }
    [[nodiscard]] std::int64_t floats() const {
        return source_floats() + directions * (rows() * wide() + own_floats());
    }
};

// Returns the layer of a task. Returns nothing if the node has peepholes, clips, unusual activations, or
// weights or lengths that are known only in a run.
[[nodiscard]] std::optional<Layer> layer_of(const Task& task);

}  // namespace viridian::execute::cpu::recurrent
