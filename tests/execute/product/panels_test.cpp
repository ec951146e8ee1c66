#include "viridian/execute/cpu/simd/attention/panels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace viridian::execute::cpu::simd {
namespace {

// Entry (i, j) is a small number of its own, which bf16 holds exactly.
float entry(std::int64_t i, std::int64_t j) { return static_cast<float>((i * 37 + j * 11) % 251); }

// The matrix as it lies in memory, no longer than its last entry, so that sanitizers see what reads behind
// it.
template <class Entry>
std::vector<Entry> stored(std::int64_t rows, std::int64_t depth, std::int64_t row, std::int64_t column) {
    std::vector<Entry> values(static_cast<std::size_t>((rows - 1) * row + (depth - 1) * column + 1));
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < depth; ++j) {
            const float value = entry(i, j);
            auto& to = values[static_cast<std::size_t>(i * row + j * column)];
            if constexpr (sizeof(Entry) == 2)
                to = static_cast<Entry>(std::bit_cast<std::uint32_t>(value) >> 16U);
            else
                to = value;
        }
    return values;
}

template <class Entry>
void expect_tiles(std::int64_t rows, std::int64_t depth, std::int64_t width, bool rows_side_by_side) {
    const std::int64_t row = rows_side_by_side ? 1 : depth + 3,
                       column = rows_side_by_side ? std::max<std::int64_t>(rows + 2, 8) : 1;
    const std::vector<Entry> values = stored<Entry>(rows, depth, row, column);
    const std::int64_t tiles = (rows + width - 1) / width;
    std::vector<float> packed(static_cast<std::size_t>(tiles * width * depth + 7), -1.0F);
    pack_tiles(View<Entry>{values.data(), row, column}, rows, depth, width, packed.data());
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < depth; ++j)
            ASSERT_EQ(packed[static_cast<std::size_t>((i / width * depth + j) * width + i % width)],
                      entry(i, j))
                << rows << " x " << depth << " in tiles of " << width << ", entry " << i << ", " << j
                << (rows_side_by_side ? ", rows side by side" : "");
}

TEST(Panels, TilesHoldEveryEntryInBothOrdersOfAMatrix) {
    for (const std::int64_t width : {2, 6, 14})  // those of the micro-kernels
        for (const std::int64_t rows : {1, 2, 5, 6, 7, 8, 13, 14, 15, 29})
            for (const std::int64_t depth : {1, 7, 8, 9, 16, 33})
                for (const bool side_by_side : {false, true}) {
                    expect_tiles<float>(rows, depth, width, side_by_side);
                    expect_tiles<std::uint16_t>(rows, depth, width, side_by_side);
                }
}

}  // namespace
}  // namespace viridian::execute::cpu::simd
