#pragma once
// Computes one step of a recurrent cell (RNN, GRU, LSTM) from the sums of its gates, 16 hidden units at a
// time: the activations, and the next hidden state.
#include <cstdint>

namespace viridian::execute::cpu::simd {

// `gru` is the operator with linear_before_reset. `gru_before` is the one without: the product of its
// candidate reads the hidden state after the reset.
enum class Cell : std::uint8_t { rnn_tanh, rnn_relu, gru, gru_before, lstm };

// Returns the number of gates of a cell. They are, in the operators' order: h; z, r, h; i, o, f, c.
[[nodiscard]] constexpr std::int64_t gates(Cell cell) {
    return cell == Cell::lstm ? 4 : cell == Cell::gru || cell == Cell::gru_before ? 3 : 1;
}

// A CellStep is one step of `blocks` blocks of 16 units of one example. Gates lie [block][gate][16].
struct CellStep {
    std::int64_t blocks = 0;
    const float* from_input = nullptr;   // X·Wᵀ and the biases that go with it
    const float* from_hidden = nullptr;  // H·Rᵀ; gru_before: of z and r alone
    const float* from_reset = nullptr;   // gru_before: (r∘H)·Rᵀ of the candidate, [block][16]
    const float* before = nullptr;       // H
    float* hidden = nullptr;             // the next H; of reset(): r∘H
    float* state = nullptr;              // lstm: C, updated; [block][16]
    std::int64_t hidden_block = 0;       // floats from one block of `before` and `hidden` to the next
};

// Computes the next hidden state, and the next cell state of an LSTM.
void step(Cell cell, const CellStep& step);
// Computes r∘H, the first half of a step of `gru_before`.
void reset(const CellStep& step);

}  // namespace viridian::execute::cpu::simd
