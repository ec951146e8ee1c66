#include "viridian/trace/join/sorter.hpp"

#include <gtest/gtest.h>

#include <unordered_map>

#include "viridian/base/random.hpp"
#include "viridian/trace/join/join_table.hpp"

namespace viridian::trace {
namespace {

struct Record {
    std::int32_t key;
    std::uint32_t order;
    bool operator==(const Record&) const = default;
};
struct ByKey {
    static std::int64_t key(const Record& record) { return record.key; }
    bool operator()(const Record& a, const Record& b) const { return a.key < b.key; }
};

std::vector<Record> sorted(const std::vector<Record>& records, std::size_t budget, std::size_t& runs) {
    Sorter<Record, ByKey> sorter({budget, "/var/tmp"});
    for (const Record& record : records) EXPECT_TRUE(sorter.add(record).ok());
    EXPECT_TRUE(sorter.finish().ok());
    std::vector<Record> result;
    for (auto next = sorter.next(); *next != nullptr; next = sorter.next()) result.push_back(**next);
    runs = sorter.runs();
    return result;
}

TEST(Sorter, RunsOnDiskGiveWhatMemoryGives) {
    Random random(3);
    for (int round = 0; round < 40; ++round) {
        std::vector<Record> records(random.below(3000));
        std::uint32_t order = 0;
        for (Record& record : records) record = {static_cast<std::int32_t>(random.between(-20, 20)), order++};
        std::size_t in_memory = 0, on_disk = 0;
        const auto expected = sorted(records, 1U << 20U, in_memory);
        EXPECT_EQ(in_memory, 0U);
        EXPECT_EQ(sorted(records, 64 + random.below(2000), on_disk), expected);
        EXPECT_TRUE(records.size() < 300 || on_disk > 1);
        std::ranges::stable_sort(records, ByKey{});
        EXPECT_EQ(expected, records);
    }
}

TEST(Sorter, AFolderThatCannotBeWrittenIsNamed) {
    Sorter<Record, ByKey> sorter({64, "/proc/no"});
    Result<void> result;
    for (std::uint32_t i = 0; i < 100 && result.ok(); ++i) result = sorter.add({0, i});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::file_not_writable);
    EXPECT_NE(result.error().text().find("--spill DIR"), std::string::npos);
}

TEST(JoinTable, AgreesWithAMapWhetherItSpillsOrNot) {
    Random random(5);
    for (const std::size_t budget : {std::size_t{1} << 24U, std::size_t{4096}}) {
        JoinTable<std::uint64_t> table({budget, "/var/tmp"});
        std::unordered_map<std::uint64_t, std::uint64_t> map;
        for (std::uint64_t i = 0; i < 6'000; ++i) {
            // counting up, strided by powers of two, and random
            const std::uint64_t key = i % 3 == 0 ? i : i % 3 == 1 ? i << 30U : random.below(5000);
            EXPECT_TRUE(table.add(key, i).ok());
            map[key] = i;
        }
        EXPECT_EQ(table.runs() > 0, budget == 4096);
        for (std::uint64_t i = 0; i < 6'000; ++i) {
            const std::uint64_t key = i % 2 == 0 ? i : i << 30U;
            const auto found = table.find(key).value();
            const auto known = map.find(key);
            ASSERT_EQ(found.has_value(), known != map.end());
            EXPECT_TRUE(!found || *found == known->second);
        }
    }
}

}  // namespace
}  // namespace viridian::trace
