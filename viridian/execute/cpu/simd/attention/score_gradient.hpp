#pragma once
// The steps of attention's gradient on one block of queries and all keys, between its products, and the
// dropout of its probabilities.
#include <cstdint>

#include "viridian/execute/cpu/simd/attention/score_block.hpp"

namespace viridian::execute::cpu::simd {

// A KeptScores says which probabilities a dropout keeps: that of (row, key) if first[row · row_stride + key]
// is not 0. It keeps all of them if `first` is null.
struct KeptScores {
    const std::uint8_t* first = nullptr;
    std::int64_t row_stride = 0;
};

// Replaces the scores that are not kept by 0. They lie as in a ScoreBlock (score_block.hpp).
void drop_scores(float* scores, std::int64_t rows, std::int64_t keys, const KeptScores& kept);

// A ScoreGradient has, in the order of a ScoreBlock, what exponentials() made of the scores of all keys, and
// the gradient of the probabilities after their dropout.
struct ScoreGradient {
    float* weights = nullptr;   // in: exponentials; out: the probabilities after their dropout
    float* gradient = nullptr;  // in: that of those probabilities; out: that of the products q·k
    std::int64_t rows = 0, keys = 0;
    const float* sums = nullptr;  // [rows][16]: parts of the sum of each row's exponentials
    KeptScores kept;
    float kept_scale = 1;  // what probabilities that are kept are multiplied by
    float scale = 1;       // of the scores
    ScoreBlock::Hidden hidden;
};

// With p = e / Σe, m = kept ? kept_scale : 0 and g = gradient · m it writes weights = p · m and
// gradient = scale · p · (g − Σ g · p), the sums over the keys of a row; 0 for scores that are hidden.
void differentiate_scores(const ScoreGradient& block);

}  // namespace viridian::execute::cpu::simd
