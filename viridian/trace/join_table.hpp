#pragma once
// A table from 64-bit keys to plain values for joins over a whole trace. The newest entries are in memory;
// older ones go to disk in runs sorted by key, found by binary search. A key that is added again hides the
// older entry.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "viridian/trace/sorter.hpp"

namespace viridian::trace {

template <class Value>
class JoinTable {
    static_assert(std::is_trivially_copyable_v<Value>);

  public:
    explicit JoinTable(SpillOptions options)
        : options_(std::move(options)),
          capacity_(std::max<std::size_t>(options_.budget / (4 * sizeof(Entry)), 4)),
          slots_(16) {}

    [[nodiscard]] Result<void> add(std::uint64_t key, const Value& value) {
        if (used_ >= capacity_) VIRIDIAN_TRY(spill());
        if (used_ * 2 >= slots_.size()) grow();
        Slot& slot = at(slots_, key);
        if (!slot.used) ++used_;
        slot = {{key, value}, true};
        return {};
    }

    [[nodiscard]] Result<std::optional<Value>> find(std::uint64_t key) {
        if (const Slot& slot = at(slots_, key); slot.used) return std::optional<Value>(slot.entry.value);
        for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
            VIRIDIAN_TRY(const std::optional<Value> found, run->find(key, *file_, block_));
            if (found) return found;
        }
        return std::optional<Value>();
    }
    [[nodiscard]] std::size_t runs() const { return runs_.size(); }

  private:
    static constexpr std::size_t stride = 128;  // entries per block on disk
    struct Entry {
        std::uint64_t key;
        Value value;
    };
    struct Slot {
        Entry entry;
        bool used = false;
    };
    struct Run {
        std::uint64_t offset = 0;
        std::size_t count = 0;
        std::vector<std::uint64_t> first;  // key of each block

        Result<std::optional<Value>> find(std::uint64_t key, const SpillFile& file,
                                          std::vector<Entry>& block) const {
            const auto after = std::ranges::upper_bound(first, key);
            if (after == first.begin()) return std::optional<Value>();
            const auto index = static_cast<std::size_t>(after - first.begin()) - 1;
            block.resize(std::min(stride, count - index * stride));
            VIRIDIAN_TRY(file.read(offset + index * stride * sizeof(Entry),
                                   {reinterpret_cast<char*>(block.data()), block.size() * sizeof(Entry)}));
            const auto found = std::ranges::lower_bound(block, key, {}, &Entry::key);
            if (found == block.end() || found->key != key) return std::optional<Value>();
            return std::optional<Value>(found->value);
        }
    };
    static Slot& at(std::vector<Slot>& slots, std::uint64_t key) {
        std::size_t index = (key * 0x9e3779b97f4a7c15U) >> 20U;
        while (slots[index & (slots.size() - 1)].used && slots[index & (slots.size() - 1)].entry.key != key)
            ++index;
        return slots[index & (slots.size() - 1)];
    }
    void grow() {
        std::vector<Slot> larger(slots_.size() * 2);
        for (const Slot& slot : slots_)
            if (slot.used) at(larger, slot.entry.key) = slot;
        slots_ = std::move(larger);
    }
    Result<void> spill() {
        if (!file_) {
            VIRIDIAN_TRY(SpillFile file, SpillFile::create(options_.folder));
            file_.emplace(std::move(file));
        }
        std::vector<Entry> entries;
        entries.reserve(used_);
        for (const Slot& slot : slots_)
            if (slot.used) entries.push_back(slot.entry);
        std::ranges::sort(entries, {}, &Entry::key);
        Run run{file_->size(), entries.size(), {}};
        for (std::size_t i = 0; i < entries.size(); i += stride) run.first.push_back(entries[i].key);
        VIRIDIAN_TRY(
            file_->append({reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(Entry)}));
        runs_.push_back(std::move(run));
        std::fill(slots_.begin(), slots_.end(), Slot{});
        used_ = 0;
        return {};
    }

    SpillOptions options_;
    std::size_t capacity_;
    std::vector<Slot> slots_;
    std::size_t used_ = 0;
    std::optional<SpillFile> file_;
    std::vector<Run> runs_;
    std::vector<Entry> block_;
};

}  // namespace viridian::trace
