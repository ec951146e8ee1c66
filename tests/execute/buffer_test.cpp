#include "viridian/execute/cpu/buffer.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>

#include "viridian/base/random.hpp"

namespace viridian::execute::cpu {
namespace {

// Kept and dropped in any order, of sizes that share chunks and that do not: each is aligned, was zero when
// it came, and keeps what was written.
TEST(PackedConstants, KeepWhatWasWritten) {
    Random random(3);
    PackedConstants constants;
    struct Kept {
        Packed packed;
        std::byte value;
    };
    std::vector<Kept> kept;
    for (int i = 0; i < 400; ++i) {
        const std::size_t most = i % 40 == 0 ? 9U << 20U : i % 7 == 0 ? 1U << 20U : 5000U;
        const auto bytes = static_cast<std::size_t>(random.between(1, static_cast<std::int64_t>(most)));
        const auto value = static_cast<std::byte>(random.between(1, 255));
        const Packed packed = constants.find_or_make(std::to_string(i), bytes, [&](std::byte* to) {
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(to) % 64, 0U);
            EXPECT_TRUE(std::all_of(to, to + bytes, [](std::byte b) { return b == std::byte{0}; }));
            std::fill_n(to, bytes, value);
        });
        if (random.chance(0.5)) kept.push_back({packed, value});
        if (kept.size() > 20)
            kept.erase(kept.begin() + random.between(0, static_cast<std::int64_t>(kept.size()) - 1));
        for (const Kept& one : kept) {
            const std::byte* end = one.packed->data() + one.packed->size();
            ASSERT_EQ(one.packed->data()[0], one.value);
            ASSERT_EQ(end[-1], one.value);
        }
    }
    for (const Kept& one : kept)
        EXPECT_TRUE(std::all_of(one.packed->data(), one.packed->data() + one.packed->size(),
                                [&](std::byte b) { return b == one.value; }));
}

TEST(PackedConstants, EqualOnesAreMadeOnceWhileOneLives) {
    PackedConstants constants;
    int made = 0;
    const auto make = [&](std::byte* to) { to[0] = static_cast<std::byte>(++made); };
    Packed first = constants.find_or_make("a", 100, make);
    EXPECT_EQ(constants.find_or_make("a", 100, make), first);
    first.reset();
    const Packed again = constants.find_or_make("a", 100, make);
    EXPECT_EQ(made, 2);
    EXPECT_EQ(again->data()[0], std::byte{2});
}

TEST(PackedConstants, OnesLeftOutHaveTheirSizeAlone) {
    PackedConstants constants(PackedConstants::Contents::left_out);
    const Packed packed = constants.find_or_make("a", 100, [](std::byte*) { FAIL() << "written"; });
    EXPECT_EQ(packed->size(), 100U);
    EXPECT_EQ(packed->data()[99], std::byte{0});
    EXPECT_EQ(constants.find_or_make("b", 0, [](std::byte*) { FAIL() << "written"; })->size(), 0U);
}

}  // namespace
}  // namespace viridian::execute::cpu
