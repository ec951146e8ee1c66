#include "viridian/execute/peaks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "viridian/base/system/machine.hpp"
#include "viridian/execute/cpu/buffer.hpp"
#include "viridian/execute/cpu/simd/bf16/tiles.hpp"
#include "viridian/execute/cpu/timing/peak_loops.hpp"

namespace viridian::execute {
namespace {

// The sums of a loop tend to 2, and all of them are added up: 8 or 16 lanes of several sums, of which one
// lane is returned.
TEST(PeakLoops, DoTheArithmeticThatTheyCount) {
    EXPECT_EQ(cpu::f32_loop(false).run(100), 2 * 12);
    EXPECT_EQ(cpu::f32_loop(false).run(1), 1.5F * 12);
    EXPECT_EQ(cpu::f32_loop(false).flop_of_a_pass, 2 * 8 * 12);
    if (this_machine().has("avx512")) {
        EXPECT_EQ(cpu::f32_loop(true).run(1), 1.5F * 24);
    }
    if (this_machine().has("avx512_bf16")) {
        EXPECT_EQ(cpu::bf16_loop().run(3), 24);
    }
    if (cpu::simd::matrix_unit()) {  // four sums, each of 32 products in a pass
        EXPECT_EQ(cpu::tile_loop().run(3), 4 * 32 * 3);
        EXPECT_EQ(cpu::tile_loop().flop_of_a_pass, 2 * 16 * 16 * 32 * 4);
    }
}

TEST(PeakLoops, MoveEveryByte) {
    constexpr std::size_t bytes = 3 * 256;
    for (const bool streaming : {false, true}) {
        const cpu::Buffer from(bytes), to(bytes);
        auto* source = reinterpret_cast<float*>(from.data());
        const auto* target = reinterpret_cast<const float*>(to.data());
        cpu::write_all(from.data(), bytes, streaming);
        for (std::size_t i = 0; i < bytes / 4; ++i) EXPECT_EQ(source[i], 1);
        EXPECT_EQ(cpu::read_all(from.data(), bytes), 3 * 8);  // one lane of eight
        for (std::size_t i = 0; i < bytes / 4; ++i) source[i] = static_cast<float>(i);
        cpu::copy_all(from.data(), to.data(), bytes, streaming);
        for (std::size_t i = 0; i < bytes / 4; ++i) EXPECT_EQ(target[i], static_cast<float>(i));
    }
}

TEST(Peaks, AreOfEveryProbeOnceForEachCountOfThreads) {
    const auto peaks = probe_peaks(2);
    ASSERT_TRUE(peaks.ok()) << peaks.error().message;
    std::set<std::pair<int, Probe>> seen;
    for (const Peak& peak : *peaks) {
        EXPECT_TRUE(seen.emplace(peak.threads, peak.probe).second);
        EXPECT_GT(peak.rounds.minimum, 0);
        EXPECT_LE(peak.rounds.low, peak.rounds.median);
        EXPECT_LE(peak.rounds.high, peak.best);
        if (counts_flop(peak.probe) && peak.threads > 1)
            EXPECT_GE(peak.rounds.count, 15);  // more, if they share a core
        else
            EXPECT_EQ(peak.rounds.count, 15);
        EXPECT_EQ(peak.working_set.value > 0, !counts_flop(peak.probe));
        EXPECT_EQ(find_peak(*peaks, peak.probe, peak.threads), &peak);
    }
    const std::size_t of_each = 4 + (this_machine().has("avx512_bf16") ? 1 : 0) +
                                (cpu::simd::matrix_unit() ? 1 : 0) + (this_machine().l3.value > 0 ? 3 : 0);
    EXPECT_EQ(seen.size(), 2 * of_each);
    EXPECT_EQ(find_peak(*peaks, Probe::f32, 3), nullptr);
    // No core does more than two multiply-adds of 16 numbers in a cycle, nor 7 GHz: a compiler that leaves a
    // part of the loop out does.
    EXPECT_LT(find_peak(*peaks, Probe::f32, 1)->best, 2 * 32 * 7e9);
}

}  // namespace
}  // namespace viridian::execute
