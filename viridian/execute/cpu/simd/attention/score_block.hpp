#pragma once
// Attention that is kept in cache goes through blocks of queries and keys. These are the steps between its
// two products, on one block: a softmax with a running maximum and a running sum (Milakov and Gimelshein
// 2018; Rabe and Staats 2021; Dao et al. 2022, Algorithm 1).
#include <array>
#include <cstdint>

namespace viridian::execute::cpu::simd {

// A ScoreBlock has the scores of `rows` queries against `keys` keys in the order in which the micro-kernel
// writes them and reads them again, [block of 16 keys][row][16]. Lanes beyond the last key may hold anything.
struct ScoreBlock {
    // An addend of the scores: entry (row, key) stands at first[row · row_stride + key · key_stride].
    struct Mask {
        const float* first = nullptr;
        std::int64_t row_stride = 0;
        std::int64_t key_stride = 1;  // 0 or 1
    };
    // A choice of scores that are replaced by `value`: those whose flag is not 0 if `keeps` is false, the
    // others if it is true. Flags lie as masks do. None if `first` is null.
    struct Hidden {
        const std::uint8_t* first = nullptr;
        std::int64_t row_stride = 0;
        std::int64_t key_stride = 1;  // 0 or 1
        bool keeps = true;
        float value = 0;
    };
    float* scores = nullptr;
    std::int64_t rows = 0, keys = 0;
    std::array<Mask, 2> masks;
    int mask_count = 0;
    Hidden hidden;           // applied after the masks
    bool first = true;       // no block of keys came before
    float* most = nullptr;   // [rows]: the greatest score of each row up to this block
    float* sums = nullptr;   // [rows][16]: parts of the sum of each row's exponentials
    float* decay = nullptr;  // [rows]: what results of earlier blocks are to be multiplied by
};

// Adds the masks, hides scores, replaces every score x by e^(x − most), and brings `most`, `sums` and `decay`
// up to date. A row with a NaN has a sum of NaN, as has one with +∞; a row whose scores are all −∞ has a sum
// of 0.
void exponentials(const ScoreBlock& block);

// Multiplies row r of `x`, [rows][width], by factors[r]. The width is a multiple of 16.
void scale_rows(float* x, const float* factors, std::int64_t rows, std::int64_t width);
// Writes row r of `x`, times `factor` and divided by the sum of sums[r][0 … 15], to to[r · stride], `count` ≤
// `width` of it.
void divide_rows(const float* x, const float* sums, float factor, std::int64_t rows, std::int64_t width,
                 float* to, std::int64_t stride, std::int64_t count);

}  // namespace viridian::execute::cpu::simd
