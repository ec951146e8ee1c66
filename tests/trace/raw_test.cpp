#include "viridian/trace/join/raw.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "viridian/base/random.hpp"
#include "viridian/trace/join/sorter.hpp"

namespace viridian::trace {
namespace {

// Any bits, near ones more often.
std::uint64_t any(Random& random) { return random.next() >> random.below(64); }

Raw make(Random& random) {
    Raw raw;
    const auto signed_any = [&] {
        return static_cast<std::int64_t>(any(random) * (random.below(2) * 2 - 1));
    };
    raw.start = signed_any();
    raw.end = random.below(8) == 0 ? signed_any() : raw.start;
    raw.order = any(random);
    if (random.below(2) == 0) raw.correlation = any(random);
    if (random.below(2) == 0) raw.external = raw.correlation;
    if (random.below(3) == 0) raw.external = any(random);
    if (random.below(2) == 0) raw.sequence = signed_any();
    if (random.below(4) == 0) raw.value = random.uniform() - 0.5;
    raw.name = static_cast<NameId>(any(random));
    raw.type = random.below(2) == 0 ? raw.name : static_cast<NameId>(any(random));
    if (random.below(2) == 0) raw.path = static_cast<PathId>(any(random));
    if (random.below(2) == 0) raw.scope = static_cast<PathId>(any(random));
    raw.lane = static_cast<LaneId>(any(random));
    if (random.below(2) == 0) raw.forward_thread = static_cast<std::uint32_t>(any(random));
    raw.kind = static_cast<Kind>(random.below(kind_count));
    raw.pass = static_cast<Pass>(random.below(pass_count));
    raw.phase = static_cast<Raw::Phase>(random.below(5));
    raw.relative = random.below(2) == 0;
    raw.whole = random.below(2) == 0;
    raw.no_part = random.below(2) == 0;
    return raw;
}

TEST(Raw, PackedRecordsComeBack) {
    Random random(11);
    for (int round = 0; round < 300; ++round) {
        std::vector<Raw> records(random.below(40));
        for (Raw& raw : records) raw = make(random);
        if (!records.empty()) records.back().start = std::numeric_limits<Nanoseconds>::min();
        std::string packed;
        RawBefore::pack(records, packed);
        std::vector<Raw> back(records.size());
        ASSERT_TRUE(RawBefore::unpack(packed, back));
        EXPECT_EQ(back, records);
        if (packed.empty()) continue;
        EXPECT_FALSE(RawBefore::unpack(std::string_view(packed).substr(0, packed.size() - 1), back));
        EXPECT_FALSE(RawBefore::unpack(packed + "x", back));
    }
}

TEST(Raw, SortedRunsOnDiskGiveWhatMemoryGives) {
    Random random(12);
    std::vector<Raw> records(20'000);
    std::uint64_t order = 0;
    for (Raw& raw : records) raw = make(random), raw.order = ++order;
    std::vector<Raw> expected = records;
    std::ranges::sort(expected, RawBefore{});
    Sorter<Raw, RawBefore> sorter({std::size_t{1} << 19U, "/var/tmp"});
    for (const Raw& raw : records) ASSERT_TRUE(sorter.add(raw).ok());
    ASSERT_TRUE(sorter.finish().ok());
    EXPECT_GT(sorter.runs(), 5U);
    for (const Raw& raw : expected) {
        const auto next = sorter.next();
        ASSERT_TRUE(next.ok() && *next != nullptr);
        ASSERT_EQ(**next, raw);
    }
    EXPECT_EQ(*sorter.next(), nullptr);
}

}  // namespace
}  // namespace viridian::trace
